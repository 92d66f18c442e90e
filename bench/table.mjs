// The rows of a benchmark as the table that docs/benchmarks.md shows, and where it stands there.
import { cpus } from 'node:os'

const COLUMNS = { ours: 'ours', bare: 'bare', limit: 'limit' }

/** The table of a benchmark, under the day and the machine that it is of. */
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
  // Where a limit is passed by little, two digits would show the limit itself.
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

/** A row without a ratio is over nothing. */
function verdict(ratio) {
  return ratio === undefined ? 'FAILED' : 'OVER'
}

function line(cells) {
  // What failed may say anything, and a cell is one line.
  return `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|').replaceAll(/\s+/g, ' ')).join(' | ')} |`
}

function amount(value, unit) {
  if (value === undefined) return undefined
  if (unit === 'tokens') return `${value.toLocaleString('en')} tokens`
  return `${value.toFixed(value >= 10 ? 0 : 2)} ${unit}`
}

/** The page with the table of one benchmark in the place of the one that it had. */
export function withSection(page, name, section) {
  const [begin, end] = marks(name)
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from === -1 || to < from)
    throw new Error(`docs/benchmarks.md has no place for ${name}: ${begin.trim()} … ${end.trim()}`)
  return `${page.slice(0, from)}${begin}${section}${page.slice(to)}`
}

/** What the page shows of one benchmark. */
export function sectionIn(page, name) {
  const [begin, end] = marks(name)
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  return from === -1 || to < from ? undefined : page.slice(from + begin.length, to)
}

function marks(name) {
  return [`<!-- bench ${name} -->\n`, `\n<!-- end of bench ${name} -->`]
}
