export type SizeClass = 'small' | 'medium' | 'large'

export interface PlanSettings {
  /** For tasks without a size: characters of text. */
  readonly length: { readonly smallUpTo: number; readonly largeFrom: number }
  /** For `--batch fixed`. */
  readonly batch: {
    readonly places: number
    /** Places a task takes; a large one takes all. */
    readonly small: number
    readonly medium: number
    /** Fraction of the way to the compaction point above which no task is started. */
    readonly leaveAbove: number
  }
}

export const DEFAULT_PLAN: PlanSettings = {
  // Three sentences describe one change, a page and a half several.
  length: { smallUpTo: 300, largeFrom: 2_000 },
  batch: { places: 4, small: 1, medium: 2, leaveAbove: 0.5 },
}

export function placesOf(sizeClass: SizeClass, { batch }: PlanSettings): number {
  return sizeClass === 'large' ? batch.places : batch[sizeClass]
}
