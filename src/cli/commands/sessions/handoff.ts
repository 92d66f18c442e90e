import { publicHandoff } from '../../../public.ts'
import { buildCommand, buildRouteMap } from '@stricli/core'
import type { Context } from '../../context/context.ts'
import {
  describeAccepted,
  describeMade,
  describeShown,
  handoffJson,
  handoffLine,
} from '../../print/handoff.ts'
import { EXIT } from '../../context/errors.ts'
import { json, number, optionalName, optionalSession, text, toggle } from '../../context/flags.ts'
import { withProject } from '../../context/with-project.ts'
import { defined } from '../../../text/defined.ts'

interface CreateFlags {
  readonly reason?: string
  readonly to?: string
  readonly draft?: boolean
  readonly noCode?: boolean
  readonly tokens?: number
  readonly json?: boolean
}

const create = buildCommand<CreateFlags, [string?], Context>({
  docs: {
    brief: 'Make the document by which the session is passed on',
    fullDescription:
      'Built from the journal and the repository, without a model: objective, next action, blockers, uncommitted work and where it\nis kept, then what else helps, as far as there is room. What can be checked is checked now, and tagged verified or unverified.\nA checkpoint keeps the code with it.',
    customUsage: [
      { input: '--reason "The context is nearly full"', brief: 'for the next conversation' },
      { input: '--to write-docs', brief: 'for another task, or another session' },
      { input: 'fix-auth --draft --tokens 1200', brief: 'a short one, early, without the code' },
    ],
  },
  parameters: {
    positional: optionalSession('The session to hand over'),
    flags: {
      reason: text('Why it is handed over'),
      to: text('The task or session it is for', 'TASK|SESSION'),
      draft: toggle('Make it early and quickly, without keeping the code'),
      noCode: toggle('Keep the journal only, not the working tree'),
      tokens: number('What it may cost a model: 600 to 12000, 3000 when absent'),
      json,
    },
  },
  async func(flags, name) {
    await withProject(this, flags, async (project, output, pick) => {
      const made = await project.handoffs.create({
        by: 'cli',
        ...defined({
          session: await pick(name),
          reason: flags.reason,
          to: flags.to,
          draft: flags.draft,
          tokens: flags.tokens,
        }),
        ...(flags.noCode === true ? { code: false } : {}),
      })
      const value = {
        ...handoffJson(made.handoff, made.state),
        path: made.path,
        leftOut: made.leftOut,
      }
      output.result(flags.json, value, () => describeMade(made, this.cwd, output))
    })
  },
})

const which =
  'a number or part of an id of the session at hand, SESSION/NUMBER, or SESSION for its latest; the latest when absent'

const show = buildCommand<{ check?: boolean; json?: boolean }, [string?], Context>({
  docs: {
    brief: 'Show a handoff as it was recorded',
    customUsage: [
      { input: '', brief: 'the latest' },
      { input: 'fix-auth/2', brief: 'the second of a session' },
      { input: '--check', brief: 'what of it still holds; exit 1 when something moved' },
    ],
  },
  parameters: {
    positional: optionalName(`The handoff: ${which}`, 'SESSION|ID'),
    flags: {
      check: toggle('Compare it with the journal and the repository as they are now'),
      json,
    },
  },
  async func(flags, name) {
    await withProject(this, flags, async (project, output) => {
      const shown = await project.handoffs.show(defined({ handoff: name, check: flags.check }))
      const { handoff, session, path, file, moved } = shown
      if (file === 'edited')
        output.talk(`${path} was edited or damaged since; shown is what was recorded`)
      if (file === 'missing') output.talk(`${path} was gone and is written again`)
      output.result(flags.json, { ...handoffJson(handoff, session), path, file, moved }, () =>
        describeShown(shown),
      )
      if ((moved ?? []).length > 0 || (flags.check === true && file === 'edited'))
        this.process.exitCode = EXIT.failure
    })
  },
})

const list = buildCommand<{ json?: boolean }, [string?], Context>({
  docs: { brief: 'List the handoffs of a session' },
  parameters: { positional: optionalSession('The session'), flags: { json } },
  async func(flags, name) {
    await withProject(this, flags, async (project, output, pick) => {
      const { session, handoffs } = await project.handoffs.list(
        defined({ session: await pick(name) }),
      )
      const values = handoffs.map((handoff) => publicHandoff(handoff, session))
      output.result(flags.json, values, () =>
        handoffs.length === 0
          ? 'No handoffs yet: stint handoff create makes one.'
          : handoffs.map(handoffLine).join('\n'),
      )
    })
  },
})

const accept = buildCommand<{ force?: boolean; json?: boolean }, [string?], Context>({
  docs: {
    brief: 'Take a handoff up, if it still holds',
    fullDescription:
      'Checks that the document is the one that was made, and that HEAD, branch, files, journal and tasks are as it says. If so, prints\nit and goes on with the session; if not, says exactly what moved and exits with 1. Either way it is recorded.',
    customUsage: [
      { input: '', brief: 'the latest of the session at hand' },
      { input: 'fix-auth/2', brief: 'the second of a session' },
      { input: 'handoff.md', brief: 'a document, also where its journal is not' },
      { input: '--force', brief: 'although something moved' },
    ],
  },
  parameters: {
    positional: optionalName(`The handoff: ${which}; or the path of a document`, 'SESSION|ID|FILE'),
    flags: { force: toggle('Take it up although it is stale or was changed'), json },
  },
  async func(flags, name) {
    await withProject(this, flags, async (project, output) => {
      const accepted = await project.handoffs.accept({
        by: 'cli',
        ...defined({ handoff: name, force: flags.force }),
      })
      for (const note of accepted.notes) output.talk(note)
      const { isTaken, text: document, ...rest } = accepted
      const value = { ...rest, isTakenUp: isTaken, document: isTaken ? document : undefined }
      output.result(flags.json, value, () => describeAccepted(accepted, output))
      if (!isTaken) this.process.exitCode = EXIT.failure
    })
  },
})

export const handoff = buildRouteMap<'create' | 'show' | 'list' | 'accept', Context>({
  routes: { create, show, list, accept },
  docs: { brief: 'Pass a session on to the next conversation, and take one up' },
})
