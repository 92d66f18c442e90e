/** How large a task is taken to be. */
export type SizeClass = 'small' | 'medium' | 'large'

/** What of the planner may be set. */
export interface PlanSettings {
  /** For tasks without a size: characters that count as small up to the first, and as large from the second on. */
  readonly length: { readonly smallUpTo: number; readonly largeFrom: number }
  /** For `--batch fixed`. */
  readonly batch: {
    /** Places in a conversation. */
    readonly places: number
    /** Places that a task takes. A large one takes all there are. */
    readonly small: number
    readonly medium: number
    /** Of the way to the compaction point: above it no further task is begun. */
    readonly leaveAbove: number
  }
}

export const DEFAULT_PLAN: PlanSettings = {
  // Three sentences name one change. A page and a half of text describes several that hang together.
  length: { smallUpTo: 300, largeFrom: 2_000 },
  batch: { places: 4, small: 1, medium: 2, leaveAbove: 0.5 },
}

/** Places that a task takes in a batch. */
export function placesOf(sizeClass: SizeClass, { batch }: PlanSettings): number {
  return sizeClass === 'large' ? batch.places : batch[sizeClass]
}
