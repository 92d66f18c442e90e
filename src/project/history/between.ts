import type { HistoryItem } from '../../history/items.ts'

export interface Span {
  /** ISO times; open where absent. */
  readonly from?: string
  readonly to?: string
}

/** The items of a time. One that has none of its own belongs to the time of the one before it. */
export function* between<T extends HistoryItem>(
  items: Iterable<T>,
  { from = '', to = '\uFFFF' }: Span,
): Generator<T> {
  let at = ''
  for (const item of items) {
    at = item.at ?? at
    if (at >= from && at <= to) yield item
  }
}
