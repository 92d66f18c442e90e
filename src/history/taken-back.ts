import type { Compaction, HistoryItem, Message } from './items.ts'

export function withoutTakenBack(items: Iterable<HistoryItem>): readonly (Message | Compaction)[] {
  const taking = new TakingBack()
  for (const item of items) taking.add(item)
  return taking.nodes.slice(0, taking.end)
}

/** Keeps what may still be restored. */
export class TakingBack {
  readonly nodes: (Message | Compaction)[] = []
  /** Where the retracted nodes begin. */
  end: number | undefined

  add(item: HistoryItem): void {
    if (item.type === 'taken back') {
      const at = item.from === undefined ? -1 : this.nodes.findIndex(({ id }) => id === item.from)
      this.end = at === -1 ? undefined : at
    } else if (
      item.type === 'compaction' ||
      (item.type === 'message' && item.agent === undefined)
    ) {
      // A new message makes the retraction final.
      if (this.end !== undefined) this.nodes.length = this.end
      this.end = undefined
      this.nodes.push(item)
    }
  }
}
