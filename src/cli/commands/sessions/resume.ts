import { buildCommand } from '@stricli/core'
import type { Context } from '../../context/context.ts'
import { describeResumed, printList, resumedJson } from '../../print/session.ts'
import { json, optionalSession, toggle } from '../../context/flags.ts'
import { withProject } from '../../context/with-project.ts'
import { defined } from '../../../text/defined.ts'

interface Flags {
  readonly last?: boolean
  readonly list?: boolean
  readonly json?: boolean
}

export const resume = buildCommand<Flags, [string?], Context>({
  docs: {
    brief: 'Go on with a session',
    fullDescription:
      'Shows where you left off, what git did since, and the resume commands, which are shown and never run. An agent is also told what the repository is.',
    customUsage: [
      { input: '', brief: 'the active session, else the one worked on last' },
      { input: 'fix-auth', brief: 'one by short name, id, or any unique part of its id' },
      { input: '--last', brief: 'the one worked on last, whichever is active here' },
      { input: '--list', brief: 'which ones there are' },
    ],
  },
  parameters: {
    positional: optionalSession('The session to resume'),
    flags: {
      last: toggle('The session worked on last'),
      list: toggle('List the sessions that can be resumed'),
      json,
    },
  },
  async func(flags, name) {
    await withProject(this, flags, async (project, output, pick) => {
      if (flags.list === true) {
        printList(await project.list({ status: ['active', 'paused'] }), flags.json, output)
        return
      }
      const resumed = await project.resume({
        by: 'cli',
        // Whoever sits before a terminal knows their project.
        withProject: !this.canAsk,
        ...defined({ session: await pick(name), last: flags.last }),
      })
      const { id, tasks } = resumed.reading.state
      const waiting = await project.handoffs.waiting({ session: id, tasks })
      output.result(flags.json, resumedJson(resumed, waiting), () =>
        describeResumed(resumed, output, waiting),
      )
    })
  },
})
