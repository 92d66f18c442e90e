import { defined } from '../../../text/defined.ts'
import { UsageError } from '../../context/context.ts'
import {
  checkedFlag,
  enumFlag,
  optionalArgument,
  completions,
  textFlag,
  parseTimeAgo,
  toggle,
} from '../../context/flags.ts'
import { defineProjectCommand } from '../../context/command.ts'

export const ledger = defineProjectCommand({
  brief: 'Show what Stint itself cost and saved',
  about:
    'Tokens put before models, hooks and the time they took, writes, bytes on disk; tokens that were not needed thanks to it.\nWhat is estimated is marked e. With --maintenance: what is worth tidying up now and then.',
  usage: [
    ['', 'the whole project, session by session'],
    ['fix-auth', 'a session, a task or a run'],
    ['--by day --since 7d', 'day by day'],
    ['--maintenance', 'what there is to tidy up, each with its command'],
    ['--maintenance --done', 'it was tidied up'],
  ],
  args: [
    optionalArgument(
      'A session, task or run, by name, id or a unique part of it',
      'NAME',
      completions.sessions,
    ),
  ],
  flags: {
    by: enumFlag(['session', 'task', 'run', 'day'], 'What to take it apart into'),
    since: checkedFlag(textFlag('Only what was since: 7d, 4w, or a date', 'TIME'), parseTimeAgo),
    maintenance: toggle('What there is to tidy up'),
    done: toggle('With --maintenance: it was done, count anew'),
  },
  async run({ project, output, print }, { by, since, maintenance, done = false }, of) {
    if (done && !maintenance)
      throw new UsageError('--done goes with --maintenance', 'stint ledger --maintenance --done')
    if (maintenance && (of !== undefined || by !== undefined || since !== undefined))
      throw new UsageError('--maintenance is about the whole project', 'stint ledger --maintenance')
    const { describeLedger, describeMaintenance } = await import('../../print/ledger.ts')
    if (maintenance) {
      const result = await (done ? project.maintenance.done('cli') : project.maintenance.look())
      return print(result, () => describeMaintenance(result, done, output))
    }
    const grouping = by === 'day' ? undefined : by
    const result = await project.ledger(defined({ of, since, by: grouping }))
    print(result, () => describeLedger(result, defined({ by, since }), output))
  },
})
