import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useReducer, useRef } from 'preact/hooks'
import { Heights } from './heights.ts'

export interface VirtualHandle {
  /** Brings a row into view: at the top, or by the shortest way. */
  show(number: number, where?: 'top' | 'nearest'): void
  /** Shows a row and puts the focus on the first link or button in it. */
  focus(number: number): void
  toEnd(): void
}

export interface VirtualListProps {
  /** What it is a list of, for those who cannot see it. */
  readonly label: string
  /** The number of the first row. It goes below zero as earlier rows are put in front, and the others keep their numbers. */
  readonly first?: number
  readonly count: number
  /** How high a row is, about; exactly when `isFixed`. */
  readonly estimate: number
  readonly isFixed?: boolean
  readonly row: (number: number) => ComponentChildren
  /** The rows that are shown now, when these change. The end is not included. */
  readonly onRange?: (from: number, end: number) => void
  /** The row at the top of the view, when that is another. */
  readonly onTop?: (number: number) => void
  /** Whether it stays at the end when it is there and more comes. */
  readonly isFollowing?: boolean
  readonly onAtEnd?: (isAtEnd: boolean) => void
  readonly handle?: RefObject<VirtualHandle | null>
  /** Another list under the same numbers. */
  readonly listKey?: string
}

const BEYOND = 600
const NEAR_END = 24

/** Shows a list of any length with only the rows in sight in the document. Heights are measured as rows come into view. */
export function VirtualList(props: VirtualListProps) {
  const {
    label,
    first = 0,
    count,
    estimate,
    isFixed = false,
    row,
    onRange,
    onTop,
    isFollowing = false,
    onAtEnd,
    handle,
    listKey,
  } = props
  const [, rerender] = useReducer((turn: number) => turn + 1, 0)
  const scroller = useRef<HTMLDivElement>(null)
  const body = useRef<HTMLDivElement>(null)
  const list = useRef<{
    heights: Heights
    key: string | undefined
    isAtEnd: boolean
    focus?: number
  }>(null)
  list.current ??= { heights: new Heights(estimate), key: listKey, isAtEnd: true }
  const state = list.current
  const { heights } = state

  const element = scroller.current
  const anchor = element === null ? undefined : anchorOf(heights, element.scrollTop)
  if (state.key !== listKey) {
    state.key = listKey
    heights.forget()
  }
  heights.cover(first, count)

  const top = element?.scrollTop ?? 0
  const seen = element?.clientHeight ?? 800
  const from = count === 0 ? first : heights.rowAt(Math.max(0, top - BEYOND))
  const end = count === 0 ? first : heights.rowAt(top + seen + BEYOND) + 1

  /** After heights or rows have changed: what was at the top of the view stays there, and the end stays the end. */
  const settle = (kept: Anchor | undefined) => {
    const view = scroller.current
    if (view === null || body.current === null) return
    body.current.style.height = `${heights.total}px`
    if (isFollowing && state.isAtEnd) view.scrollTop = view.scrollHeight
    else if (kept !== undefined && view.scrollTop > 0) {
      const wanted = heights.topOf(kept.number) + kept.offset
      if (Math.abs(view.scrollTop - wanted) >= 1) view.scrollTop = wanted
    }
  }

  const observer = useRef<ResizeObserver>(null)
  observer.current ??= new ResizeObserver((entries) => {
    const view = scroller.current
    if (view === null) return
    const kept = anchorOf(heights, view.scrollTop)
    const changed = entries.filter((entry) => {
      const number = Number((entry.target as HTMLElement).dataset.row)
      // A row that has left the document is reported once more, as nothing.
      return (
        entry.target.isConnected && heights.measure(number, entry.borderBoxSize[0]?.blockSize ?? 0)
      )
    })
    if (changed.length === 0) return
    latest.current.settle(kept)
    rerender(undefined)
  })
  const latest = useRef({ settle, onAtEnd })
  latest.current = { settle, onAtEnd }

  useLayoutEffect(() => settle(anchor), [first, count, listKey])
  useLayoutEffect(() => {
    if (state.focus === undefined) return
    const found = scroller.current?.querySelector<HTMLElement>(
      `[data-row="${state.focus}"] :is(a, button)`,
    )
    if (found) {
      delete state.focus
      found.focus({ preventScroll: true })
    }
  })
  const topRow = count === 0 ? first : heights.rowAt(top + 1)
  useEffect(() => {
    onTop?.(topRow)
  }, [topRow])
  useEffect(() => {
    onRange?.(from, end)
  }, [from, end, listKey])
  useEffect(() => {
    const view = scroller.current!
    const resized = new ResizeObserver(() => {
      latest.current.settle(anchorOf(heights, view.scrollTop))
      rerender(undefined)
    })
    resized.observe(view)
    return () => {
      resized.disconnect()
      observer.current?.disconnect()
    }
  }, [])

  const show: VirtualHandle['show'] = (number, where = 'top') => {
    const view = scroller.current
    if (view === null) return
    const rowTop = heights.topOf(number)
    const rowEnd = rowTop + heights.heightOf(number)
    if (where === 'top' || rowTop < view.scrollTop) view.scrollTop = rowTop
    else if (rowEnd > view.scrollTop + view.clientHeight)
      view.scrollTop = rowEnd - view.clientHeight
    state.isAtEnd = false
    rerender(undefined)
  }
  if (handle)
    handle.current = {
      show,
      focus(number) {
        state.focus = number
        show(number, 'nearest')
      },
      toEnd() {
        state.isAtEnd = true
        const view = scroller.current
        if (view !== null) view.scrollTop = view.scrollHeight
      },
    }

  const onScroll = () => {
    const view = scroller.current!
    const isAtEnd = view.scrollTop + view.clientHeight >= view.scrollHeight - NEAR_END
    if (isAtEnd !== state.isAtEnd) {
      state.isAtEnd = isAtEnd
      latest.current.onAtEnd?.(isAtEnd)
    }
    rerender(undefined)
  }

  return (
    // A region that scrolls has to be reachable by the keyboard, which scrolls it then.
    <div
      class="virtual"
      ref={scroller}
      tabIndex={0}
      role="group"
      aria-label={label}
      onScroll={onScroll}
    >
      <div class="virtual-body" ref={body} style={{ height: `${heights.total}px` }}>
        <div class="virtual-rows" role="list" style={{ top: `${heights.topOf(from)}px` }}>
          {Array.from({ length: end - from }, (_, index) => (
            <Row
              key={`${listKey ?? ''} ${from + index}`}
              number={from + index}
              position={from + index - first + 1}
              count={count}
              observer={isFixed ? undefined : observer.current!}
            >
              {row(from + index)}
            </Row>
          ))}
        </div>
      </div>
    </div>
  )
}

interface Anchor {
  readonly number: number
  readonly offset: number
}

function anchorOf(heights: Heights, scrollTop: number): Anchor | undefined {
  if (heights.count === 0) return undefined
  const number = heights.rowAt(scrollTop)
  return { number, offset: scrollTop - heights.topOf(number) }
}

interface RowProps {
  number: number
  position: number
  count: number
  observer: ResizeObserver | undefined
  children: ComponentChildren
}

function Row({ number, position, count, observer, children }: RowProps) {
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const mine = element.current!
    observer?.observe(mine)
    return () => observer?.unobserve(mine)
  }, [observer])
  return (
    <div
      class="virtual-row"
      ref={element}
      role="listitem"
      data-row={number}
      aria-posinset={position}
      aria-setsize={count}
    >
      {children}
    </div>
  )
}
