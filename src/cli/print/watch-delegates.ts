// Shows active delegates: drawn in place on a terminal, a line for each change elsewhere.
import { setTimeout as sleep } from 'node:timers/promises'
import type { DelegateRow } from '../../library.ts'
import type { CliContext, Interrupt } from '../context/context.ts'
import {
  type DelegateInvocation,
  idsOf,
  readProjectDelegates,
} from '../context/delegate-command.ts'
import { delegateTable, delegateStatusLine } from './delegate.ts'
import { LiveBlock, liveTerminal } from './terminal/live-block.ts'
import { localTime } from './terminal/text.ts'

const POLL_MS = 1000

interface WatchOptions {
  readonly readRows: () => Promise<readonly DelegateRow[]>
  readonly tasks: ReadonlyMap<string, string>
  readonly hint: string
}

interface DelegateView {
  show(rows: readonly DelegateRow[]): void
  end(): void
}

/** Shows delegates until `work` is done, and leaves nothing on the terminal. */
export async function watchDelegates<T>(
  context: CliContext,
  work: Promise<T>,
  options: WatchOptions,
): Promise<T> {
  const view = tableView(context, options) ?? changeLines(context)
  const done = new AbortController()
  const polling = (async () => {
    for (;;) {
      view.show(await options.readRows())
      await sleep(POLL_MS, undefined, { signal: done.signal })
    }
  })()
  try {
    // The reading loop ends only by an error or an abort.
    const value = await Promise.race([work, polling])
    // The last change came after the last read.
    view.show(await options.readRows())
    return value
  } finally {
    done.abort()
    await polling.catch(() => undefined)
    view.end()
  }
}

function tableView(context: CliContext, { tasks, hint }: WatchOptions): DelegateView | undefined {
  const terminal = liveTerminal(context)
  if (terminal === undefined) return undefined
  let shown: readonly DelegateRow[] = []
  const block = new LiveBlock(terminal, ({ columns, rows, now }) => {
    if (shown.length === 0) return []
    const lines = [...delegateTable(shown, { now, tasks, width: columns }), hint]
    // A block taller than the screen cannot be redrawn; the newest rows are at its end.
    return lines.length < rows ? lines : [lines[0]!, ...lines.slice(-Math.max(1, rows - 2))]
  })
  return {
    show(rows) {
      shown = rows
      block.scheduleDraw()
    },
    end: () => block.pause(),
  }
}

function changeLines({ process: { stderr } }: CliContext): DelegateView {
  const printed = new Map<string, string>()
  return {
    show(rows) {
      for (const row of rows) {
        const line = delegateStatusLine(row)
        if (printed.get(row.id) === line) continue
        printed.set(row.id, line)
        stderr.write(`${localTime(row.since)}  ${line}\n`)
      }
    },
    end() {},
  }
}

/** Shows these until none of them is active, and returns their final rows. */
export async function waitAndPrintDelegates(
  invocation: DelegateInvocation,
  rows: readonly DelegateRow[],
  interrupt: Interrupt,
): Promise<readonly DelegateRow[]> {
  const ids = idsOf(rows)
  const readRows = () => readProjectDelegates(invocation, ids)
  const tasks = await invocation.taskNames(rows.map(({ task }) => task))
  const allDone = invocation.delegates.wait([...ids], { isStopped: interrupt.signal })
  const hint = 'Ctrl-C ends the waiting; they go on'
  await watchDelegates(invocation.context, interrupt.race(allDone), { readRows, tasks, hint })
  return readRows()
}
