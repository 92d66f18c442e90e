// Looking at delegates, and waiting for them.
import type { DelegateRow } from '../../../library.ts'
import { buildCommand } from '@stricli/core'
import { chosenDelegates, delegateNames, withDelegates } from '../../context/with-delegates.ts'
import type { Context } from '../../context/context.ts'
import {
  describeDetail,
  describeShort,
  isAtWork,
  isGood,
  rowWithNext,
} from '../../print/delegate.ts'
import { json, text } from '../../context/flags.ts'
import { Interrupt } from '../../context/interrupt.ts'
import { propose } from '../../context/propose.ts'
import { waitFor } from '../../print/watch-delegates.ts'

export const show = buildCommand<{ json?: boolean }, [string?], Context>({
  docs: {
    brief: 'Show everything about a delegate',
    fullDescription:
      'How it stands and why, its order, branch and worktree, its commits and what they change, what it said of its work, its attempts, what it\nspent, where its log is and what to do next. Without a name: all whose work is neither merged nor discarded, in short.',
    customUsage: [
      { input: 'fix-login', brief: 'one, by its name or id, or a part that only it has' },
      { input: '', brief: 'all that are not settled' },
    ],
  },
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        {
          parse: String,
          brief: 'The delegate',
          placeholder: 'NAME',
          optional: true,
          proposeCompletions: propose.delegates,
        },
      ],
    },
    flags: { json },
  },
  async func(flags, name) {
    await withDelegates(this, flags, async (scene) => {
      const { delegates, output, shown, taskNames } = scene
      const now = new Date().toISOString()
      if (name !== undefined) {
        const detail = shown(await delegates.show(name))
        const tasks = await taskNames([detail.task])
        return output.result(flags.json, detail, () =>
          describeDetail(detail, { now, tasks }, output),
        )
      }
      const rows = shown(await chosenDelegates(scene, { names: [], fits: isUnsettled }))
      output.result(flags.json, rows, () =>
        rows.length === 0
          ? 'No delegate has work to be settled: stint delegates --all lists those there were.'
          : rows.map((row) => describeShort(row, { now }, output)).join('\n\n'),
      )
    })
  },
})

function isUnsettled({ status }: DelegateRow): boolean {
  return status !== 'merged' && status !== 'discarded'
}

export const wait = buildCommand<{ group?: string; json?: boolean }, string[], Context>({
  docs: {
    brief: 'Wait until delegates are done',
    fullDescription:
      'Until none of them is at work. Ctrl-C ends the waiting, and not the delegates.\nExit codes: 0 all are ready or merged, 1 otherwise, 130 interrupted.',
    customUsage: [
      { input: '', brief: 'for all that are at work' },
      { input: 'fix-login write-tests', brief: 'for these' },
      { input: '--group release', brief: 'for those of a group' },
    ],
  },
  parameters: {
    positional: delegateNames('The delegates; all that are at work when absent'),
    flags: { group: text('Only those of this group', 'GROUP'), json },
  },
  async func(flags, ...names) {
    await withDelegates(this, flags, async (scene) => {
      const { group } = flags
      const { output } = scene
      const rows = await chosenDelegates(scene, {
        names,
        group,
        fits: (row) => group !== undefined || isAtWork(row),
      })
      if (rows.length === 0) return output.result(flags.json, [], () => 'No delegate is at work.')
      const interrupt = new Interrupt()
      try {
        const ended = await waitFor(this, scene, rows, interrupt)
        output.result(flags.json, ended, () => ended.map(rowWithNext).join('\n'))
        this.process.exitCode = interrupt.exitCode(ended.every(isGood))
      } finally {
        interrupt.dispose()
      }
    })
  },
})
