/** A list whose oldest items may have been cut: a full fold keeps all, a snapshot the recent ones and the number of the others. */
export interface ItemList<T> {
  readonly earlier: number
  readonly items: readonly T[]
  /** The texts of cut items, where it has to be known whether one was there. */
  readonly leftOut?: readonly string[]
}

/** An item of a list; the id is that of its entry. */
export interface Item {
  readonly id: string
  readonly text: string
  readonly at: string
}

export interface ListRule<T> {
  /** How many of the latest items a snapshot keeps; `all` where the fold itself keeps few. */
  readonly recent: number | 'all'
  /** Items that a snapshot keeps however old they are. */
  keeps?(item: T): boolean
  /** How many texts of cut items a snapshot remembers. */
  readonly remembered?: number
  /** Whether `item.moved` may reorder it. */
  readonly isOrdered: boolean
}

export type ListRules<S = Readonly<Record<string, ItemList<Item>>>> = {
  readonly [K in keyof S as S[K] extends ItemList<unknown> ? K : never]: S[K] extends ItemList<
    infer T
  >
    ? ListRule<T>
    : never
}

/** For lists that the fold itself keeps short. */
export const KEEP_ALL = { recent: 'all', isOrdered: false } as const

export interface MutableList<T> {
  earlier: number
  items: T[]
  leftOut?: readonly string[]
}

/** Thrown by `advance` when an entry needs older items than the state has. */
export class NeedsFullFold extends Error {
  override readonly name = 'NeedsFullFold'
}

/** Inserts an item after `after`, at the top for `start`, else at the end. */
export function insertItem<T extends { readonly id: string }>(
  list: MutableList<T>,
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
  const anchor = findItemIndex(list, after)
  list.items.splice(anchor === -1 ? list.items.length : anchor + 1, 0, item)
}

export function updateItem<T extends { readonly id: string }>(
  list: MutableList<T>,
  id: unknown,
  update: (item: T) => T,
): void {
  const index = findItemIndex(list, id)
  if (index !== -1) list.items[index] = update(list.items[index]!)
}

export function moveItem<T extends { readonly id: string }>(
  list: MutableList<T>,
  id: unknown,
  after: unknown,
): void {
  const index = list.items.findIndex((candidate) => candidate.id === id)
  if (index === -1) return
  const [moved] = list.items.splice(index, 1)
  insertItem(list, moved!, after)
}

export function removeItem(list: MutableList<unknown>, index: number): void {
  if (index === -1) return
  // It may have been cut.
  if (list.earlier > 0) throw new NeedsFullFold('a list that was cut gets shorter')
  list.items.splice(index, 1)
}

export function findItemIndex(list: MutableList<{ readonly id: string }>, id: unknown): number {
  const index = list.items.findLastIndex((candidate) => candidate.id === id)
  if (index === -1 && list.earlier > 0)
    throw new NeedsFullFold(`${String(id)} is not in the snapshot`)
  return index
}

/** An item with the same key replaces the earlier one, at the end. */
export function pushRecent<T extends Item>(
  list: MutableList<T>,
  added: T,
  limit: number,
  isSame: (known: T) => boolean = (known) => known.text === added.text,
): void {
  const index = list.items.findIndex(isSame)
  if (index !== -1) list.items.splice(index, 1)
  list.items.push(added)
  if (list.items.length <= limit) return
  list.items.shift()
  list.earlier += 1
}
