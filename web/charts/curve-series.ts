import type { TokenCurveData } from '../../src/serve/contract.ts'

export interface ReferenceLine {
  readonly tokens: number
  readonly kind: 'smart zone' | 'stage' | 'point'
  readonly label: string
}

export interface CurveSeries {
  /** Turns; several requests of one turn are spread between it and the next. */
  readonly x: readonly number[]
  readonly y: readonly number[]
  readonly lines: readonly ReferenceLine[]
  readonly compactions: readonly { readonly x: number; readonly label: string }[]
  /** The highest value to show: the compaction point, or the maximum reached. */
  readonly top: number
  /** The maximum reached. */
  readonly most: number
}

export function seriesOf(curve: TokenCurveData): CurveSeries {
  const points = curve.points.filter(
    ({ turn, tokens }) => Number.isFinite(turn) && Number.isFinite(tokens),
  )
  const perTurn = new Map<number, number>()
  for (const { turn } of points) perTurn.set(turn, (perTurn.get(turn) ?? 0) + 1)
  const seen = new Map<number, number>()
  const x = points.map(({ turn }) => {
    const before = seen.get(turn) ?? 0
    seen.set(turn, before + 1)
    return turn + before / (perTurn.get(turn) ?? 1)
  })
  const y = points.map(({ tokens }) => tokens)
  const lines: ReferenceLine[] = [
    { tokens: curve.smartZone, kind: 'smart zone', label: 'smart zone' },
  ]
  for (const { percent, tokens } of curve.stages)
    if (tokens !== undefined) lines.push({ tokens, kind: 'stage', label: `${percent}%` })
  if (curve.point !== undefined)
    lines.push({
      tokens: curve.point,
      kind: 'point',
      label: curve.isPointMeasured ? 'compacts' : 'compacts (estimated)',
    })
  const most = y.reduce((sum, value) => Math.max(sum, value), 0)
  return {
    x,
    y,
    lines: lines.filter(({ tokens }) => tokens > 0).toSorted((a, b) => a.tokens - b.tokens),
    compactions: curve.compactions.map(({ turn, tokensBefore }) => ({
      x: turn,
      label: tokensBefore === undefined ? 'compacted' : `compacted at ${shortCount(tokensBefore)}`,
    })),
    most,
    top:
      Math.max(most, curve.point ?? 0, curve.point === undefined ? curve.smartZone : 0, 1) * 1.04,
  }
}

/** 950, 9.5k, 128k, 1.2M. */
export function shortCount(value: number): string {
  const tenths = (scaled: number): string =>
    String(scaled < 9.95 ? Math.round(scaled * 10) / 10 : Math.round(scaled))
  if (Math.abs(value) < 1000) return String(Math.round(value))
  if (Math.abs(value) < 999_500) return `${tenths(value / 1000)}k`
  return `${tenths(value / 1_000_000)}M`
}

/** At most `most` items: the first, the last, and evenly spaced ones in between. */
export function sampled<Item>(items: readonly Item[], most: number): readonly Item[] {
  if (items.length <= most) return items
  const step = (items.length - 1) / (most - 1)
  return Array.from({ length: most }, (_, index) => items[Math.round(index * step)] as Item)
}
