// Delegates while they work: drawn in place on a terminal, a line for each change elsewhere.
import { setTimeout as sleep } from 'node:timers/promises'
import type { DelegateRow } from '../../library.ts'
import type { CliContext, Interrupt } from '../context/context.ts'
import {
  type DelegateInvocation,
  idsOf,
  readProjectDelegates,
} from '../context/delegate-command.ts'
import { delegateTable, delegateStatusLine } from './delegate.ts'
import { LiveBlock, liveTerminal } from './terminal/live.ts'
import { localTime } from './terminal/text.ts'

const EVERY_MS = 1000

interface WatchOptions {
  readonly look: () => Promise<readonly DelegateRow[]>
  readonly tasks: ReadonlyMap<string, string>
  readonly hint: string
}

interface DelegateView {
  show(rows: readonly DelegateRow[]): void
  end(): void
}

/** Shows delegates for as long as `work` takes, and leaves nothing of it on a terminal. */
export async function watchDelegates<T>(
  context: CliContext,
  work: Promise<T>,
  options: WatchOptions,
): Promise<T> {
  const view = tableView(context, options) ?? changeLines(context)
  const over = new AbortController()
  const looking = (async () => {
    for (;;) {
      view.show(await options.look())
      await sleep(EVERY_MS, undefined, { signal: over.signal })
    }
  })()
  try {
    // Reading may fail as well; else it ends only because it is aborted.
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

function tableView(context: CliContext, { tasks, hint }: WatchOptions): DelegateView | undefined {
  const terminal = liveTerminal(context)
  if (terminal === undefined) return undefined
  let shown: readonly DelegateRow[] = []
  const block = new LiveBlock(terminal, ({ columns, rows, now }) => {
    if (shown.length === 0) return []
    const lines = [...delegateTable(shown, { now, tasks, width: columns }), hint]
    // A block higher than the screen cannot be drawn over; the youngest are at its end.
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
  const said = new Map<string, string>()
  return {
    show(rows) {
      for (const row of rows) {
        const words = delegateStatusLine(row)
        if (said.get(row.id) === words) continue
        said.set(row.id, words)
        stderr.write(`${localTime(row.since)}  ${words}\n`)
      }
    },
    end() {},
  }
}

/** Shows these until none of them is at work, and returns their rows then. */
export async function waitAndPrintDelegates(
  context: CliContext,
  scene: DelegateInvocation,
  rows: readonly DelegateRow[],
  interrupt: Interrupt,
): Promise<readonly DelegateRow[]> {
  const ids = idsOf(rows)
  const look = () => readProjectDelegates(scene, ids)
  const tasks = await scene.taskNames(rows.map(({ task }) => task))
  const ended = scene.delegates.wait([...ids], { isStopped: interrupt.signal })
  const hint = 'Ctrl-C ends the waiting; they go on'
  await watchDelegates(context, interrupt.race(ended), { look, tasks, hint })
  return look()
}
