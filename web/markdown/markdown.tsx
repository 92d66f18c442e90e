// Untrusted Markdown as Preact nodes. No text is ever passed to the browser as markup: a tag in it is shown as written.
import { type ComponentChildren, Fragment, h } from 'preact'
import { useMemo } from 'preact/hooks'
import { Clip } from '../components/clip.tsx'
import { pluralize } from '../components/format.ts'
import { type MarkdownBlock, type MarkdownSpan, readBlocks, readSpans } from './read-markdown.ts'
import { useUnfolded } from '../components/unfolded.tsx'
import { revealInvisible } from '../components/text.tsx'

const BLOCKS_PER_PAGE = 250
const MAX_LENGTH = 100_000

/** `name` identifies how much of it was unfolded. Heading levels start below `under`. */
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
    <Clip name={`text ${name}`} text={text} limit={MAX_LENGTH} lines={Infinity}>
      {(shown) => <Blocks name={name} text={shown} under={under} />}
    </Clip>
  )
}

function Blocks({ name, text, under }: { name: string; text: string; under: number }) {
  const blocks = useMemo(() => readBlocks(text), [text])
  const [pages, setPages] = useUnfolded(`blocks ${name}`)
  const count = Math.min(blocks.length, BLOCKS_PER_PAGE * (pages + 1))
  // Memoised nodes are skipped by Preact, and a scrolling list renders its rows again and again.
  const nodes = useMemo(
    () => renderBlocks(blocks.slice(0, count), name, under),
    [blocks, count, name, under],
  )
  return (
    <div class="markdown" dir="auto">
      {nodes}
      {count === blocks.length ? null : (
        <button class="link-button" type="button" onClick={() => setPages(pages + 1)}>
          Show more ({pluralize(blocks.length - count, 'paragraph')} left)
        </button>
      )}
    </div>
  )
}

function renderBlocks(
  blocks: readonly MarkdownBlock[],
  name: string,
  under: number,
): ComponentChildren {
  return blocks.map((block, index) => (
    <Fragment key={index}>{renderBlock(block, `${name} ${index}`, under)}</Fragment>
  ))
}

function renderBlock(block: MarkdownBlock, name: string, under: number): ComponentChildren {
  switch (block.type) {
    case 'heading':
      return h(
        `h${Math.min(6, block.level + under)}`,
        { 'data-level': block.level },
        renderText(block.text),
      )
    case 'paragraph':
      return (
        <Clip name={name} text={block.text} limit={8000} lines={400}>
          {(text) => <p>{renderText(text)}</p>}
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
          {renderItem(blocks, `${name} ${index}`, under)}
        </li>
      ))
      return block.isOrdered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>
    }
    case 'quote':
      return <blockquote>{renderBlocks(block.blocks, name, under)}</blockquote>
    case 'table':
      return (
        <div class="table-frame" tabIndex={0} role="group" aria-label="Table">
          <table>
            <thead>
              <tr>
                {block.head.map((cell, index) => (
                  <th key={index} scope="col">
                    {renderText(cell)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, index) => (
                <tr key={index}>
                  {row.map((cell, column) => (
                    <td key={column}>{renderText(cell)}</td>
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

/** The first paragraph of an item is rendered without <p>. */
function renderItem(
  blocks: readonly MarkdownBlock[],
  name: string,
  under: number,
): ComponentChildren {
  const [first, ...rest] = blocks
  if (first?.type !== 'paragraph' || first.text.length > 2000)
    return <div>{renderBlocks(blocks, name, under)}</div>
  return (
    <div>
      {renderText(first.text)}
      {renderBlocks(rest, name, under)}
    </div>
  )
}

function renderText(text: string): ComponentChildren {
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
