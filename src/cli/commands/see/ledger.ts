import { buildCommand } from '@stricli/core'
import type { Context } from '../../context/context.ts'
import { Misuse } from '../../context/errors.ts'
import { json, text, timeAgo, toggle } from '../../context/flags.ts'
import { propose } from '../../context/propose.ts'
import { withProject } from '../../context/with-project.ts'
import { defined } from '../../../text/defined.ts'

interface Flags {
  readonly by?: (typeof BY)[number]
  readonly since?: string
  readonly maintenance?: boolean
  readonly done?: boolean
  readonly json?: boolean
}

const BY = ['session', 'task', 'run', 'day'] as const

export const ledger = buildCommand<Flags, [string?], Context>({
  docs: {
    brief: 'Show what Stint itself cost and saved',
    fullDescription:
      'Tokens put before models, hooks and the time they took, writes, bytes on disk; tokens that were not needed thanks to it.\nWhat is estimated is marked e. With --maintenance: what is worth tidying up now and then.',
    customUsage: [
      { input: '', brief: 'the whole project, session by session' },
      { input: 'fix-auth', brief: 'a session, a task or a run' },
      { input: '--by day --since 7d', brief: 'day by day' },
      { input: '--maintenance', brief: 'what there is to tidy up, each with its command' },
      { input: '--maintenance --done', brief: 'it was tidied up' },
    ],
  },
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        {
          parse: String,
          brief: 'A session, task or run, by name, id or a unique part of it',
          placeholder: 'NAME',
          optional: true,
          proposeCompletions: propose.sessions,
        },
      ],
    },
    flags: {
      by: { kind: 'enum', values: BY, brief: 'What to take it apart into', optional: true },
      since: text('Only what was since: 7d, 4w, or a date', 'TIME'),
      maintenance: toggle('What there is to tidy up'),
      done: toggle('With --maintenance: it was done, count anew'),
      json,
    },
  },
  async func(flags, name) {
    refuseMixed(flags, name)
    await withProject(this, flags, async (project, output) => {
      const { describeLedger, describeMaintenance } = await import('../../print/ledger.ts')
      if (flags.maintenance === true) {
        const found =
          flags.done === true
            ? await project.maintenance.done('cli')
            : await project.maintenance.look()
        output.result(flags.json, found, () =>
          describeMaintenance(found, flags.done === true, output),
        )
        return
      }
      const since = flags.since === undefined ? undefined : timeAgo(flags.since)
      const by = flags.by === 'day' ? undefined : flags.by
      const found = await project.ledger(defined({ of: name, since, by }))
      output.result(flags.json, found, () =>
        describeLedger(found, defined({ by: flags.by, since }), output),
      )
    })
  },
})

function refuseMixed({ by, done, maintenance, since }: Flags, name: string | undefined): void {
  if (maintenance !== true) {
    if (done === true)
      throw new Misuse('--done goes with --maintenance', 'stint ledger --maintenance --done')
    return
  }
  if (name !== undefined || by !== undefined || since !== undefined)
    throw new Misuse('--maintenance is about the whole project', 'stint ledger --maintenance')
}
