/** A list while it is being folded. It may have left its oldest items behind, as a shelf of the state does. */
export interface WorkingShelf<T> {
  earlier: number
  items: T[]
  leftOut?: readonly string[]
}

/** Thrown by `advance` when an entry reaches behind the state it is given; fold everything instead. */
export class NeedsFullFold extends Error {
  override readonly name = 'NeedsFullFold'
}

/** Puts an item behind the one with the id `after`, at the top for `start`, else at the end. */
export function insert<T extends { readonly id: string }>(
  list: WorkingShelf<T>,
  item: T,
  after?: unknown,
): void {
  if (typeof after !== 'string') {
    list.items.push(item)
    return
  }
  if (after === 'start') {
    if (list.earlier > 0) throw new NeedsFullFold('the top of the list is not in the snapshot')
    list.items.unshift(item)
    return
  }
  const anchor = find(list, after)
  list.items.splice(anchor === -1 ? list.items.length : anchor + 1, 0, item)
}

export function change<T extends { readonly id: string }>(
  list: WorkingShelf<T>,
  id: unknown,
  update: (item: T) => T,
): void {
  const index = find(list, id)
  if (index !== -1) list.items[index] = update(list.items[index]!)
}

export function move<T extends { readonly id: string }>(
  list: WorkingShelf<T>,
  id: unknown,
  after: unknown,
): void {
  const index = list.items.findIndex((candidate) => candidate.id === id)
  if (index === -1) return
  const [moved] = list.items.splice(index, 1)
  insert(list, moved!, after)
}

export function remove(list: WorkingShelf<unknown>, index: number): void {
  if (index === -1) return
  // One that was left behind would take its place.
  if (list.earlier > 0) throw new NeedsFullFold('a list that was cut gets shorter')
  list.items.splice(index, 1)
}

export function find(list: WorkingShelf<{ readonly id: string }>, id: unknown): number {
  const index = list.items.findLastIndex((candidate) => candidate.id === id)
  if (index === -1 && list.earlier > 0)
    throw new NeedsFullFold(`${String(id)} is not in the snapshot`)
  return index
}
