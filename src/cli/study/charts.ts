// Charts as inline SVG, as wide as a phone so that nothing shrinks there. A table beside each chart shows the same data.
import { withoutControls } from '../../text/clean.ts'

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** For text between tags and in attributes. */
export function escapeHtml(text: string): string {
  return withoutControls(text).replace(/["&'<>]/g, (mark) => ESCAPES[mark]!)
}

const CHART_WIDTH = 360
const LABEL_WIDTH = 98
const BAR_AREA = CHART_WIDTH - LABEL_WIDTH - 72
const ROW_HEIGHT = 30
const BAR_HEIGHT = 16

export interface Bar {
  readonly label: string
  readonly value: number
  readonly valueText: string
  /** The CSS class that sets its colour. */
  readonly tone: string
}

interface ChartPart {
  readonly name: string
  readonly value: number
  readonly tone: string
}

type StackedBar = Pick<Bar, 'label' | 'valueText'> & { readonly parts: readonly ChartPart[] }

export function barChart(title: string, bars: readonly Bar[]): string {
  const stacks = bars.map((bar) => ({ ...bar, parts: [{ ...bar, name: '' }] }))
  return svg(title, barTexts(bars), bars.length * ROW_HEIGHT, stackRows(stacks))
}

/** Stacked bars on one scale. */
export function stackChart(title: string, stacks: readonly StackedBar[]): string {
  const description = stacks.map(
    ({ label, valueText, parts }) =>
      `${label} ${valueText} (${parts.map(({ name, value }) => `${name} ${Math.round(value * 1000) / 1000}`).join(', ')})`,
  )
  return svg(title, description.join('; '), stacks.length * ROW_HEIGHT, stackRows(stacks))
}

function stackRows(stacks: readonly StackedBar[]) {
  const totals = stacks.map(({ parts }) => parts.reduce((sum, { value }) => sum + value, 0))
  const scale = BAR_AREA / Math.max(...totals, Number.MIN_VALUE)
  const rows = stacks.map(({ parts, ...description }, rowIndex) => {
    let from = LABEL_WIDTH
    const drawn = parts.map(({ value, tone }) => {
      const part = value === 0 ? '' : rectangle(from, rowIndex, value * scale, tone)
      from += value * scale
      return part
    })
    return chartRow(rowIndex, description, from + 6, drawn.join(''))
  })
  return rows.join('')
}

/** For values that differ little, since bars would have to start at zero. */
export function pointChart(
  title: string,
  points: readonly Bar[],
  [from, to]: readonly [number, number],
  write: (value: number) => string,
): string {
  const rows = points.map(({ value, tone, ...description }, rowIndex) => {
    const y = rowIndex * ROW_HEIGHT + ROW_HEIGHT / 2
    const x = LABEL_WIDTH + ((value - from) / (to - from || 1)) * BAR_AREA
    const track = `<line class="track" x1="${LABEL_WIDTH}" x2="${LABEL_WIDTH + BAR_AREA}" y1="${y}" y2="${y}"/>`
    const point = `<circle class="${tone}" cx="${x.toFixed(1)}" cy="${y}" r="6"/>`
    return chartRow(rowIndex, description, LABEL_WIDTH + BAR_AREA + 12, `${track}${point}`)
  })
  const y = points.length * ROW_HEIGHT + 14
  const axis = `<text class="axis" x="${LABEL_WIDTH}" y="${y}">${escapeHtml(write(from))}</text><text class="axis end" x="${LABEL_WIDTH + BAR_AREA}" y="${y}">${escapeHtml(write(to))}</text>`
  return svg(title, barTexts(points), points.length * ROW_HEIGHT + 20, rows.join('') + axis)
}

/** Smaller values are drawn at the left end. */
const MIN_SHOWN = 0.1
const LANE_HEIGHT = 46
const MARGIN = 8

/** Several marks per row on a logarithmic scale, with a line for a verdict's threshold. */
export function logChart(
  title: string,
  rows: readonly { readonly label: string; readonly marks: readonly ChartPart[] }[],
  limit: number,
): string {
  const largest = Math.max(10, ...rows.flatMap(({ marks }) => marks.map(({ value }) => value)))
  const topValue = 10 ** Math.ceil(Math.log10(largest))
  const topPower = Math.round(Math.log10(topValue / MIN_SHOWN))
  const position = (value: number) => {
    const within = Math.min(topValue, Math.max(MIN_SHOWN, value))
    return (
      MARGIN +
      (Math.log10(within / MIN_SHOWN) / Math.log10(topValue / MIN_SHOWN)) *
        (CHART_WIDTH - 2 * MARGIN)
    )
  }
  const height = rows.length * LANE_HEIGHT
  const verticalLine = (kind: string, x: string) =>
    `<line class="${kind}" x1="${x}" x2="${x}" y1="0" y2="${height}"/>`
  const grid = Array.from({ length: topPower + 1 }, (_, power) => {
    const value = MIN_SHOWN * 10 ** power
    const x = position(value).toFixed(1)
    const end = power === 0 ? '' : power === topPower ? ' end' : ' middle'
    const description = power === 0 ? `≤ ${MIN_SHOWN}` : value.toLocaleString('en-GB')
    return `${verticalLine('grid', x)}<text class="axis${end}" x="${x}" y="${height + 16}">${description}</text>`
  })
  const lanes = rows.map(({ label, marks }, lane) => {
    const y = lane * LANE_HEIGHT + 32
    const drawn = marks.map(({ value, tone }, index) => shape(index, position(value), y, tone))
    return `<line class="track" x1="${MARGIN}" x2="${CHART_WIDTH - MARGIN}" y1="${y}" y2="${y}"/><text class="over" x="${MARGIN}" y="${lane * LANE_HEIGHT + 15}">${escapeHtml(label)}</text>${drawn.join('')}`
  })
  const description = rows.map(
    ({ label, marks }) =>
      `${label}: ${marks.map(({ name, value }) => `${name} ${value.toFixed(1)}`).join(', ')}`,
  )
  const content = [...grid, verticalLine('limit', position(limit).toFixed(1)), ...lanes].join('')
  return svg(title, description.join('; '), height + 22, content)
}

/** The names of colours, or of colours and shapes, in drawing order. */
export function legend(
  marks: readonly { readonly name: string; readonly tone: string }[],
  hasShapes = false,
): string {
  const items = marks.map(({ name, tone }, index) => {
    const symbol = hasShapes
      ? shape(index, 8, 8, tone)
      : `<rect class="${tone}" x="2" y="2" width="12" height="12" rx="2"/>`
    return `<li><svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">${symbol}</svg>${escapeHtml(name)}</li>`
  })
  return `<ul class="legend">${items.join('')}</ul>`
}

/** Arms differ by shape too, for colour-blind readers. */
function shape(index: number, x: number, y: number, tone: string) {
  const point = (dx: number, dy: number) => `${(x + dx).toFixed(1)},${(y + dy).toFixed(1)}`
  const [left, top] = [(x - 5).toFixed(1), (y - 5).toFixed(1)]
  switch (index % 4) {
    case 0:
      return `<rect class="${tone}" x="${left}" y="${top}" width="10" height="10"/>`
    case 1:
      return `<polygon class="${tone}" points="${point(-6, 5)} ${point(6, 5)} ${point(0, -6)}"/>`
    case 2:
      return `<polygon class="${tone}" points="${point(-6.5, 0)} ${point(0, -6.5)} ${point(6.5, 0)} ${point(0, 6.5)}"/>`
    default:
      return `<circle class="${tone}" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="6"/>`
  }
}

function svg(title: string, description: string, height: number, content: string) {
  const label = `aria-label="${escapeHtml(`${title}. ${description}`)}"`
  return `<svg class="chart" role="img" ${label} viewBox="0 0 ${CHART_WIDTH} ${height}">${content}</svg>`
}

function barTexts(bars: readonly Bar[]) {
  return bars.map(({ label, valueText }) => `${label} ${valueText}`).join(', ')
}

function chartRow(
  rowIndex: number,
  description: Pick<Bar, 'label' | 'valueText'>,
  x: number,
  content: string,
) {
  const y = rowIndex * ROW_HEIGHT + ROW_HEIGHT / 2 + 4
  return `<text class="label" x="${LABEL_WIDTH - 8}" y="${y}">${escapeHtml(description.label)}</text>${content}<text class="value" x="${x.toFixed(1)}" y="${y}">${escapeHtml(description.valueText)}</text>`
}

function rectangle(x: number, rowIndex: number, width: number, tone: string) {
  return `<rect class="${tone}" x="${x.toFixed(1)}" y="${rowIndex * ROW_HEIGHT + (ROW_HEIGHT - BAR_HEIGHT) / 2}" width="${width.toFixed(1)}" height="${BAR_HEIGHT}"/>`
}
