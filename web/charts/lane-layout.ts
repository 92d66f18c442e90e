// Positions the attempts of a run's sessions over time, in percent of the width. Long gaps (a run that was resumed the next day) are
// folded, or everything else would be too thin.
import type { LaneBlock, RunLane } from '../../src/serve/contract.ts'

export interface PlacedBlock {
  readonly block: LaneBlock
  readonly left: number
  readonly width: number
}

export interface PlacedLane {
  readonly lane: RunLane
  readonly blocks: readonly PlacedBlock[]
}

export interface LaneLayout {
  readonly lanes: readonly PlacedLane[]
  readonly ticks: readonly { readonly left: number; readonly seconds: number }[]
  /** Long gaps between attempts. */
  readonly pauses: readonly {
    readonly left: number
    readonly width: number
    readonly seconds: number
  }[]
  /** The time drawn, without the folded pauses. */
  readonly seconds: number
}

interface Span {
  readonly from: number
  readonly to: number
}

/** A pause is folded when it is longer than this share of the working time; it is then drawn PAUSE_WIDTH percent wide. */
const LONG_PAUSE = 0.25
const SHORTEST_PAUSE_MS = 60_000
const PAUSE_WIDTH = 4
const MIN_WIDTH = 0.6
const TICK_STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400,
]
const MAX_TICKS = 8

export function layOutLanes(lanes: readonly RunLane[], now: string): LaneLayout {
  const spans = lanes.flatMap(({ blocks }) => blocks.map((block) => spanOf(block, now)))
  if (spans.length === 0)
    return { lanes: lanes.map((lane) => ({ lane, blocks: [] })), ticks: [], pauses: [], seconds: 0 }
  const busy = mergeSpans(spans)
  const worked = busy.reduce((sum, { from, to }) => sum + to - from, 0)
  const stretches = joinShortPauses(busy, Math.max(SHORTEST_PAUSE_MS, worked * LONG_PAUSE))
  const drawn = Math.max(
    1,
    stretches.reduce((sum, { from, to }) => sum + to - from, 0),
  )
  const scale = (100 - PAUSE_WIDTH * (stretches.length - 1)) / drawn
  const starts = stretches.map((_, index) => {
    const before = stretches.slice(0, index).reduce((sum, { from, to }) => sum + to - from, 0)
    return before * scale + index * PAUSE_WIDTH
  })
  const positionOf = (at: number): number => {
    const index = Math.max(
      0,
      stretches.findLastIndex(({ from }) => from <= at),
    )
    const stretch = stretches[index] as Span
    return (starts[index] ?? 0) + (Math.min(at, stretch.to) - stretch.from) * scale
  }
  return {
    lanes: lanes.map((lane) => ({
      lane,
      blocks: lane.blocks.map((block) => {
        const { from, to } = spanOf(block, now)
        const width = Math.min(100, Math.max(MIN_WIDTH, positionOf(to) - positionOf(from)))
        return { block, left: Math.min(positionOf(from), 100 - width), width }
      }),
    })),
    ticks: ticksOf(drawn / 1000, stretches, starts, scale),
    pauses: stretches.slice(1).map(({ from }, index) => ({
      left: (starts[index + 1] ?? 0) - PAUSE_WIDTH,
      width: PAUSE_WIDTH,
      seconds: Math.round((from - (stretches[index]?.to ?? from)) / 1000),
    })),
    seconds: drawn / 1000,
  }
}

function spanOf({ startedAt, endedAt }: LaneBlock, now: string): Span {
  const from = Date.parse(startedAt)
  // A clock that was set back gives ends before starts.
  return { from, to: Math.max(from, Date.parse(endedAt ?? now)) }
}

function mergeSpans(spans: readonly Span[]): readonly Span[] {
  const busy: Span[] = []
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const last = busy.at(-1)
    if (last !== undefined && span.from <= last.to)
      busy[busy.length - 1] = { from: last.from, to: Math.max(last.to, span.to) }
    else busy.push(span)
  }
  return busy
}

function joinShortPauses(busy: readonly Span[], longest: number): readonly Span[] {
  const stretches: Span[] = []
  for (const span of busy) {
    const last = stretches.at(-1)
    if (last !== undefined && span.from - last.to <= longest)
      stretches[stretches.length - 1] = { from: last.from, to: span.to }
    else stretches.push(span)
  }
  return stretches
}

function ticksOf(
  seconds: number,
  stretches: readonly Span[],
  starts: readonly number[],
  scale: number,
): LaneLayout['ticks'] {
  const step =
    TICK_STEPS.find((one) => seconds / one <= MAX_TICKS) ??
    Math.ceil(seconds / MAX_TICKS / 86_400) * 86_400
  const ticks: { left: number; seconds: number }[] = []
  let before = 0
  for (const [index, { from, to }] of stretches.entries()) {
    const length = (to - from) / 1000
    for (let at = Math.ceil(before / step) * step; at <= before + length; at += step)
      ticks.push({ left: (starts[index] ?? 0) + (at - before) * 1000 * scale, seconds: at })
    before += length
  }
  return ticks
}
