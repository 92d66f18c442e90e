import { useState } from 'preact/hooks'
import { type DiffFile, type DiffLine, readDiff } from './diff.ts'
import { pluralize } from './format.ts'
import { Text, revealInvisible } from './text.tsx'

/** Longer files start folded and show this many lines at a time, because a browser lays out every line. */
const PAGE_LINES = 400

const SIGNS: Readonly<Record<DiffLine['kind'], string>> = {
  added: '+',
  removed: '-',
  same: ' ',
  hunk: '',
  note: '',
}

/** Added and removed lines are marked by sign and by colour. */
export function DiffView({ diff, isCut }: { diff: string; isCut: boolean }) {
  const files = readDiff(diff)
  if (files.length === 0) return <p class="muted">It changes nothing against its target.</p>
  const added = files.reduce((sum, file) => sum + file.added, 0)
  const removed = files.reduce((sum, file) => sum + file.removed, 0)
  return (
    <div class="diff">
      <p class="muted small">
        {pluralize(files.length, 'file')}, <span class="diff-added">+{added}</span>{' '}
        <span class="diff-removed">−{removed}</span>
      </p>
      {files.map((file) => (
        <FileDiff key={file.path} file={file} />
      ))}
      {isCut ? (
        <p class="remark">It is longer than this. The whole of it is on its branch.</p>
      ) : null}
    </div>
  )
}

function FileDiff({ file }: { file: DiffFile }) {
  const [limit, setLimit] = useState(PAGE_LINES)
  const shown = file.lines.slice(0, limit)
  const left = file.lines.length - shown.length
  return (
    <details class="diff-file" open={file.lines.length <= PAGE_LINES}>
      <summary>
        <span class="mono diff-path">
          {file.previousPath === undefined ? null : (
            <>
              <Text>{file.previousPath}</Text> →{' '}
            </>
          )}
          <Text>{file.path}</Text>
        </span>
        {file.change === 'changed' ? null : <span class="muted small">{file.change}</span>}
        <span class="diff-counts">
          <span class="diff-added">+{file.added}</span>{' '}
          <span class="diff-removed">−{file.removed}</span>
        </span>
      </summary>
      {file.isBinary ? <p class="muted small diff-note">Not a text.</p> : null}
      {shown.length === 0 ? null : (
        <div
          class="diff-lines"
          tabIndex={0}
          role="region"
          aria-label={`What changes in ${file.path}`}
        >
          <table>
            <tbody>
              {shown.map((line, index) => (
                <tr key={index} data-kind={line.kind}>
                  <td class="diff-number" data-line={line.old} aria-hidden="true" />
                  <td class="diff-number" data-line={line.new} aria-hidden="true" />
                  <td class="diff-text">
                    <span class="diff-sign">{SIGNS[line.kind]}</span>
                    {revealInvisible(line.text)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {left === 0 ? null : (
        <button class="quiet-button" type="button" onClick={() => setLimit(limit + PAGE_LINES)}>
          {pluralize(Math.min(left, PAGE_LINES), 'more line')}
        </button>
      )}
    </details>
  )
}
