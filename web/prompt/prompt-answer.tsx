import { useEffect, useRef } from 'preact/hooks'
import type { PromptEnd } from '../../src/serve/contract.ts'
import { useAction } from '../data/action.ts'
import { api } from '../data/api.ts'
import { Badge, Cost, type Tone } from '../components/values.tsx'
import { formatDuration, formatTokens } from '../components/format.ts'
import { Markdown } from '../markdown/markdown.tsx'
import { ProblemLine } from '../components/problem-line.tsx'
import { Text, WithCode, revealInvisible } from '../components/text.tsx'
import { hrefTo } from '../data/router.ts'
import { useFollowedPrompt } from './follow-prompt.ts'
import type { SavedPrompt } from './saved-prompt.ts'
import { type AnswerBlock, type PromptState, openPermissions } from './prompt-state.ts'

/** Close enough to the end to stay scrolled there. */
const END_DISTANCE = 60

export function PromptAnswer({
  saved,
  isRunning,
}: {
  saved: SavedPrompt
  isRunning: (is: boolean) => void
}) {
  const { state, failure } = useFollowedPrompt(saved.prompt)
  const isUnknown = failure?.status === 404
  const isOver = state.ended !== undefined || isUnknown
  useEffect(() => isRunning(!isOver), [isOver])
  const log = useScrolledToEnd(state)
  return (
    <div class="answer">
      <div class="answer-log" ref={log} role="log" aria-label="The answer" tabIndex={0}>
        <p class="asked plain-lines">
          <Text>{saved.text}</Text>
        </p>
        {state.blocks.map((block, index) => (
          <AnswerBlockView
            key={index}
            block={block}
            number={index}
            prompt={saved.prompt}
            isOver={isOver}
          />
        ))}
        {isOver || openPermissions(state).length > 0 ? null : (
          <p class="thinking">{state.last === 0 ? 'Starting' : 'Working'}</p>
        )}
        {isUnknown ? <UnknownPrompt session={saved.session} /> : null}
        {state.ended === undefined ? null : <EndLine ending={state.ended} />}
      </div>
      {isUnknown ? null : <ProblemLine failure={failure} />}
      <AnswerFoot state={state} saved={saved} isOver={isOver} />
    </div>
  )
}

function useScrolledToEnd(state: PromptState) {
  const log = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    const element = log.current
    if (element === null) return undefined
    const updateAtEnd = (): void => {
      isAtEnd.current =
        element.scrollHeight - element.scrollTop - element.clientHeight < END_DISTANCE
    }
    element.addEventListener('scroll', updateAtEnd, { passive: true })
    return () => element.removeEventListener('scroll', updateAtEnd)
  }, [])
  useEffect(() => {
    if (isAtEnd.current && log.current !== null) log.current.scrollTop = log.current.scrollHeight
  }, [state])
  return log
}

interface AnswerBlockProps {
  readonly block: AnswerBlock
  readonly number: number
  readonly prompt: string
  readonly isOver: boolean
}

function AnswerBlockView({ block, number, prompt, isOver }: AnswerBlockProps) {
  switch (block.type) {
    case 'text':
      // An incomplete text is not parsed as Markdown: it would be laid out again with every delta.
      return block.isComplete || isOver ? (
        <div class="said">
          <Markdown name={`${prompt} ${number}`} text={block.text} under={2} />
        </div>
      ) : (
        <p class="said plain-lines" data-growing>
          <Text>{block.text}</Text>
        </p>
      )
    case 'tool':
      return <Tool block={block} isOver={isOver} />
    case 'permission':
      return <Permission block={block} prompt={prompt} isOver={isOver} />
    case 'note':
      return (
        <p class="answer-note small" data-kind={block.kind}>
          <WithCode text={block.text} />
        </p>
      )
  }
}

const TOOL_WORDS = { started: 'running', completed: 'done', failed: 'failed' } as const
const TOOL_TONES: Readonly<Record<keyof typeof TOOL_WORDS, Tone>> = {
  started: 'accent',
  completed: 'good',
  failed: 'bad',
}

function Tool({
  block,
  isOver,
}: {
  block: Extract<AnswerBlock, { type: 'tool' }>
  isOver: boolean
}) {
  const { name, status, command, path, output } = block
  const isCutShort = isOver && status === 'started'
  return (
    <details class="tool">
      <summary>
        <span class="tool-name">
          <Text>{name}</Text>
        </span>
        <span class="tool-what mono">
          <Text>{command ?? path ?? ''}</Text>
        </span>
        <Badge tone={isCutShort ? 'warn' : TOOL_TONES[status]}>
          {isCutShort ? 'cut short' : TOOL_WORDS[status]}
        </Badge>
      </summary>
      <pre class="tool-output">
        {command === undefined ? null : (
          <span class="muted">
            $ {revealInvisible(command)}
            {'\n'}
          </span>
        )}
        {output === undefined || output === '' ? (
          <span class="muted">It printed nothing that was told.</span>
        ) : (
          revealInvisible(output)
        )}
      </pre>
    </details>
  )
}

function Permission({
  block,
  prompt,
  isOver,
}: {
  block: Extract<AnswerBlock, { type: 'permission' }>
  prompt: string
  isOver: boolean
}) {
  const { permission, isAllowed, request } = block
  const { isBusy, failure, run } = useAction()
  const answerPermission = (is: boolean): void =>
    void run(() => api.answerPermission(prompt, request, is))
  const isOpen = isAllowed === undefined && !isOver
  return (
    <div class="permission" data-open={isOpen} role={isOpen ? 'alert' : undefined}>
      <p>
        <strong>
          <Text>{permission.tool}</Text>
        </strong>{' '}
        {permission.title === permission.command ? null : <Text>{permission.title}</Text>}
      </p>
      {permission.command === undefined ? null : (
        <pre class="permission-command">{revealInvisible(permission.command)}</pre>
      )}
      {permission.path === undefined ? null : (
        <p class="small">
          <code>
            <Text>{permission.path}</Text>
          </code>
        </p>
      )}
      {permission.cwd === undefined ? null : (
        <p class="small muted">
          in <Text>{permission.cwd}</Text>
        </p>
      )}
      {isOpen ? (
        <div class="actions">
          <button
            class="button button-small"
            type="button"
            data-tone="accent"
            disabled={isBusy}
            onClick={() => answerPermission(true)}
          >
            Allow
          </button>
          <button
            class="button button-small"
            type="button"
            disabled={isBusy}
            onClick={() => answerPermission(false)}
          >
            Refuse
          </button>
        </div>
      ) : (
        <Badge tone={isAllowed === true ? 'good' : isAllowed === false ? 'bad' : 'warn'}>
          {isAllowed === true ? 'allowed' : isAllowed === false ? 'refused' : 'nobody answered'}
        </Badge>
      )}
      <ProblemLine failure={failure} />
    </div>
  )
}

function UnknownPrompt({ session }: { session: string }) {
  return (
    <p class="remark" data-tone="warn">
      The server no longer knows this prompt: it was started again meanwhile. What was said is in{' '}
      <a href={hrefTo.session(session)}>the session</a>.
    </p>
  )
}

const ENDINGS: Readonly<Record<PromptEnd['how'], { readonly word: string; readonly tone: Tone }>> =
  {
    completed: { word: 'completed', tone: 'good' },
    interrupted: { word: 'interrupted', tone: 'warn' },
    failed: { word: 'failed', tone: 'bad' },
    died: { word: 'died', tone: 'bad' },
  }

function EndLine({ ending }: { ending: PromptEnd }) {
  const { word, tone } = ENDINGS[ending.how]
  return (
    <p class="answer-end small">
      <Badge tone={tone}>{word}</Badge>{' '}
      <span class="muted">after {formatDuration(ending.seconds)}</span>
      {ending.failure === undefined ? null : (
        <span>
          {' '}
          <Text>{ending.failure}</Text>
        </span>
      )}
    </p>
  )
}

function AnswerFoot({
  state,
  saved,
  isOver,
}: {
  state: PromptState
  saved: SavedPrompt
  isOver: boolean
}) {
  const { isBusy, failure, run } = useAction()
  const { gauge, spend } = state
  return (
    <div class="answer-foot small">
      <span class="muted">
        {state.harness === undefined ? null : (
          <Text>
            {[state.harness, ...(state.model === undefined ? [] : [state.model])].join(', ')}
          </Text>
        )}
      </span>
      {gauge === undefined ? null : (
        <span class="gauge" title="Tokens in the context, on the way to its compaction">
          <span class="gauge-bar" aria-hidden="true">
            <span
              style={{
                width: `${Math.min(100, gauge.percent ?? (gauge.context / (gauge.window ?? gauge.context)) * 100)}%`,
              }}
            />
          </span>
          <span class="number">
            {formatTokens(gauge.context)}
            {gauge.point === undefined ? '' : ` of ${formatTokens(gauge.point)}`}
          </span>
        </span>
      )}
      {spend === undefined ? null : <Cost of={spend} />}
      <a href={hrefTo.session(state.session ?? saved.session)}>
        <Text>{state.name ?? 'session'}</Text>
      </a>
      {isOver ? null : (
        <button
          class="button button-small"
          type="button"
          data-tone="bad"
          disabled={isBusy}
          onClick={() => void run(() => api.interruptPrompt(saved.prompt))}
        >
          Interrupt
        </button>
      )}
      <ProblemLine failure={failure} />
    </div>
  )
}
