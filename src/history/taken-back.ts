import type { Compaction, HistoryItem, Message } from './items.ts'

/** What the conversation's own model said and was told, and where it was compacted, as far as nobody took it back. */
export function withoutTakenBack(items: Iterable<HistoryItem>): readonly (Message | Compaction)[] {
  const taking = new TakingBack()
  for (const item of items) taking.add(item)
  return taking.nodes.slice(0, taking.end)
}

/** The same, item by item, with what may still be given back. */
export class TakingBack {
  readonly nodes: (Message | Compaction)[] = []
  /** Where in the nodes that begins which is taken back. */
  end: number | undefined

  add(item: HistoryItem): void {
    if (item.type === 'taken back') {
      const at = item.from === undefined ? -1 : this.nodes.findIndex(({ id }) => id === item.from)
      this.end = at === -1 ? undefined : at
    } else if (
      item.type === 'compaction' ||
      (item.type === 'message' && item.agent === undefined)
    ) {
      // Something else was said: now it is gone for good.
      if (this.end !== undefined) this.nodes.length = this.end
      this.end = undefined
      this.nodes.push(item)
    }
  }
}
