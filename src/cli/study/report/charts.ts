// Charts as inline SVG, as wide as a phone so that nothing in them shrinks there. What they show is also in a table beside them.
import { withoutControls } from '../../../text/clean.ts'
import type { Table } from '../tables.ts'

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text that becomes no markup, between tags and in attributes alike. */
export function escape(text: string): string {
  return withoutControls(text).replace(/["&'<>]/g, (mark) => ESCAPES[mark]!)
}

/** A table that is scrolled by itself where the page is narrow, with the keyboard as well. */
export function tableMarkup(caption: string, { head, rows }: Table): string {
  const [corner = '', ...columns] = head
  const first = corner === '' ? '<td></td>' : `<th scope="col">${escape(corner)}</th>`
  const body = rows.map(
    ([name = '', ...cells]) =>
      `<tr><th scope="row">${escape(name)}</th>${cells.map((cell) => `<td>${escape(cell)}</td>`).join('')}</tr>`,
  )
  return [
    `<div class="scrolled" role="region" tabindex="0" aria-label="${escape(caption)}">`,
    `<table><caption>${escape(caption)}</caption>`,
    `<thead><tr>${first}${columns.map((column) => `<th scope="col">${escape(column)}</th>`).join('')}</tr></thead>`,
    `<tbody>${body.join('\n')}</tbody></table></div>`,
  ].join('\n')
}

const WIDTH = 360
const LABEL = 98
const ROOM_FOR_VALUE = 72
const ROW = 30
const BAR = 16

export interface Bar {
  readonly label: string
  readonly value: number
  readonly said: string
  /** Which colour it has. */
  readonly tone: string
}

/** Bars from zero on, each with what it says at its end. */
export function barChart(title: string, bars: readonly Bar[]): string {
  const most = Math.max(...bars.map(({ value }) => value), Number.MIN_VALUE)
  const rows = bars.map(({ label, value, said, tone }, at) => {
    const length = Math.max(1, (value / most) * (WIDTH - LABEL - ROOM_FOR_VALUE))
    return row(
      at,
      label,
      `${rectangle(LABEL, at, length, tone)}${valueText(LABEL + length + 6, at, said)}`,
    )
  })
  return svg(title, summary(bars), bars.length * ROW, rows.join(''))
}

export interface Stack {
  readonly label: string
  readonly said: string
  readonly parts: readonly {
    readonly value: number
    readonly tone: string
    readonly name: string
  }[]
}

/** Bars made of parts, all to one scale. */
export function stackChart(title: string, stacks: readonly Stack[]): string {
  const wholeOf = ({ parts }: Stack) => parts.reduce((sum, { value }) => sum + value, 0)
  const most = Math.max(...stacks.map(wholeOf), Number.MIN_VALUE)
  const scale = (WIDTH - LABEL - ROOM_FOR_VALUE) / most
  const rows = stacks.map((stack, at) => {
    let from = LABEL
    const parts = stack.parts.map(({ value, tone }) => {
      const part = value === 0 ? '' : rectangle(from, at, value * scale, tone)
      from += value * scale
      return part
    })
    return row(at, stack.label, `${parts.join('')}${valueText(from + 6, at, stack.said)}`)
  })
  const words = stacks.map(
    ({ label, said, parts }) =>
      `${label} ${said} (${parts.map(({ name, value }) => `${name} ${Math.round(value * 1000) / 1000}`).join(', ')})`,
  )
  return svg(title, words.join('; '), stacks.length * ROW, rows.join(''))
}

/** Points between two ends, for what differs by little: bars would have to begin at zero. */
export function pointChart(
  title: string,
  points: readonly Bar[],
  ends: readonly [number, number],
  said: (value: number) => string,
): string {
  const [from, to] = ends
  const reach = WIDTH - LABEL - ROOM_FOR_VALUE
  const place = (value: number) => LABEL + ((value - from) / (to - from || 1)) * reach
  const rows = points.map(({ label, value, said: words, tone }, at) => {
    const y = at * ROW + ROW / 2
    const track = `<line class="track" x1="${LABEL}" x2="${LABEL + reach}" y1="${y}" y2="${y}"/>`
    const point = `<circle class="${tone}" cx="${place(value).toFixed(1)}" cy="${y}" r="6"/>`
    return row(at, label, `${track}${point}${valueText(LABEL + reach + 12, at, words)}`)
  })
  const y = points.length * ROW + 14
  const axis = `<text class="axis" x="${LABEL}" y="${y}">${escape(said(from))}</text><text class="axis end" x="${LABEL + reach}" y="${y}">${escape(said(to))}</text>`
  return svg(title, summary(points), points.length * ROW + 20, rows.join('') + axis)
}

export interface Mark {
  readonly name: string
  readonly value: number
  readonly tone: string
}

/** What is less stands at the left end. */
const LEAST = 0.1
const LANE = 46
const EDGE = 8

/** Several marks a row on a logarithmic scale, with a line above which a verdict holds. */
export function logChart(
  title: string,
  rows: readonly { readonly label: string; readonly marks: readonly Mark[] }[],
  line: number,
): string {
  const largest = Math.max(10, ...rows.flatMap(({ marks }) => marks.map(({ value }) => value)))
  const most = 10 ** Math.ceil(Math.log10(largest))
  const decades = Array.from(
    { length: Math.round(Math.log10(most / LEAST)) + 1 },
    (_, power) => LEAST * 10 ** power,
  )
  const reach = WIDTH - 2 * EDGE
  const place = (value: number) => {
    const within = Math.min(most, Math.max(LEAST, value))
    return EDGE + (Math.log10(within / LEAST) / Math.log10(most / LEAST)) * reach
  }
  const height = rows.length * LANE
  const grid = decades.map((value, power) => {
    const x = place(value).toFixed(1)
    const end = power === 0 ? '' : power === decades.length - 1 ? ' end' : ' middle'
    return `<line class="grid" x1="${x}" x2="${x}" y1="0" y2="${height}"/><text class="axis${end}" x="${x}" y="${height + 16}">${power === 0 ? `≤ ${LEAST}` : value.toLocaleString('en-GB')}</text>`
  })
  const limit = `<line class="limit" x1="${place(line).toFixed(1)}" x2="${place(line).toFixed(1)}" y1="0" y2="${height}"/>`
  const lanes = rows.map(({ label, marks }, at) => {
    const y = at * LANE + 32
    const drawn = marks.map(({ value, tone }, index) => shape(index, place(value), y, tone))
    return `<line class="track" x1="${EDGE}" x2="${WIDTH - EDGE}" y1="${y}" y2="${y}"/><text class="over" x="${EDGE}" y="${at * LANE + 15}">${escape(label)}</text>${drawn.join('')}`
  })
  const words = rows.map(
    ({ label, marks }) =>
      `${label}: ${marks.map(({ name, value }) => `${name} ${value.toFixed(1)}`).join(', ')}`,
  )
  return svg(title, words.join('; '), height + 22, grid.join('') + limit + lanes.join(''))
}

/** Names of tones, or of tones and shapes, in the order in which they are drawn. */
export function legend(
  marks: readonly { readonly name: string; readonly tone: string }[],
  hasShapes = false,
): string {
  const items = marks.map(({ name, tone }, index) => {
    const sign = hasShapes
      ? shape(index, 8, 8, tone)
      : `<rect class="${tone}" x="2" y="2" width="12" height="12" rx="2"/>`
    return `<li><svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">${sign}</svg>${escape(name)}</li>`
  })
  return `<ul class="legend">${items.join('')}</ul>`
}

/** Told apart by their form, too, for whoever does not see colours. */
function shape(index: number, x: number, y: number, tone: string): string {
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

function svg(title: string, summary: string, height: number, content: string): string {
  const label = `aria-label="${escape(`${title}. ${summary}`)}"`
  return `<svg class="chart" role="img" ${label} viewBox="0 0 ${WIDTH} ${height}">${content}</svg>`
}

function summary(bars: readonly Bar[]): string {
  return bars.map(({ label, said }) => `${label} ${said}`).join(', ')
}

function row(at: number, label: string, content: string): string {
  return `<text class="label" x="${LABEL - 8}" y="${at * ROW + ROW / 2 + 4}">${escape(label)}</text>${content}`
}

function rectangle(x: number, at: number, width: number, tone: string): string {
  return `<rect class="${tone}" x="${x.toFixed(1)}" y="${at * ROW + (ROW - BAR) / 2}" width="${width.toFixed(1)}" height="${BAR}"/>`
}

function valueText(x: number, at: number, said: string): string {
  return `<text class="value" x="${x.toFixed(1)}" y="${at * ROW + ROW / 2 + 4}">${escape(said)}</text>`
}
