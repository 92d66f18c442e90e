// Ending delegates, beginning them again, giving them up.
import { refuseInRun } from '../../../core.ts'
import type { DelegateRow } from '../../../library.ts'
import { plural, shellWord } from '../../print/terminal/text.ts'
import { buildCommand } from '@stricli/core'
import {
  chosenDelegates,
  delegateNames,
  idsOf,
  standing,
  withDelegates,
} from '../../context/with-delegates.ts'
import type { Context } from '../../context/context.ts'
import { isAtWork, nameOf, rowLine, rowWithNext } from '../../print/delegate.ts'
import { Misuse } from '../../context/errors.ts'
import { json, text, toggle } from '../../context/flags.ts'
import { defined } from '../../../text/defined.ts'

export const stop = buildCommand<{ json?: boolean }, string[], Context>({
  docs: {
    brief: 'Stop delegates now',
    fullDescription:
      'Ends the agent and everything that it started. What it has not committed is committed to its branch as it was found.\nstint delegate retry begins it again.',
    customUsage: [
      { input: 'fix-login', brief: 'this one' },
      { input: '', brief: 'all that are at work' },
    ],
  },
  parameters: {
    positional: delegateNames('The delegates; all that are at work when absent'),
    flags: { json },
  },
  async func(flags, ...names) {
    await withDelegates(this, flags, async (scene) => {
      refuseInRun(this, 'stopping a delegate')
      const rows = await chosenDelegates(scene, { names, fits: isUnderWay })
      const { output } = scene
      if (rows.length === 0) return output.result(flags.json, [], () => 'No delegate is at work.')
      await scene.delegates.stop([...idsOf(rows)])
      const stopped = await standing(scene, idsOf(rows))
      output.result(flags.json, stopped, () => stopped.map(rowWithNext).join('\n'))
    })
  },
})

/** Also one that nobody runs any more: it has work to be kept. */
function isUnderWay({ status }: DelegateRow): boolean {
  return status === 'running' || status === 'merging'
}

export const retry = buildCommand<{ note?: string; json?: boolean }, string[], Context>({
  docs: {
    brief: 'Begin delegates again, with what went wrong',
    fullDescription:
      'On the same branch, with all that it did. It is told what failed, what conflicts, or what you note.',
    customUsage: [
      { input: 'fix-login', brief: 'this one' },
      { input: 'fix-login --note "Leave the cookie alone"', brief: 'with a word from you' },
      { input: '', brief: 'all that failed, conflicted, are parked or were left behind' },
    ],
  },
  parameters: {
    positional: delegateNames('The delegates; all that did not come to an end when absent'),
    flags: { note: text('What it should know this time'), json },
  },
  async func(flags, ...names) {
    await withDelegates(this, flags, async (scene) => {
      refuseInRun(this, 'beginning a delegate again')
      if (flags.note?.trim() === '')
        throw new Misuse('--note is empty', 'leave it out, or say something')
      const rows = await chosenDelegates(scene, { names, fits: hasNotSucceeded })
      const { output } = scene
      if (rows.length === 0)
        return output.result(
          flags.json,
          [],
          () => 'No delegate has failed, conflicted or is parked.',
        )
      await scene.delegates.retry([...idsOf(rows)], defined({ note: flags.note }))
      const begun = await standing(scene, idsOf(rows))
      output.result(flags.json, begun, () => begun.map(rowWithNext).join('\n'))
    })
  },
})

function hasNotSucceeded({ status, isOrphaned }: DelegateRow): boolean {
  return (
    status === 'failed' ||
    status === 'conflicted' ||
    status === 'parked' ||
    (status === 'running' && isOrphaned)
  )
}

export const discard = buildCommand<{ yes?: boolean; json?: boolean }, string[], Context>({
  docs: {
    brief: 'Give delegates up',
    fullDescription:
      'Removes the worktree and the branch. What was committed is kept under refs/stint/, and it says how each is got back.\nA worktree with what is in no commit, ignored results included, is left, and so is its branch.\nA name is given in full. Several at once are asked about, or need --yes.',
    customUsage: [
      { input: 'fix-login', brief: 'this one' },
      { input: '--yes', brief: 'all that are not merged and not at work' },
    ],
  },
  parameters: {
    positional: delegateNames('The delegates; all that are not merged and not at work when absent'),
    flags: { yes: toggle('Do not ask'), json },
  },
  async func(flags, ...names) {
    await withDelegates(this, flags, async (scene) => {
      refuseInRun(this, 'discarding a delegate')
      const rows = await chosenDelegates(scene, { names, isExact: true, fits: isLeftOver })
      const { output } = scene
      if (rows.length === 0)
        return output.result(flags.json, [], () => 'There is no delegate to discard.')
      const isSure = flags.yes === true || (names.length > 0 && rows.length === 1)
      if (!isSure && !(await asked(this, flags, scene.shown(rows))))
        return output.talk('nothing was discarded')
      await scene.delegates.discard([...idsOf(rows)])
      const gone = await standing(scene, idsOf(rows))
      output.result(flags.json, gone, () => gone.map(discarded).join('\n'))
    })
  },
})

function isLeftOver(row: DelegateRow): boolean {
  return row.status !== 'merged' && row.status !== 'discarded' && !isAtWork(row)
}

async function asked(
  context: Context,
  flags: { json?: boolean },
  rows: readonly DelegateRow[],
): Promise<boolean> {
  const what = plural(rows.length, 'delegate')
  if (!context.canAsk || flags.json === true) {
    throw new Misuse(
      `this would discard ${what}: ${rows.map(nameOf).join(', ')}`,
      'add --yes if that is meant, or name one',
    )
  }
  const { askYes } = await import('../../context/ask.ts')
  context.process.stderr.write(`${rows.map(rowLine).join('\n')}\n`)
  return askYes(
    `Discard ${rows.length === 1 ? 'it' : `these ${rows.length}`}? What was committed is kept.`,
  )
}

function discarded(row: DelegateRow): string {
  const back =
    row.left !== undefined
      ? `   its branch is left too: git -C ${shellWord(row.tree)} log ${shellWord(row.branch)}`
      : row.kept === undefined
        ? '   it had no commits of its own'
        : `   get it back: git branch ${shellWord(row.branch)} ${shellWord(row.kept)}`
  return `${rowLine(row)}\n${back}`
}
