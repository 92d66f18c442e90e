import { useEffect, useReducer, useRef } from 'preact/hooks'
import { type ApiFailure, asFailure } from './failure.ts'
import { whenLive } from './live.ts'

interface Piece<T> {
  readonly rows: readonly T[]
  readonly total: number
}

const AT_ONCE = 2
const KEPT = 40

/**
 * A long list of which only the pages in sight are asked for. What is asked for again stays shown until the answer is there. However
 * fast somebody scrolls, few questions are open at once, and the next is for what is in sight by then.
 */
export class PagedList<T> {
  total: number | undefined
  failure: ApiFailure | undefined
  readonly #load: (from: number, limit: number, signal: AbortSignal) => Promise<Piece<T>>
  readonly #changed: () => void
  readonly #size: number
  readonly #pages = new Map<number, readonly T[]>()
  readonly #stale = new Set<number>()
  readonly #asked = new Set<number>()
  readonly #ended = new AbortController()
  #from = 0
  #end = 1

  constructor(
    load: (from: number, limit: number, signal: AbortSignal) => Promise<Piece<T>>,
    changed: () => void,
    size = 100,
  ) {
    this.#load = load
    this.#changed = changed
    this.#size = size
  }

  at(index: number): T | undefined {
    return this.#pages.get(Math.floor(index / this.#size))?.[index % this.#size]
  }

  /** These are in sight: what is missing of them is asked for. */
  setVisibleRange(from: number, end: number): void {
    this.#from = from
    this.#end = Math.max(end, from + 1)
    this.#ask()
  }

  /** Everything may have changed. */
  refresh(): void {
    this.failure = undefined
    for (const page of this.#pages.keys()) this.#stale.add(page)
    for (const page of this.#asked) this.#stale.add(page)
    this.#ask()
  }

  /** More was put at the end. */
  grow(total: number): void {
    if (this.total === undefined || total <= this.total) return
    this.#stale.add(Math.floor(this.total / this.#size))
    this.total = total
    this.#changed()
    this.#ask()
  }

  replace(isIt: (row: T) => boolean, row: T): void {
    for (const [page, rows] of this.#pages) {
      const index = rows.findIndex(isIt)
      if (index === -1) continue
      this.#pages.set(page, rows.with(index, row))
      this.#changed()
    }
  }

  close(): void {
    this.#ended.abort()
  }

  #ask(): void {
    if (this.#ended.signal.aborted || this.failure !== undefined) return
    // Of an empty list too the first page is asked for: something may be there by now.
    const last = Math.max(0, Math.min(this.#end, this.total ?? 1) - 1)
    for (
      let page = Math.floor(this.#from / this.#size);
      page <= Math.floor(last / this.#size);
      page += 1
    ) {
      if (this.#asked.size >= AT_ONCE) return
      if (!this.#asked.has(page) && (!this.#pages.has(page) || this.#stale.has(page)))
        void this.#fetch(page)
    }
  }

  async #fetch(page: number): Promise<void> {
    this.#asked.add(page)
    try {
      await whenLive()
      this.#stale.delete(page)
      const { rows, total } = await this.#load(page * this.#size, this.#size, this.#ended.signal)
      if (this.#ended.signal.aborted) return
      this.#keep(page, rows)
      this.total = Math.max(total, page * this.#size + rows.length)
      this.failure = undefined
    } catch (error) {
      if (this.#ended.signal.aborted) return
      this.#stale.add(page)
      this.failure = asFailure(error)
    } finally {
      this.#asked.delete(page)
    }
    this.#changed()
    this.#ask()
  }

  /** The latest are kept. */
  #keep(page: number, rows: readonly T[]): void {
    this.#pages.delete(page)
    this.#pages.set(page, rows)
    for (const old of this.#pages.keys()) {
      if (this.#pages.size <= KEPT) return
      this.#pages.delete(old)
      this.#stale.delete(old)
    }
  }
}

/** A paged list for as long as `key` is the same. */
export function usePagedList<T>(
  key: string,
  load: (from: number, limit: number, signal: AbortSignal) => Promise<Piece<T>>,
  size?: number,
): PagedList<T> {
  const [, rerender] = useReducer((turn: number) => turn + 1, 0)
  const held = useRef<{ key: string; paged: PagedList<T> }>(null)
  if (held.current?.key !== key) {
    held.current?.paged.close()
    held.current = { key, paged: new PagedList(load, () => rerender(undefined), size) }
  }
  const { paged } = held.current
  useEffect(() => {
    paged.setVisibleRange(0, 1)
    return () => paged.close()
  }, [paged])
  return paged
}
