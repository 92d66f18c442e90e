// Delegates while they work: drawn in place on a terminal, a line for each change elsewhere.
import type { DelegateRow } from '../../library.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { clock } from './terminal/amounts.ts'
import type { Context } from '../context/context.ts'
import { delegateTable, rowLine } from './delegate.ts'
import { type Terminal, LiveBlock } from './terminal/live-block.ts'
import { type DelegateScene, idsOf, standing } from '../context/with-delegates.ts'
import type { Interrupt } from '../context/interrupt.ts'

const EVERY_MS = 1000

export interface WatchOptions {
  /** What to show, asked for again each second. */
  readonly look: () => Promise<readonly DelegateRow[]>
  readonly tasks: ReadonlyMap<string, string>
  /** Below the table, on a terminal. */
  readonly hint: string
}

/** Shows delegates for as long as `work` takes, and leaves nothing of it on a terminal. */
export async function watching<T>(
  context: Context,
  work: Promise<T>,
  options: WatchOptions,
): Promise<T> {
  const view = isLive(context) ? new TableView(context, options) : new ChangeLines(context)
  const over = new AbortController()
  const looking = (async () => {
    for (;;) {
      view.show(await options.look())
      await sleep(EVERY_MS, undefined, { signal: over.signal })
    }
  })()
  try {
    // Whoever looks may fail as well; else it ends only because it is told to.
    const value = await Promise.race([work, looking])
    // The last change came after the last look.
    view.show(await options.look())
    return value
  } finally {
    over.abort()
    await looking.catch(() => undefined)
    view.end()
  }
}

interface DelegateView {
  show(rows: readonly DelegateRow[]): void
  end(): void
}

export function isLive({ process: { stderr }, env }: Context): boolean {
  return (
    (stderr as { readonly isTTY?: boolean }).isTTY === true &&
    env.CI === undefined &&
    env.TERM !== 'dumb'
  )
}

class TableView implements DelegateView {
  readonly #block: LiveBlock
  #rows: readonly DelegateRow[] = []

  constructor(context: Context, { tasks, hint }: WatchOptions) {
    this.#block = new LiveBlock(context.process.stderr as Terminal, ({ columns, rows, now }) => {
      if (this.#rows.length === 0) return []
      const lines = [...delegateTable(this.#rows, { now, tasks, width: columns }), hint]
      // A block higher than the screen cannot be drawn over; the youngest stand at its end.
      return lines.length < rows ? lines : [lines[0]!, ...lines.slice(-Math.max(1, rows - 2))]
    })
  }

  show(rows: readonly DelegateRow[]): void {
    this.#rows = rows
    this.#block.soon()
  }

  end(): void {
    this.#block.pause()
  }
}

class ChangeLines implements DelegateView {
  readonly #said = new Map<string, string>()
  readonly #context: Context

  constructor(context: Context) {
    this.#context = context
  }

  show(rows: readonly DelegateRow[]): void {
    for (const row of rows) {
      const words = rowLine(row)
      if (this.#said.get(row.id) === words) continue
      this.#said.set(row.id, words)
      this.#context.process.stderr.write(`${clock(row.since)}  ${words}\n`)
    }
  }

  end(): void {}
}

const HINT = 'Ctrl-C ends the waiting; they go on'

/** Shows these until none of them is at work, and answers how they stand then. */
export async function waitFor(
  context: Context,
  scene: DelegateScene,
  rows: readonly DelegateRow[],
  interrupt: Interrupt,
): Promise<readonly DelegateRow[]> {
  const ids = idsOf(rows)
  const look = () => standing(scene, ids)
  const tasks = await scene.taskNames(rows.map(({ task }) => task))
  const ended = scene.delegates.wait([...ids], { isStopped: interrupt.signal })
  await watching(context, interrupt.orUndefined(ended), { look, tasks, hint: HINT })
  return look()
}
