import type { Json, MessagePart } from '../../../src/serve/contract.ts'
import { Clip } from '../../components/clip.tsx'
import { pluralize } from '../../components/format.ts'
import { Markdown } from '../../markdown/markdown.tsx'
import { Text, revealInvisible } from '../../components/text.tsx'
import type { ComponentChildren } from 'preact'
import { useUnfolded } from '../../components/unfolded.tsx'

/** Text is open; tools and thinking are folded. */
export function PartView({
  part,
  name,
  isUnfolded,
}: {
  part: MessagePart
  name: string
  isUnfolded: boolean
}) {
  switch (part.type) {
    case 'text':
      return <Markdown name={name} text={part.text} under={2} />
    case 'thinking':
      return (
        <FoldableRow
          name={name}
          title="Thinking"
          summary={part.text === '' ? 'encrypted by its provider' : oneLine(part.text)}
          isUnfolded={isUnfolded && part.text !== ''}
        >
          {() => <Markdown name={name} text={part.text} under={2} />}
        </FoldableRow>
      )
    case 'image':
      return <Picture mediaType={part.mediaType} data={part.data} />
    case 'image link':
      return (
        <p class="muted">
          Picture at{' '}
          <code>
            <Text>{part.url.slice(0, 500)}</Text>
          </code>
          , not loaded
        </p>
      )
    case 'tool use':
      return (
        <FoldableRow
          name={name}
          title={part.name}
          summary={summaryOf(part.input)}
          isUnfolded={isUnfolded}
        >
          {() => <Fields name={name} value={part.input} />}
        </FoldableRow>
      )
    case 'tool result':
      return <Result part={part} name={name} isUnfolded={isUnfolded} />
    case 'other':
      return (
        <FoldableRow
          name={name}
          title="Something else"
          summary={oneLine(JSON.stringify(part.block))}
          isUnfolded={false}
        >
          {() => <Plain name={name} text={JSON.stringify(part.block, undefined, 2)} />}
        </FoldableRow>
      )
  }
}

function Result({
  part,
  name,
  isUnfolded,
}: {
  part: Extract<MessagePart, { type: 'tool result' }>
  name: string
  isUnfolded: boolean
}) {
  const text = part.parts.flatMap((inner) => (inner.type === 'text' ? [inner.text] : [])).join('\n')
  const lines = text === '' ? 0 : text.trimEnd().split('\n').length
  const others = part.parts.filter(({ type }) => type !== 'text')
  return (
    <FoldableRow
      name={name}
      title={part.isError ? 'Failed' : 'Result'}
      summary={
        text === '' && others.length > 0
          ? others.map(({ type }) => type).join(', ')
          : oneLine(part.isError ? lastLine(text) : text)
      }
      isBad={part.isError}
      isUnfolded={isUnfolded}
      {...(lines > 1 ? { facts: pluralize(lines, 'line') } : {})}
    >
      {() => (
        <>
          {text === '' ? null : <Plain name={name} text={text} />}
          {others.map((inner, index) => (
            <PartView key={index} part={inner} name={`${name} ${index}`} isUnfolded={isUnfolded} />
          ))}
          {part.parts.length === 0 ? <p class="muted">It printed nothing.</p> : null}
        </>
      )}
    </FoldableRow>
  )
}

/** An error message usually states the cause at its end. */
function lastLine(text: string): string {
  const end = text.trimEnd()
  return end.slice(end.lastIndexOf('\n') + 1)
}

function Fields({ name, value }: { name: string; value: Json }) {
  const fields = fieldsOf(value)
  if (fields.length === 1) return <Plain name={name} text={fields[0]![1]} />
  return (
    <dl class="fields">
      {fields.map(([field, text]) => (
        <div key={field}>
          <dt class="mono">
            <Text>{field.slice(0, 100)}</Text>
          </dt>
          <dd>
            <Plain name={`${name} ${field}`} text={text} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Plain({ name, text }: { name: string; text: string }) {
  return (
    <Clip name={name} text={text} limit={6000} lines={60}>
      {(shown) => (
        <pre class="plain" tabIndex={0} aria-label="Text">
          {revealInvisible(shown)}
        </pre>
      )}
    </Clip>
  )
}

const PICTURES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
])

/** Only image types that cannot hold scripts or links are shown. */
function Picture({ mediaType, data }: { mediaType: string; data: string }) {
  if (!PICTURES.has(mediaType) || !/^[A-Za-z0-9+/=\s]*$/.test(data))
    return (
      <p class="muted">
        A picture that cannot be shown (<Text>{mediaType.slice(0, 60)}</Text>)
      </p>
    )
  return (
    <img
      class="picture"
      src={`data:${mediaType};base64,${data}`}
      alt="Picture in the conversation"
      loading="lazy"
    />
  )
}

interface FoldProps {
  name: string
  title: string
  summary?: string
  facts?: string
  isBad?: boolean
  isUnfolded: boolean
  children: () => ComponentChildren
}

/** One line that unfolds. Its content is rendered only then. */
export function FoldableRow({
  name,
  title,
  summary = '',
  facts,
  isBad = false,
  isUnfolded,
  children,
}: FoldProps) {
  // Folding or unfolding all resets what was opened before.
  const [open, setOpen] = useUnfolded(`fold ${isUnfolded} ${name}`, isUnfolded ? 1 : 0)
  return (
    <div class="fold" data-bad={isBad}>
      <button
        class="fold-line"
        type="button"
        aria-expanded={open === 1}
        onClick={() => setOpen(open === 1 ? 0 : 1)}
      >
        <span class="fold-title">
          <Text>{title}</Text>
        </span>
        <span class="fold-summary">
          <Text>{summary}</Text>
        </span>
        {facts === undefined ? null : <span class="fold-facts number">{facts}</span>}
      </button>
      {open === 1 ? <div class="fold-body">{children()}</div> : null}
    </div>
  )
}

// The fields that best identify a tool call, in order of preference.
const IDENTIFYING_FIELDS = [
  'command',
  'cmd',
  'file_path',
  'filePath',
  'path',
  'pattern',
  'query',
  'url',
  'description',
  'prompt',
  'text',
  'name',
] as const
const MAX_SUMMARY = 240

function summaryOf(input: unknown): string {
  if (typeof input === 'string') return oneLine(input)
  if (typeof input !== 'object' || input === null) return input === null ? '' : String(input)
  if (Array.isArray(input)) return oneLine(JSON.stringify(input))
  const fields = input as Readonly<Record<string, unknown>>
  for (const name of IDENTIFYING_FIELDS) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (typeof value === 'string' && value !== '') return oneLine(value)
    if (Array.isArray(value) && value.length > 0) return oneLine(value.map(String).join(' '))
  }
  const entries = Object.entries(fields)
  return entries.length === 0 ? '' : oneLine(JSON.stringify(input))
}

export function fieldsOf(input: unknown): readonly (readonly [string, string])[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return [['input', asText(input)]]
  return Object.entries(input).map(([name, value]) => [name, asText(value)] as const)
}

function oneLine(text: string): string {
  return text
    .slice(0, MAX_SUMMARY * 4)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_SUMMARY)
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? '')
}
