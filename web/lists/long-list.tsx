// A list of any length with keyboard navigation, updated by live events.
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { LiveEvent } from '../../src/serve/contract.ts'
import { onLive } from '../data/live.ts'
import { type PagedList, usePagedList } from '../data/paged-list.ts'
import { useShortcuts } from '../shell/keyboard.ts'
import { navigate } from '../data/router.ts'
import { pluralize } from '../components/format.ts'
import { Pending, Stale } from '../components/states.tsx'
import { type VirtualHandle, VirtualList } from './virtual-list.tsx'

export interface LongListOptions<T> {
  readonly title: string
  /** The singular, such as `session`. */
  readonly one: string
  readonly key: string
  readonly load: Parameters<typeof usePagedList<T>>[1]
  readonly pageSize?: number
  /** Whether an event may have changed the list. It may update a row in the pages right away. */
  readonly isTouchedBy: (event: LiveEvent, pages: PagedList<T>) => boolean
  /** How long to wait for more events, which come in bursts while an agent works. */
  readonly pauseMs: number
  readonly addressOf: (row: T) => string
}

export interface LongList<T> {
  readonly title: string
  readonly one: string
  readonly key: string
  readonly pages: PagedList<T>
  readonly selected: number
  readonly handle: RefObject<VirtualHandle | null>
}

export function useLongList<T>(options: LongListOptions<T>): LongList<T> {
  const { title, one, key, load, pageSize, isTouchedBy, pauseMs, addressOf } = options
  const pages = usePagedList<T>(key, load, pageSize)
  const [selected, setSelected] = useState(-1)
  const handle = useRef<VirtualHandle>(null)

  useEffect(() => setSelected(-1), [key])
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const stop = onLive((event) => {
      if (event.type !== 'reset' && !isTouchedBy(event, pages)) return
      timer ??= setTimeout(() => {
        timer = undefined
        pages.refresh()
      }, pauseMs)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [pages])

  const move = (step: number) => {
    const { total = 0 } = pages
    if (total === 0) return
    const next = Math.max(0, Math.min(total - 1, selected + step))
    setSelected(next)
    handle.current?.focus(next)
  }
  useShortcuts(title, [
    { keys: 'j', label: `Next ${one}`, run: () => move(1) },
    {
      keys: 'k',
      label: `${one.slice(0, 1).toUpperCase()}${one.slice(1)} before`,
      run: () => move(-1),
    },
    {
      keys: 'o',
      label: 'Open it',
      run: () => {
        const row = pages.at(selected)
        if (row !== undefined) navigate(addressOf(row))
      },
    },
  ])
  return { title, one, key, pages, selected, handle }
}

export function LongListHead<T>({
  list,
  isFiltered = false,
}: {
  list: LongList<T>
  isFiltered?: boolean
}) {
  const { total } = list.pages
  return (
    <div class="view-head">
      <h1>{list.title}</h1>
      <span class="aside number" role="status">
        {total === undefined ? '' : `${total.toLocaleString('en')}${isFiltered ? ' found' : ''}`}
      </span>
    </div>
  )
}

export interface LongListRowsProps<T> {
  readonly list: LongList<T>
  /** The approximate row height; exact when `isFixed`. */
  readonly height: number
  readonly isFixed?: boolean
  readonly row: (row: T | undefined, isSelected: boolean) => ComponentChildren
  /** Shown when there are no rows. */
  readonly none: ComponentChildren
}

export function LongListRows<T>({
  list,
  height,
  isFixed = false,
  row,
  none,
}: LongListRowsProps<T>) {
  const { pages, one, key, selected, handle } = list
  const { total, failure } = pages
  const retry = () => pages.refresh()
  if (total === undefined) return <Pending failure={failure} retry={retry} lines={12} />
  return (
    <>
      <Stale failure={failure} retry={retry} />
      {total === 0 ? (
        none
      ) : (
        <VirtualList
          key={height}
          label={pluralize(total, one)}
          count={total}
          estimate={height}
          isFixed={isFixed}
          listKey={key}
          handle={handle}
          onRange={(from, end) => pages.setVisibleRange(from, end)}
          row={(number) => row(pages.at(number), number === selected)}
        />
      )}
    </>
  )
}
