// Draws the token curve on a canvas. The reference lines are behind it, with their names in the margin.
import './fix-posix-locale.ts'
import uPlot from 'uplot'
import { type CurveSeries, type ReferenceLine, shortCount } from './curve-series.ts'

const NARROW_WIDTH = 480
/** The space between the curve and the label of a line. */
const LABEL_GAP = 12
const LABEL_HEIGHT = 13
const HEIGHT = 240

export interface CurvePlot {
  resize(): void
  recolour(): void
  destroy(): void
}

/** `onHover` receives the index and position of the point under the pointer. */
export function drawCurve(
  host: HTMLElement,
  series: CurveSeries,
  top: number,
  onHover: (index: number | undefined, left: number, top: number) => void,
): CurvePlot {
  let colours = readColours()
  const labelOf = (line: ReferenceLine): string =>
    host.clientWidth < NARROW_WIDTH ? line.label.replace(/ \(.*\)$/, '') : line.label
  const axis = (more: uPlot.Axis): uPlot.Axis => ({
    stroke: () => colours.text,
    grid: { stroke: () => colours.grid, width: 1 },
    ticks: { show: false },
    font: `11px ${colours.font}`,
    gap: 6,
    ...more,
  })
  const plot = new uPlot(
    {
      width: host.clientWidth,
      height: HEIGHT,
      padding: [14, LABEL_GAP + maxLabelWidth(series.lines.map(labelOf), colours.font), 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { size: 8 } },
      scales: {
        x: {
          time: false,
          range: (_, from, to) => (from === to ? [from - 0.5, to + 0.5] : [from, to]),
        },
        y: { range: () => [0, top] },
      },
      axes: [
        axis({
          size: 30,
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000],
          values: (_, at) => at.map((value) => (Number.isInteger(value) ? String(value) : '')),
        }),
        axis({ size: 46, values: (_, at) => at.map(shortCount) }),
      ],
      series: [
        {},
        {
          stroke: () => colours.curve,
          fill: () => colours.fill,
          width: 2,
          points: {
            show: series.x.length < 40,
            size: 5,
            fill: () => colours.curve,
            stroke: () => colours.curve,
          },
        },
      ],
      hooks: {
        drawAxes: [(u) => drawLines(u, series, colours, labelOf)],
        setCursor: [
          (u) => {
            const { idx, left = -1 } = u.cursor
            if (idx === null || idx === undefined || left < 0) return onHover(undefined, 0, 0)
            const x = u.valToPos(series.x[idx] ?? 0, 'x') + u.over.offsetLeft
            onHover(idx, x, u.valToPos(series.y[idx] ?? 0, 'y') + u.over.offsetTop)
          },
        ],
      },
    },
    [[...series.x], [...series.y]],
    host,
  )
  return {
    resize() {
      if (host.clientWidth !== plot.width) plot.setSize({ width: host.clientWidth, height: HEIGHT })
    },
    recolour() {
      colours = readColours()
      plot.redraw(false)
    },
    destroy: () => plot.destroy(),
  }
}

interface Colours {
  readonly text: string
  readonly grid: string
  readonly curve: string
  readonly fill: string
  readonly font: string
  readonly line: Readonly<Record<ReferenceLine['kind'], string>>
}

/** A canvas cannot use CSS variables, so an element resolves each one to its current colour. */
function readColours(): Colours {
  const probe = document.createElement('span')
  document.body.append(probe)
  const resolveColour = (value: string): string => {
    probe.style.color = value
    return getComputedStyle(probe).color
  }
  const colours = {
    text: resolveColour('var(--faint)'),
    grid: resolveColour('var(--line)'),
    curve: resolveColour('var(--accent)'),
    fill: resolveColour('color-mix(in srgb, var(--accent) 12%, transparent)'),
    font: getComputedStyle(probe).fontFamily,
    line: {
      'smart zone': resolveColour('var(--good)'),
      stage: resolveColour('var(--warn)'),
      point: resolveColour('var(--bad)'),
    },
  }
  probe.remove()
  return colours
}

function drawLines(
  u: uPlot,
  { lines, compactions }: CurveSeries,
  colours: Colours,
  labelOf: (line: ReferenceLine) => string,
): void {
  const { ctx } = u
  const { left, top, width, height } = u.bbox
  const pixels = devicePixelRatio
  ctx.save()
  ctx.lineWidth = Math.max(1, Math.round(pixels))
  ctx.font = `${11 * pixels}px ${colours.font}`
  ctx.textAlign = 'left'
  ctx.textBaseline = 'middle'
  const shown = lines
    .map((line) => ({ line, y: pixelMiddle(u.valToPos(line.tokens, 'y', true)) }))
    .filter(({ y }) => y >= top && y <= top + height)
  const labels = spreadLabels(
    shown.map(({ y }) => y),
    LABEL_HEIGHT * pixels,
    top + height,
  )
  for (const [index, { line, y }] of shown.entries()) {
    ctx.strokeStyle = colours.line[line.kind]
    ctx.fillStyle = colours.line[line.kind]
    ctx.setLineDash(line.kind === 'point' ? [] : [5 * pixels, 4 * pixels])
    ctx.beginPath()
    ctx.moveTo(left, y)
    ctx.lineTo(left + width, y)
    ctx.stroke()
    const label = labels[index] ?? y
    ctx.setLineDash([])
    ctx.beginPath()
    ctx.moveTo(left + width, y)
    ctx.lineTo(left + width + 8 * pixels, label)
    ctx.stroke()
    ctx.fillText(labelOf(line), left + width + LABEL_GAP * pixels, label)
  }
  ctx.strokeStyle = colours.line.point
  ctx.fillStyle = colours.line.point
  ctx.setLineDash([2 * pixels, 3 * pixels])
  for (const { x } of compactions) {
    const at = pixelMiddle(u.valToPos(x, 'x', true))
    if (at < left - 1 || at > left + width + 1) continue
    ctx.beginPath()
    ctx.moveTo(at, top)
    ctx.lineTo(at, top + height)
    ctx.stroke()
    ctx.beginPath()
    ctx.moveTo(at - 4 * pixels, top - 7 * pixels)
    ctx.lineTo(at + 4 * pixels, top - 7 * pixels)
    ctx.lineTo(at, top - 1 * pixels)
    ctx.fill()
  }
  ctx.restore()
}

function maxLabelWidth(labels: readonly string[], font: string): number {
  const context = document.createElement('canvas').getContext('2d')
  if (context === null) return 0
  context.font = `11px ${font}`
  return Math.ceil(Math.max(0, ...labels.map((label) => context.measureText(label).width)))
}

/** The middle of a pixel: a thin line between two pixels is drawn thick and pale. */
function pixelMiddle(at: number): number {
  return Math.floor(at) + 0.5
}

/** Moves labels up where they would overlap; the lines are sorted from below. */
function spreadLabels(
  heights: readonly number[],
  least: number,
  lowest: number,
): readonly number[] {
  const placed: number[] = []
  for (const height of heights)
    placed.push(Math.min(height, (placed.at(-1) ?? lowest + least) - least))
  return placed
}
