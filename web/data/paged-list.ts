import { useEffect, useReducer, useRef } from 'preact/hooks'
import { type ApiFailure, asFailure } from './failure.ts'
import { whenLive } from './live.ts'

interface Page<T> {
  readonly rows: readonly T[]
  readonly total: number
}

const MAX_REQUESTS = 2
const MAX_PAGES = 40

/**
 * A long list that loads only its visible pages. Stale pages stay shown until the response arrives. Few requests run at once, and the next
 * one is for the pages visible by then, however fast the user scrolls.
 */
export class PagedList<T> {
  total: number | undefined
  failure: ApiFailure | undefined
  readonly #load: (from: number, limit: number, signal: AbortSignal) => Promise<Page<T>>
  readonly #changed: () => void
  readonly #size: number
  readonly #pages = new Map<number, readonly T[]>()
  readonly #stale = new Set<number>()
  readonly #loading = new Set<number>()
  readonly #ended = new AbortController()
  #from = 0
  #end = 1

  constructor(
    load: (from: number, limit: number, signal: AbortSignal) => Promise<Page<T>>,
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

  /** Requests the missing pages of the visible rows. */
  setVisibleRange(from: number, end: number): void {
    this.#from = from
    this.#end = Math.max(end, from + 1)
    this.#loadVisible()
  }

  refresh(): void {
    this.failure = undefined
    for (const page of this.#pages.keys()) this.#stale.add(page)
    for (const page of this.#loading) this.#stale.add(page)
    this.#loadVisible()
  }

  /** Rows were appended. */
  grow(total: number): void {
    if (this.total === undefined || total <= this.total) return
    this.#stale.add(Math.floor(this.total / this.#size))
    this.total = total
    this.#changed()
    this.#loadVisible()
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

  #loadVisible(): void {
    if (this.#ended.signal.aborted || this.failure !== undefined) return
    // The first page is requested of an empty list too: rows may have appeared.
    const last = Math.max(0, Math.min(this.#end, this.total ?? 1) - 1)
    for (
      let page = Math.floor(this.#from / this.#size);
      page <= Math.floor(last / this.#size);
      page += 1
    ) {
      if (this.#loading.size >= MAX_REQUESTS) return
      if (!this.#loading.has(page) && (!this.#pages.has(page) || this.#stale.has(page)))
        void this.#fetch(page)
    }
  }

  async #fetch(page: number): Promise<void> {
    this.#loading.add(page)
    try {
      await whenLive()
      this.#stale.delete(page)
      const { rows, total } = await this.#load(page * this.#size, this.#size, this.#ended.signal)
      if (this.#ended.signal.aborted) return
      this.#store(page, rows)
      this.total = Math.max(total, page * this.#size + rows.length)
      this.failure = undefined
    } catch (error) {
      if (this.#ended.signal.aborted) return
      this.#stale.add(page)
      this.failure = asFailure(error)
    } finally {
      this.#loading.delete(page)
    }
    this.#changed()
    this.#loadVisible()
  }

  /** Drops the oldest pages. */
  #store(page: number, rows: readonly T[]): void {
    this.#pages.delete(page)
    this.#pages.set(page, rows)
    for (const old of this.#pages.keys()) {
      if (this.#pages.size <= MAX_PAGES) return
      this.#pages.delete(old)
      this.#stale.delete(old)
    }
  }
}

export function usePagedList<T>(
  key: string,
  load: (from: number, limit: number, signal: AbortSignal) => Promise<Page<T>>,
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
