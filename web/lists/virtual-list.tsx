import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useReducer, useRef } from 'preact/hooks'
import { Heights } from './heights.ts'

export interface VirtualHandle {
  /** Scrolls a row into view: to the top, or as little as possible. */
  show(number: number, where?: 'top' | 'nearest'): void
  /** Shows a row and focuses its first link or button. */
  focus(number: number): void
  toEnd(): void
}

export interface VirtualListProps {
  /** For screen readers. */
  readonly label: string
  /** The number of the first row. It becomes negative as earlier rows are prepended, so the others keep their numbers. */
  readonly first?: number
  readonly count: number
  /** The approximate row height; exact when `isFixed`. */
  readonly estimate: number
  readonly isFixed?: boolean
  readonly row: (number: number) => ComponentChildren
  /** Called with the rendered rows when they change. The end is exclusive. */
  readonly onRange?: (from: number, end: number) => void
  /** Called when another row is at the top of the view. */
  readonly onTop?: (number: number) => void
  /** Whether it stays scrolled to the end when rows are appended. */
  readonly isFollowing?: boolean
  readonly onAtEnd?: (isAtEnd: boolean) => void
  readonly handle?: RefObject<VirtualHandle | null>
  /** Changes when the numbers belong to another list. */
  readonly listKey?: string
}

const OVERSCAN = 600
const END_DISTANCE = 24

/** Renders only the visible rows of a list of any length. Heights are measured as rows come into view. */
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
  const viewHeight = element?.clientHeight ?? 800
  const from = count === 0 ? first : heights.rowAt(Math.max(0, top - OVERSCAN))
  const end = count === 0 ? first : heights.rowAt(top + viewHeight + OVERSCAN) + 1

  /** After heights or rows changed: keeps the row at the top of the view in place, or stays at the end. */
  const restoreScroll = (anchor: Anchor | undefined) => {
    const view = scroller.current
    if (view === null || body.current === null) return
    body.current.style.height = `${heights.total}px`
    if (isFollowing && state.isAtEnd) view.scrollTop = view.scrollHeight
    else if (anchor !== undefined && view.scrollTop > 0) {
      const wanted = heights.topOf(anchor.number) + anchor.offset
      if (Math.abs(view.scrollTop - wanted) >= 1) view.scrollTop = wanted
    }
  }

  const observer = useRef<ResizeObserver>(null)
  observer.current ??= new ResizeObserver((entries) => {
    const view = scroller.current
    if (view === null) return
    const anchor = anchorOf(heights, view.scrollTop)
    const changed = entries.filter((entry) => {
      const number = Number((entry.target as HTMLElement).dataset.row)
      // A removed row is reported once more with height zero.
      return (
        entry.target.isConnected && heights.measure(number, entry.borderBoxSize[0]?.blockSize ?? 0)
      )
    })
    if (changed.length === 0) return
    latest.current.restoreScroll(anchor)
    rerender(undefined)
  })
  const latest = useRef({ restoreScroll, onAtEnd })
  latest.current = { restoreScroll, onAtEnd }

  useLayoutEffect(() => restoreScroll(anchor), [first, count, listKey])
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
      latest.current.restoreScroll(anchorOf(heights, view.scrollTop))
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
    const view = scroller.current
    // The event comes with the next frame, when the list may be gone.
    if (view === null) return
    const isAtEnd = view.scrollTop + view.clientHeight >= view.scrollHeight - END_DISTANCE
    if (isAtEnd !== state.isAtEnd) {
      state.isAtEnd = isAtEnd
      latest.current.onAtEnd?.(isAtEnd)
    }
    rerender(undefined)
  }

  return (
    // A scrollable region must be focusable to be scrolled by keyboard.
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
    const own = element.current!
    observer?.observe(own)
    return () => observer?.unobserve(own)
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
