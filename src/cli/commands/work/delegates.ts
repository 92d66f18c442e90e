import type { DelegateRow } from '../../../library.ts'
import { buildCommand } from '@stricli/core'
import { chosenDelegates, withDelegates } from '../../context/with-delegates.ts'
import type { Context } from '../../context/context.ts'
import { describeDelegates, isAtWork, isRecent } from '../../print/delegate.ts'
import { Misuse } from '../../context/errors.ts'
import { json, text, toggle } from '../../context/flags.ts'
import { Interrupt, onQuitKey } from '../../context/interrupt.ts'
import { liveTerminal } from '../../print/terminal/live.ts'
import { watching } from '../../print/watch-delegates.ts'

interface DelegatesFlags {
  readonly all?: boolean
  readonly group?: string
  readonly watch?: boolean
  readonly json?: boolean
}

export const delegates = buildCommand<DelegatesFlags, [], Context>({
  docs: {
    brief: 'List the delegates',
    fullDescription:
      'How each stands, how long it worked, what it spent, how many commits it made and what to do next.\nWhat was merged or discarded more than a day ago is counted only.',
    customUsage: [
      { input: '', brief: 'those that are at work, and what is to be settled' },
      { input: '--watch', brief: 'live, until none is at work' },
      { input: '--all --group release', brief: 'every one of a group' },
    ],
  },
  parameters: {
    flags: {
      all: toggle('Also what was merged or discarded long ago'),
      group: text('Only those of this group', 'GROUP'),
      watch: toggle('Show them live, until none is at work; q ends it'),
      json,
    },
  },
  async func(flags) {
    await withDelegates(this, flags, async (scene) => {
      if (flags.watch === true) refuseToWatch(this, flags)
      const look = async () =>
        scene.shown(
          await chosenDelegates(scene, { names: [], group: flags.group, fits: () => true }),
        )
      let rows = await look()
      const tasks = await scene.taskNames(rows.map(({ task }) => task))
      const recent = (all: readonly DelegateRow[]) =>
        flags.all === true ? all : all.filter((row) => isRecent(row, new Date().toISOString()))
      if (flags.watch === true && rows.some(isAtWork)) {
        await watch(this, async () => recent(await look()), tasks)
        rows = await look()
      }
      const chosen = recent(rows)
      const now = new Date().toISOString()
      scene.output.result(flags.json, chosen, () =>
        describeDelegates(
          chosen,
          rows.length - chosen.length,
          { now, tasks, ...widthOf(this) },
          scene.output,
        ),
      )
    })
  },
})

function refuseToWatch(context: Context, flags: DelegatesFlags): void {
  if (flags.json === true)
    throw new Misuse('--watch is for a person, and --json for a program', 'leave one of them out')
  if (liveTerminal(context) !== undefined) return
  throw new Misuse(
    '--watch needs a terminal to draw on',
    'stint delegate wait tells each change on a line',
  )
}

/** Only looks: what goes on is not touched by it. */
async function watch(
  context: Context,
  look: () => Promise<readonly DelegateRow[]>,
  tasks: ReadonlyMap<string, string>,
): Promise<void> {
  const interrupt = new Interrupt()
  const endKeys = onQuitKey(interrupt.now)
  let noneLeft = (): void => {}
  const untilNone = new Promise<void>((resolve) => (noneLeft = resolve))
  const lookFor = async () => {
    const rows = await look()
    if (!rows.some(isAtWork)) noneLeft()
    return rows
  }
  try {
    await watching(context, interrupt.orUndefined(untilNone), {
      look: lookFor,
      tasks,
      hint: 'q ends the watching; they go on',
    })
  } finally {
    endKeys()
    interrupt.dispose()
  }
}

/** A table on a terminal stays within it; elsewhere all of it is told. */
function widthOf({ process: { stdout } }: Context): { width?: number } {
  const { isTTY, columns } = stdout as { isTTY?: boolean; columns?: number }
  return isTTY === true && columns !== undefined && columns > 0 ? { width: columns } : {}
}
