// Charts as inline SVG, as wide as a phone so that nothing in them shrinks there. What they show is also in a table beside them.
import { withoutControls } from '../../text/clean.ts'

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text that becomes no markup, between tags and in attributes. */
export function escapeHtml(text: string): string {
  return withoutControls(text).replace(/["&'<>]/g, (mark) => ESCAPES[mark]!)
}

const WIDTH = 360
const LABEL = 98
const REACH = WIDTH - LABEL - 72
const ROW = 30
const BAR = 16

export interface Bar {
  readonly label: string
  readonly value: number
  readonly valueText: string
  /** The class that gives it its colour. */
  readonly tone: string
}

interface Part {
  readonly name: string
  readonly value: number
  readonly tone: string
}

type Stack = Pick<Bar, 'label' | 'valueText'> & { readonly parts: readonly Part[] }

/** Bars from zero on, each with its value at its end. */
export function barChart(title: string, bars: readonly Bar[]): string {
  const stacks = bars.map((bar) => ({ ...bar, parts: [{ ...bar, name: '' }] }))
  return svg(title, summary(bars), bars.length * ROW, stackRows(stacks))
}

/** Bars made of parts, all to one scale. */
export function stackChart(title: string, stacks: readonly Stack[]): string {
  const words = stacks.map(
    ({ label, valueText: said, parts }) =>
      `${label} ${said} (${parts.map(({ name, value }) => `${name} ${Math.round(value * 1000) / 1000}`).join(', ')})`,
  )
  return svg(title, words.join('; '), stacks.length * ROW, stackRows(stacks))
}

function stackRows(stacks: readonly Stack[]) {
  const wholes = stacks.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0))
  const scale = REACH / Math.max(...wholes, Number.MIN_VALUE)
  const rows = stacks.map(({ parts, ...words }, at) => {
    let from = LABEL
    const drawn = parts.map(({ value, tone }) => {
      const part = value === 0 ? '' : rectangle(from, at, value * scale, tone)
      from += value * scale
      return part
    })
    return row(at, words, from + 6, drawn.join(''))
  })
  return rows.join('')
}

/** Points between two ends, for values that differ by little: bars would have to begin at zero. */
export function pointChart(
  title: string,
  points: readonly Bar[],
  [from, to]: readonly [number, number],
  write: (value: number) => string,
): string {
  const rows = points.map(({ value, tone, ...words }, at) => {
    const y = at * ROW + ROW / 2
    const x = LABEL + ((value - from) / (to - from || 1)) * REACH
    const track = `<line class="track" x1="${LABEL}" x2="${LABEL + REACH}" y1="${y}" y2="${y}"/>`
    const point = `<circle class="${tone}" cx="${x.toFixed(1)}" cy="${y}" r="6"/>`
    return row(at, words, LABEL + REACH + 12, `${track}${point}`)
  })
  const y = points.length * ROW + 14
  const axis = `<text class="axis" x="${LABEL}" y="${y}">${escapeHtml(write(from))}</text><text class="axis end" x="${LABEL + REACH}" y="${y}">${escapeHtml(write(to))}</text>`
  return svg(title, summary(points), points.length * ROW + 20, rows.join('') + axis)
}

/** What is less is drawn at the left end. */
const LEAST = 0.1
const LANE = 46
const EDGE = 8

/** Several marks a row on a logarithmic scale, with a line above which a verdict holds. */
export function logChart(
  title: string,
  rows: readonly { readonly label: string; readonly marks: readonly Part[] }[],
  limit: number,
): string {
  const largest = Math.max(10, ...rows.flatMap(({ marks }) => marks.map(({ value }) => value)))
  const most = 10 ** Math.ceil(Math.log10(largest))
  const last = Math.round(Math.log10(most / LEAST))
  const place = (value: number) => {
    const within = Math.min(most, Math.max(LEAST, value))
    return EDGE + (Math.log10(within / LEAST) / Math.log10(most / LEAST)) * (WIDTH - 2 * EDGE)
  }
  const height = rows.length * LANE
  const upright = (kind: string, x: string) =>
    `<line class="${kind}" x1="${x}" x2="${x}" y1="0" y2="${height}"/>`
  const grid = Array.from({ length: last + 1 }, (_, power) => {
    const value = LEAST * 10 ** power
    const x = place(value).toFixed(1)
    const end = power === 0 ? '' : power === last ? ' end' : ' middle'
    const words = power === 0 ? `≤ ${LEAST}` : value.toLocaleString('en-GB')
    return `${upright('grid', x)}<text class="axis${end}" x="${x}" y="${height + 16}">${words}</text>`
  })
  const lanes = rows.map(({ label, marks }, at) => {
    const y = at * LANE + 32
    const drawn = marks.map(({ value, tone }, index) => shape(index, place(value), y, tone))
    return `<line class="track" x1="${EDGE}" x2="${WIDTH - EDGE}" y1="${y}" y2="${y}"/><text class="over" x="${EDGE}" y="${at * LANE + 15}">${escapeHtml(label)}</text>${drawn.join('')}`
  })
  const words = rows.map(
    ({ label, marks }) =>
      `${label}: ${marks.map(({ name, value }) => `${name} ${value.toFixed(1)}`).join(', ')}`,
  )
  const content = [...grid, upright('limit', place(limit).toFixed(1)), ...lanes].join('')
  return svg(title, words.join('; '), height + 22, content)
}

/** Names of colours, or of colours and shapes, in the order in which they are drawn. */
export function legend(
  marks: readonly { readonly name: string; readonly tone: string }[],
  hasShapes = false,
): string {
  const items = marks.map(({ name, tone }, index) => {
    const sign = hasShapes
      ? shape(index, 8, 8, tone)
      : `<rect class="${tone}" x="2" y="2" width="12" height="12" rx="2"/>`
    return `<li><svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">${sign}</svg>${escapeHtml(name)}</li>`
  })
  return `<ul class="legend">${items.join('')}</ul>`
}

/** Arms differ by shape too, for readers who do not see the colours. */
function shape(index: number, x: number, y: number, tone: string) {
  const at = (dx: number, dy: number) => `${(x + dx).toFixed(1)},${(y + dy).toFixed(1)}`
  const [left, top] = [(x - 5).toFixed(1), (y - 5).toFixed(1)]
  switch (index % 4) {
    case 0:
      return `<rect class="${tone}" x="${left}" y="${top}" width="10" height="10"/>`
    case 1:
      return `<polygon class="${tone}" points="${at(-6, 5)} ${at(6, 5)} ${at(0, -6)}"/>`
    case 2:
      return `<polygon class="${tone}" points="${at(-6.5, 0)} ${at(0, -6.5)} ${at(6.5, 0)} ${at(0, 6.5)}"/>`
    default:
      return `<circle class="${tone}" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="6"/>`
  }
}

function svg(title: string, words: string, height: number, content: string) {
  const label = `aria-label="${escapeHtml(`${title}. ${words}`)}"`
  return `<svg class="chart" role="img" ${label} viewBox="0 0 ${WIDTH} ${height}">${content}</svg>`
}

function summary(bars: readonly Bar[]) {
  return bars.map(({ label, valueText: said }) => `${label} ${said}`).join(', ')
}

function row(at: number, words: Pick<Bar, 'label' | 'valueText'>, x: number, content: string) {
  const y = at * ROW + ROW / 2 + 4
  return `<text class="label" x="${LABEL - 8}" y="${y}">${escapeHtml(words.label)}</text>${content}<text class="value" x="${x.toFixed(1)}" y="${y}">${escapeHtml(words.valueText)}</text>`
}

function rectangle(x: number, at: number, width: number, tone: string) {
  return `<rect class="${tone}" x="${x.toFixed(1)}" y="${at * ROW + (ROW - BAR) / 2}" width="${width.toFixed(1)}" height="${BAR}"/>`
}
