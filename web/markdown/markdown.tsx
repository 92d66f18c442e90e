// Markdown of others as nodes of ours. No text is ever handed to the browser as markup: a tag in it is shown as it was written.
import { type ComponentChildren, Fragment, h } from 'preact'
import { useMemo } from 'preact/hooks'
import { Clip } from '../components/clip.tsx'
import { pluralize } from '../components/format.ts'
import { type MarkdownBlock, type MarkdownSpan, readBlocks, readSpans } from './read-markdown.ts'
import { useUnfolded } from '../components/unfolded.tsx'
import { revealInvisible } from '../components/text.tsx'

const AT_ONCE = 250
const LONGEST = 100_000

/** `name` is under which it is remembered how much of it was unfolded. Headings begin below `under`. */
export function Markdown({
  name,
  text,
  under = 1,
}: {
  name: string
  text: string
  under?: number
}) {
  return (
    <Clip name={`text ${name}`} text={text} limit={LONGEST} lines={Infinity}>
      {(piece) => <Blocks name={name} text={piece} under={under} />}
    </Clip>
  )
}

function Blocks({ name, text, under }: { name: string; text: string; under: number }) {
  const blocks = useMemo(() => readBlocks(text), [text])
  const [turns, setTurns] = useUnfolded(`blocks ${name}`)
  const count = Math.min(blocks.length, AT_ONCE * (turns + 1))
  // The same nodes as before are passed over, and a list that scrolls renders its rows over and over.
  const nodes = useMemo(
    () => blocksOf(blocks.slice(0, count), name, under),
    [blocks, count, name, under],
  )
  return (
    <div class="markdown" dir="auto">
      {nodes}
      {count === blocks.length ? null : (
        <button class="link-button" type="button" onClick={() => setTurns(turns + 1)}>
          Show more ({pluralize(blocks.length - count, 'paragraph')} left)
        </button>
      )}
    </div>
  )
}

function blocksOf(
  blocks: readonly MarkdownBlock[],
  name: string,
  under: number,
): ComponentChildren {
  return blocks.map((block, index) => (
    <Fragment key={index}>{blockOf(block, `${name} ${index}`, under)}</Fragment>
  ))
}

function blockOf(block: MarkdownBlock, name: string, under: number): ComponentChildren {
  switch (block.type) {
    case 'heading':
      return h(
        `h${Math.min(6, block.level + under)}`,
        { 'data-level': block.level },
        spansOf(block.text),
      )
    case 'paragraph':
      return (
        <Clip name={name} text={block.text} limit={8000} lines={400}>
          {(text) => <p>{spansOf(text)}</p>}
        </Clip>
      )
    case 'code':
      return (
        <Clip name={name} text={block.text} limit={8000} lines={80}>
          {(text) => (
            <pre
              tabIndex={0}
              class="code"
              aria-label={block.language === '' ? 'Code' : `Code, ${block.language.slice(0, 40)}`}
            >
              <code>{revealInvisible(text)}</code>
            </pre>
          )}
        </Clip>
      )
    case 'list': {
      const items = block.items.map(({ isDone, blocks }, index) => (
        <li key={index} data-box={isDone === undefined ? undefined : isDone ? 'done' : 'open'}>
          {isDone === undefined ? null : (
            <span class="box" role="img" aria-label={isDone ? 'done' : 'open'} />
          )}
          {tightOf(blocks, `${name} ${index}`, under)}
        </li>
      ))
      return block.isOrdered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>
    }
    case 'quote':
      return <blockquote>{blocksOf(block.blocks, name, under)}</blockquote>
    case 'table':
      return (
        <div class="table-frame" tabIndex={0} role="group" aria-label="Table">
          <table>
            <thead>
              <tr>
                {block.head.map((cell, index) => (
                  <th key={index} scope="col">
                    {spansOf(cell)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, index) => (
                <tr key={index}>
                  {row.map((cell, column) => (
                    <td key={column}>{spansOf(cell)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )
    case 'rule':
      return <hr />
  }
}

/** A single paragraph of an item needs no paragraph around it. */
function tightOf(blocks: readonly MarkdownBlock[], name: string, under: number): ComponentChildren {
  const [first, ...rest] = blocks
  if (first?.type !== 'paragraph' || first.text.length > 2000)
    return <div>{blocksOf(blocks, name, under)}</div>
  return (
    <div>
      {spansOf(first.text)}
      {blocksOf(rest, name, under)}
    </div>
  )
}

function spansOf(text: string): ComponentChildren {
  return renderSpans(readSpans(text))
}

function renderSpans(spans: readonly MarkdownSpan[]): ComponentChildren {
  return spans.map((span, index) => {
    switch (span.type) {
      case 'text':
        return <Fragment key={index}>{revealInvisible(span.text)}</Fragment>
      case 'code':
        return <code key={index}>{revealInvisible(span.text)}</code>
      case 'strong':
        return <strong key={index}>{renderSpans(span.spans)}</strong>
      case 'emphasis':
        return <em key={index}>{renderSpans(span.spans)}</em>
      case 'struck':
        return <s key={index}>{renderSpans(span.spans)}</s>
      case 'link':
        return (
          <a key={index} href={span.to} target="_blank" rel="noreferrer noopener" title={span.to}>
            {renderSpans(span.spans)}
          </a>
        )
    }
  })
}
