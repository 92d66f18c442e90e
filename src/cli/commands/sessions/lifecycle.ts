// Starting, resuming and ending a session.
import { join, relative } from 'node:path'
import { countItems, tldrOf } from '../../../core.ts'
import type { InitOptions } from '../../../library.ts'
import type { SessionState } from '../../../core.ts'
import { publicSessionHead, shortId } from '../../../public/projection.ts'
import { defined } from '../../../text/defined.ts'
import { durationBetween } from '../../../text/times.ts'
import { type Flags, defineProjectCommand } from '../../context/command.ts'
import { type CliContext, UsageError, type Output } from '../../context/context.ts'
import {
  argument,
  listFlag,
  optionalSessionArgument,
  completions,
  sessionFlag,
  sessionNameFlag,
  taskNameFlag,
  textFlag,
  toggle,
} from '../../context/flags.ts'
import { reportWaitingHandoffs } from '../../print/handoff.ts'
import { describeResumed, printSessions, progressLine, resumedJson } from '../../print/session.ts'
import { taskNames } from '../../print/task.ts'
import { indent, plural } from '../../print/terminal/text.ts'

const INIT_FLAGS = {
  name: textFlag('Short name', 'NAME'),
  goal: textFlag('Objective'),
  title: textFlag('Heading of the document'),
  task: taskNameFlag('Task to link, by id or short name'),
  tasks: listFlag('Several tasks to link, joined by commas'),
  force: toggle('Close the session that is active here'),
}

export const init = defineProjectCommand({
  brief: 'Start a session',
  about: 'Starts a session for the branch you are on. With no flags, on a terminal, it asks.',
  usage: [
    ['--name fix-auth --goal "Stop the login loop"', 'name and objective'],
    ['--task fix-sweep-bug', 'linked to a task, which is then in progress'],
    ['--tasks t1,t2 --name both', 'linked to several'],
    ['--name next --force', 'closes the session that is active here'],
  ],
  flags: INIT_FLAGS,
  async run({ project, output, print, context }, flags) {
    const options = await initOptions(context, flags)
    const { reading, closed } = await project.init({ ...options, by: 'cli' })
    const { id, name, git, goal, tasks } = reading.state
    const names = await taskNames(project, tasks)
    if (closed !== undefined)
      output.info(`${closed} was closed (abandoned); stint reopen ${closed} takes that back`)
    const document = join(project.sessionsFolder, 'active', `${name}-${shortId(id)}.md`)
    print({ ...publicSessionHead(reading.state), document, closed }, () =>
      [
        `📋 ${output.bold(`Session Initialized: ${name}`)}`,
        `   ID: ${id}`,
        `   Branch: ${git.branch ?? 'none'}`,
        ...(goal === '' ? [] : [`   Objective: ${goal.split('\n').join(' ')}`]),
        ...names.map((task) => `   Task: ${task} (in progress)`),
        `   Document: ${relative(context.cwd, document)}`,
        '',
        output.dim(
          '   Record as you go: stint log --progress "…", --decision "…" --rationale "…", --discovery "…"',
        ),
      ].join('\n'),
    )
    for (const task of tasks) await reportWaitingHandoffs(project, task, output)
  },
})

/** The options from the flags, or asked for when there are none. */
async function initOptions(
  context: CliContext,
  flags: Flags<typeof INIT_FLAGS>,
): Promise<InitOptions> {
  const { name, goal, title, force } = flags
  const tasks = [...(flags.task === undefined ? [] : [flags.task]), ...(flags.tasks ?? [])]
  const fromFlags = { tasks, ...defined({ name, goal, title, force }) }
  if (name !== undefined || goal !== undefined || tasks.length > 0) return fromFlags
  if (!context.canAsk)
    throw new UsageError(
      'init needs to know what the session is for',
      'give --name NAME, --goal TEXT or --task ID (no terminal to ask on)',
    )
  const { askForText } = await import('../../context/ask.ts')
  const ask = async (message: string, placeholder: string) => {
    const answer = await askForText(message, placeholder)
    if (answer === undefined) throw new UsageError('nothing was started')
    return answer
  }
  const objective = await ask(
    'What is this session to achieve?',
    'Fix the race in the sweep trigger',
  )
  const shortName = await ask(
    'A short name for it? (empty: made from the objective)',
    'fix-sweep-bug',
  )
  const linked = await ask('Tasks to link? (ids or short names, joined by commas; empty: none)', '')
  const ids = linked.split(',').map((id) => id.trim())
  return {
    ...fromFlags,
    tasks: ids.filter((id) => id !== ''),
    ...(objective !== '' && { goal: objective }),
    ...(shortName !== '' && { name: shortName }),
  }
}

export const resume = defineProjectCommand({
  brief: 'Go on with a session',
  about:
    'Shows where you left off, what git did since, and the resume commands, which are shown and never run. An agent is also told what the repository is.',
  usage: [
    ['', 'the active session, else the one worked on last'],
    ['fix-auth', 'one by short name, id, or any unique part of its id'],
    ['--last', 'the one worked on last, whichever is active here'],
    ['--list', 'which ones there are'],
  ],
  args: [optionalSessionArgument('The session to resume')],
  flags: {
    last: toggle('The session worked on last'),
    list: toggle('List the sessions that can be resumed'),
  },
  async run({ project, output, pick, print, json, context }, { last, list }, name) {
    if (list)
      return printSessions(
        await project.list({ status: ['active', 'paused'] }),
        json,
        output,
        project.trust.refuses,
      )
    const resumed = await project.resume({
      by: 'cli',
      // A person at a terminal knows the project.
      withProject: !context.canAsk,
      ...(await pick(name)),
      ...defined({ last }),
    })
    const { id, tasks } = resumed.reading.state
    const waiting = await project.handoffs.waiting({ session: id, tasks })
    print(resumedJson(resumed, waiting), () => describeResumed(resumed, output, waiting))
  },
})

export const pause = defineProjectCommand({
  brief: 'Set the session down, with a checkpoint',
  usage: [
    ['--note "Switching to an urgent bug"', 'with a reason'],
    ['--switch-to fix-auth', 'and go on with another'],
    ['--keep-task-status', 'and leave its tasks in progress'],
  ],
  flags: {
    note: textFlag('Why'),
    switchTo: sessionNameFlag('A session to resume instead'),
    keepTaskStatus: toggle('Leave linked tasks in progress'),
    session: sessionFlag,
  },
  async run({ project, output, pick, print }, { note, keepTaskStatus, ...flags }) {
    const picked = await pick(flags.session)
    const { session: switchTo } = await pick(flags.switchTo)
    if (switchTo !== undefined && switchTo === (await project.open(picked.session)).id) {
      throw new UsageError(
        `${flags.switchTo} is the session to be paused`,
        'name another one, or pause without --switch-to',
      )
    }
    const { reading, resumed } = await project.pause({
      by: 'cli',
      ...picked,
      ...defined({ note, switchTo, keepTaskStatus }),
    })
    const { state } = reading
    const value = {
      session: publicSessionHead(state),
      ...defined({ resumed: resumed && resumedJson(resumed) }),
    }
    print(value, () =>
      [
        `⏸️  ${output.bold(`Session Paused: ${state.name}`)}`,
        ...(state.pauseNote === undefined ? [] : [`   Note: ${state.pauseNote}`]),
        `   Progress: ${progressLine(state)}`,
        `   stint resume ${state.name} goes on with it`,
        ...(resumed === undefined ? [] : ['', describeResumed(resumed, output)]),
      ].join('\n'),
    )
  },
})

const OUTCOME_FLAGS = { complete: toggle('It is done'), abandon: toggle('It is given up') }

export const close = defineProjectCommand({
  brief: 'Complete or abandon the session',
  usage: [
    ['--complete', 'done: archived, linked tasks completed'],
    ['--abandon --reason "Requirements changed"', 'given up: linked tasks are ready again'],
  ],
  flags: {
    ...OUTCOME_FLAGS,
    reason: textFlag('Why'),
    force: toggle('Say nothing of steps that are still open'),
    session: sessionFlag,
  },
  async run({ project, output, pick, print, context }, flags) {
    const how = await askOutcome(context, flags)
    const { state } = await project.close({
      how,
      by: 'cli',
      ...defined({ reason: flags.reason }),
      ...(await pick(flags.session)),
    })
    const names = await taskNames(project, state.tasks)
    const open = state.steps.items.filter((step) => step.status !== 'done')
    if (how === 'completed' && open.length > 0 && !flags.force) {
      output.info(
        `${plural(open.length, 'step')} left open: ${open.map((step) => step.text.split('\n')[0]).join('; ')} (stint reopen ${state.name} goes back)`,
      )
    }
    const durationText = durationBetween(state.createdAt, state.closedAt ?? state.updatedAt)
    print({ ...publicSessionHead(state), duration: durationText }, () =>
      describeClosed(state, durationText, names, output),
    )
  },
})

/** Remembered, because the command starts over when the session has to be asked for as well. */
const outcomes = new WeakMap<CliContext, 'completed' | 'abandoned'>()

async function askOutcome(
  context: CliContext,
  { complete, abandon }: Flags<typeof OUTCOME_FLAGS>,
): Promise<'completed' | 'abandoned'> {
  if (complete && abandon) throw new UsageError('give --complete or --abandon, not both')
  if (complete) return 'completed'
  if (abandon) return 'abandoned'
  if (!context.canAsk)
    throw new UsageError(
      'close needs to know how it ended',
      'give --complete, or --abandon --reason TEXT',
    )
  const { askChoice } = await import('../../context/ask.ts')
  const answer =
    outcomes.get(context) ??
    (await askChoice('How did it end?', [
      { value: 'completed', label: 'It is done' },
      { value: 'abandoned', label: 'It is given up' },
    ]))
  if (answer === undefined) throw new UsageError('nothing was closed')
  outcomes.set(context, answer)
  return answer
}

function describeClosed(
  state: SessionState,
  durationText: string,
  names: readonly string[],
  output: Output,
): string {
  const isDone = state.status === 'completed'
  const discoveryCount = countItems(state.discoveries)
  return [
    `${isDone ? '✅' : '🚫'} ${output.bold(`Session ${isDone ? 'Completed' : 'Abandoned'}: ${state.name}`)}`,
    `   Duration: ${durationText}`,
    `   Compactions: ${state.compactions}`,
    `   Progress: ${progressLine(state)}`,
    ...(state.closeReason === undefined ? [] : [`   Reason: ${state.closeReason}`]),
    '',
    '   ## Summary',
    indent(tldrOf(state)),
    '',
    '   ## Decisions Made',
    `   ${plural(countItems(state.decisions), 'decision')} recorded`,
    '',
    '   ## Discoveries',
    `   ${discoveryCount} ${discoveryCount === 1 ? 'discovery' : 'discoveries'} logged`,
    ...(names.length === 0 ? [] : ['']),
    ...names.map((task) => `   Linked task ${task}: ${isDone ? 'completed ✅' : 'ready again'}`),
  ].join('\n')
}

export const reopen = defineProjectCommand({
  brief: 'Take back the closing of a session',
  usage: [['fix-auth', 'active again, with all it had']],
  args: [argument('The session to reopen', 'SESSION', completions.closedSessions)],
  async run({ project, output, pick, print }, _flags, name) {
    const { state } = await project.reopen({ session: name, ...(await pick(name)), by: 'cli' })
    print(
      publicSessionHead(state),
      () =>
        `📋 ${output.bold(`Session Reopened: ${state.name}`)}\n   Progress: ${progressLine(state)}`,
    )
  },
})
