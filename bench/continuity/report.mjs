// The results as Markdown. Pure.
import { EVENTS } from './events.mjs'

/** A row per adapter, set and source: the facts after each event, then what they cost. */
export function reportOf(results, { version, day }) {
  const events = Object.keys(EVENTS).filter((event) => results.some(({ after }) => after[event]))
  const titles = events.map((event) => EVENTS[event].title)
  return [
    `${day}, Claude Code ${version}, Node ${process.version}, ${process.platform} ${process.arch}`,
    '',
    'Facts in the injected text, of 30: net (present − stale)',
    '',
    ...table(
      ['tool', 'set', 'source', ...titles],
      results.map((row) => [
        ...namesOf(row),
        ...events.map((event) => factsCell(row.after[event])),
      ]),
    ),
    '',
    'Injected tokens',
    '',
    ...table(
      ['tool', 'set', 'source', ...titles],
      results.map((row) => [
        ...namesOf(row),
        ...events.map((event) => tokensCell(row.after[event])),
      ]),
    ),
    '',
    'Per turn of the work',
    '',
    ...table(
      [
        'tool',
        'set',
        'source',
        'hook time / `node -e 0`',
        'background hooks',
        'programs added',
        'model calls added',
        'processes left',
      ],
      results.flatMap((row) =>
        row.cost === undefined ? [] : [[...namesOf(row), ...costCells(row.cost)]],
      ),
    ),
  ].join('\n')
}

function namesOf({ adapter, set, source }) {
  return [adapter, set, source]
}

function factsCell(after) {
  if (after === undefined) return ''
  return after.isMissing ? 'n/a' : `${after.net} (${after.present} − ${after.stale})`
}

function tokensCell(after) {
  if (after === undefined) return ''
  return after.isMissing ? 'n/a' : after.tokens.toLocaleString('en')
}

function costCells({ hookMs, idleHookMs, programs, calls, left }) {
  const ratios = ['blocking', 'background'].map((kind) => ratio(hookMs[kind], idleHookMs[kind]))
  return [...ratios, programs ?? 'n/a', rounded(calls), left]
}

function ratio(ours, idle) {
  return idle === 0 ? 'none' : (ours / idle).toFixed(2)
}

function rounded(number) {
  return Number(number.toFixed(2))
}

function table(head, rows) {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
}
