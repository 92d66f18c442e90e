import { count, tldrOf } from '../../../core.ts'
import type { SessionState } from '../../../library.ts'
import { publicSessionHead } from '../../../public.ts'
import { indent, plural } from '../../print/terminal/text.ts'
import { buildCommand } from '@stricli/core'
import { duration } from '../../../text/times.ts'
import type { Context } from '../../context/context.ts'
import { describeResumed, progressLine, resumedJson } from '../../print/session.ts'
import { Misuse } from '../../context/errors.ts'
import { json, session, sessionName, text, toggle } from '../../context/flags.ts'
import type { Output } from '../../context/output.ts'
import { taskNames } from '../../print/task.ts'
import { propose } from '../../context/propose.ts'
import { withProject } from '../../context/with-project.ts'
import { defined } from '../../../text/defined.ts'

interface PauseFlags {
  readonly note?: string
  readonly switchTo?: string
  readonly keepTaskStatus?: boolean
  readonly session?: string
  readonly json?: boolean
}

export const pause = buildCommand<PauseFlags, [], Context>({
  docs: {
    brief: 'Set the session down, with a checkpoint',
    customUsage: [
      { input: '--note "Switching to an urgent bug"', brief: 'with a reason' },
      { input: '--switch-to fix-auth', brief: 'and go on with another' },
      { input: '--keep-task-status', brief: 'and leave its tasks in progress' },
    ],
  },
  parameters: {
    flags: {
      note: text('Why'),
      switchTo: sessionName('A session to resume instead'),
      keepTaskStatus: toggle('Leave linked tasks in progress'),
      session,
      json,
    },
  },
  async func(flags) {
    await withProject(this, flags, async (project, output, pick) => {
      const session = await pick(flags.session)
      const switchTo = await pick(flags.switchTo)
      if (switchTo !== undefined && switchTo === (await project.open(session)).id) {
        throw new Misuse(
          `${flags.switchTo} is the session to be paused`,
          'name another one, or pause without --switch-to',
        )
      }
      const { reading, resumed } = await project.pause({
        by: 'cli',
        ...defined({ note: flags.note, switchTo, session, keepTaskStatus: flags.keepTaskStatus }),
      })
      const { state } = reading
      const value = {
        session: publicSessionHead(state),
        ...defined({ resumed: resumed && resumedJson(resumed) }),
      }
      output.result(flags.json, value, () =>
        [
          `⏸️  ${output.bold(`Session Paused: ${state.name}`)}`,
          ...(state.pauseNote === undefined ? [] : [`   Note: ${state.pauseNote}`]),
          `   Progress: ${progressLine(state)}`,
          `   stint resume ${state.name} goes on with it`,
          ...(resumed === undefined ? [] : ['', describeResumed(resumed, output)]),
        ].join('\n'),
      )
    })
  },
})

interface CloseFlags {
  readonly complete?: boolean
  readonly abandon?: boolean
  readonly reason?: string
  readonly force?: boolean
  readonly session?: string
  readonly json?: boolean
}

export const close = buildCommand<CloseFlags, [], Context>({
  docs: {
    brief: 'Complete or abandon the session',
    customUsage: [
      { input: '--complete', brief: 'done: archived, linked tasks completed' },
      {
        input: '--abandon --reason "Requirements changed"',
        brief: 'given up: linked tasks are ready again',
      },
    ],
  },
  parameters: {
    flags: {
      complete: toggle('It is done'),
      abandon: toggle('It is given up'),
      reason: text('Why'),
      force: toggle('Say nothing of steps that are still open'),
      session,
      json,
    },
  },
  async func(flags) {
    // Asked once, also when the session has to be asked for too and the work starts over.
    let how: 'completed' | 'abandoned' | undefined
    await withProject(this, flags, async (project, output, pick) => {
      how ??= await outcome(this, flags)
      const { state } = await project.close({
        how,
        by: 'cli',
        ...defined({ reason: flags.reason, session: await pick(flags.session) }),
      })
      const names = await taskNames(project, state.tasks)
      const open = state.steps.items.filter((step) => step.status !== 'done')
      if (how === 'completed' && open.length > 0 && flags.force !== true) {
        output.talk(
          `${plural(open.length, 'step')} left open: ${open.map((step) => step.text.split('\n')[0]).join('; ')} (stint reopen ${state.name} goes back)`,
        )
      }
      output.result(
        flags.json,
        {
          ...publicSessionHead(state),
          duration: duration(state.createdAt, state.closedAt ?? state.updatedAt),
        },
        () => describeClosed(state, names, output),
      )
    })
  },
})

async function outcome(context: Context, flags: CloseFlags): Promise<'completed' | 'abandoned'> {
  if (flags.complete === true && flags.abandon === true)
    throw new Misuse('give --complete or --abandon, not both')
  if (flags.complete === true) return 'completed'
  if (flags.abandon === true) return 'abandoned'
  if (!context.canAsk)
    throw new Misuse(
      'close needs to know how it ended',
      'give --complete, or --abandon --reason TEXT',
    )
  const { askOne } = await import('../../context/ask.ts')
  const answer = await askOne('How did it end?', [
    { value: 'completed', label: 'It is done' },
    { value: 'abandoned', label: 'It is given up' },
  ])
  if (answer === undefined) throw new Misuse('nothing was closed')
  return answer
}

function describeClosed(state: SessionState, names: readonly string[], output: Output): string {
  const isDone = state.status === 'completed'
  return [
    `${isDone ? '✅' : '🚫'} ${output.bold(`Session ${isDone ? 'Completed' : 'Abandoned'}: ${state.name}`)}`,
    `   Duration: ${duration(state.createdAt, state.closedAt ?? state.updatedAt)}`,
    `   Compactions: ${state.compactions}`,
    `   Progress: ${progressLine(state)}`,
    ...(state.closeReason === undefined ? [] : [`   Reason: ${state.closeReason}`]),
    '',
    '   ## Summary',
    indent(tldrOf(state)),
    '',
    '   ## Decisions Made',
    `   ${plural(count(state.decisions), 'decision')} recorded`,
    '',
    '   ## Discoveries',
    `   ${count(state.discoveries)} ${count(state.discoveries) === 1 ? 'discovery' : 'discoveries'} logged`,
    ...(names.length === 0
      ? []
      : [
          '',
          ...names.map(
            (task) => `   Linked task ${task}: ${isDone ? 'completed ✅' : 'ready again'}`,
          ),
        ]),
  ].join('\n')
}

export const reopen = buildCommand<{ json?: boolean }, [string], Context>({
  docs: {
    brief: 'Take back the closing of a session',
    customUsage: [{ input: 'fix-auth', brief: 'active again, with all it had' }],
  },
  parameters: {
    positional: {
      kind: 'tuple',
      parameters: [
        {
          parse: String,
          brief: 'The session to reopen',
          placeholder: 'SESSION',
          proposeCompletions: propose.closedSessions,
        },
      ],
    },
    flags: { json },
  },
  async func(flags, name) {
    await withProject(this, flags, async (project, output, pick) => {
      const { state } = await project.reopen({ session: (await pick(name)) ?? name, by: 'cli' })
      output.result(
        flags.json,
        publicSessionHead(state),
        () =>
          `📋 ${output.bold(`Session Reopened: ${state.name}`)}\n   Progress: ${progressLine(state)}`,
      )
    })
  },
})
