// Renders the rows of a benchmark as the table in docs/benchmarks.md and replaces it there.
import { cpus } from 'node:os'

const COLUMNS = { ours: 'ours', bare: 'bare', limit: 'limit' }

/** The table of a benchmark, below its date and machine. */
export function sectionOf({ rows, columns = {} }, { scale = 1, at = new Date() } = {}) {
  const { ours, bare, limit } = { ...COLUMNS, ...columns }
  const size = scale === 1 ? '' : `, at ${scale} of the full size`
  const day = at.toISOString().slice(0, 10)
  const machine = `Node ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} cores`
  return [
    `${day}, ${machine}${size}`,
    '',
    line(['what', ours, bare, 'ratio', limit, '']),
    '|---|---|---|---|---|---|',
    ...rows.map(rowLine),
  ].join('\n')
}

function rowLine({
  name,
  ours,
  bare,
  unit = 'ms',
  ratio,
  limit = '',
  note = '',
  ok,
  instead = 'ok',
}) {
  // If a limit is exceeded by little, two digits would show the limit itself.
  const shown = ratio?.toFixed(ok ? 2 : 3) ?? ''
  return line([
    name,
    amount(ours, unit) ?? note,
    amount(bare, unit) ?? '',
    shown,
    limit,
    ok ? instead : verdict(ratio),
  ])
}

/** A row without a ratio exceeds no limit. */
function verdict(ratio) {
  return ratio === undefined ? 'FAILED' : 'OVER'
}

function line(cells) {
  // An error message may have several lines; a cell has one.
  return `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')).join(' | ')} |`
}

function amount(value, unit) {
  if (value === undefined) return undefined
  if (unit === 'tokens') return `${value.toLocaleString('en')} tokens`
  return `${value.toFixed(value >= 10 ? 0 : 2)} ${unit}`
}

/** Replaces the table of one benchmark in the page. */
export function withSection(page, name, section) {
  const [begin, end] = marks(name)
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from === -1 || to < from)
    throw new Error(`docs/benchmarks.md has no place for ${name}: ${begin.trim()} … ${end.trim()}`)
  return `${page.slice(0, from)}${begin}${section}${page.slice(to)}`
}

/** The current table of one benchmark in the page. */
export function sectionIn(page, name) {
  const [begin, end] = marks(name)
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  return from === -1 || to < from ? undefined : page.slice(from + begin.length, to)
}

function marks(name) {
  return [`<!-- bench ${name} -->\n`, `\n<!-- end of bench ${name} -->`]
}
