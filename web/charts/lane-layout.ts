// The sessions of a run over time: where each attempt stands, in percent of the width. Long times in which nobody worked (a run that
// was gone on with the next day) are folded, or all the rest would be slivers.
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
  /** Where nobody worked for long, and how long. */
  readonly pauses: readonly {
    readonly left: number
    readonly width: number
    readonly seconds: number
  }[]
  /** The time that is drawn, without the pauses. */
  readonly seconds: number
}

interface Span {
  readonly from: number
  readonly to: number
}

/** A pause is folded when it is longer than this share of the work; it then takes this many percent. */
const LONG_PAUSE = 0.25
const SHORTEST_PAUSE_MS = 60_000
const PAUSE_WIDTH = 4
const NARROWEST = 0.6
const STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400,
]
const MOST_TICKS = 8

export function layOutLanes(lanes: readonly RunLane[], now: string): LaneLayout {
  const spans = lanes.flatMap(({ blocks }) => blocks.map((block) => spanOf(block, now)))
  if (spans.length === 0)
    return { lanes: lanes.map((lane) => ({ lane, blocks: [] })), ticks: [], pauses: [], seconds: 0 }
  const busy = united(spans)
  const worked = busy.reduce((sum, { from, to }) => sum + to - from, 0)
  const stretches = withShortPauses(busy, Math.max(SHORTEST_PAUSE_MS, worked * LONG_PAUSE))
  const drawn = Math.max(
    1,
    stretches.reduce((sum, { from, to }) => sum + to - from, 0),
  )
  const scale = (100 - PAUSE_WIDTH * (stretches.length - 1)) / drawn
  const starts = stretches.map((_, index) => {
    const before = stretches.slice(0, index).reduce((sum, { from, to }) => sum + to - from, 0)
    return before * scale + index * PAUSE_WIDTH
  })
  const place = (at: number): number => {
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
        const width = Math.min(100, Math.max(NARROWEST, place(to) - place(from)))
        return { block, left: Math.min(place(from), 100 - width), width }
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
  // Clocks that jump give ends before beginnings.
  return { from, to: Math.max(from, Date.parse(endedAt ?? now)) }
}

function united(spans: readonly Span[]): readonly Span[] {
  const busy: Span[] = []
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const last = busy.at(-1)
    if (last !== undefined && span.from <= last.to)
      busy[busy.length - 1] = { from: last.from, to: Math.max(last.to, span.to) }
    else busy.push(span)
  }
  return busy
}

function withShortPauses(busy: readonly Span[], longest: number): readonly Span[] {
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
    STEPS.find((one) => seconds / one <= MOST_TICKS) ??
    Math.ceil(seconds / MOST_TICKS / 86_400) * 86_400
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
