import type { InitOptions } from '../../../library.ts'
import { publicSessionHead, shortId } from '../../../public.ts'
import { buildCommand } from '@stricli/core'
import { join, relative } from 'node:path'
import type { Context } from '../../context/context.ts'
import { sayWaiting } from '../../print/handoff.ts'
import { Misuse } from '../../context/errors.ts'
import { json, list, taskName, text, toggle } from '../../context/flags.ts'
import { taskNames } from '../../print/task.ts'
import { withProject } from '../../context/with-project.ts'
import { defined } from '../../../text/defined.ts'

interface Flags {
  readonly name?: string
  readonly goal?: string
  readonly title?: string
  readonly task?: string
  readonly tasks?: readonly string[]
  readonly force?: boolean
  readonly json?: boolean
}

export const init = buildCommand<Flags, [], Context>({
  docs: {
    brief: 'Start a session',
    fullDescription:
      'Starts a session for the branch you are on. With no flags, on a terminal, it asks.',
    customUsage: [
      { input: '--name fix-auth --goal "Stop the login loop"', brief: 'name and objective' },
      { input: '--task fix-sweep-bug', brief: 'linked to a task, which is then in progress' },
      { input: '--tasks t1,t2 --name both', brief: 'linked to several' },
      { input: '--name next --force', brief: 'closes the session that is active here' },
    ],
  },
  parameters: {
    flags: {
      name: text('Short name', 'NAME'),
      goal: text('Objective'),
      title: text('Heading of the document'),
      task: taskName('Task to link, by id or short name'),
      tasks: list('Several tasks to link, joined by commas'),
      force: toggle('Close the session that is active here'),
      json,
    },
  },
  async func(flags) {
    await withProject(this, flags, async (project, output) => {
      const options = await answered(this, flags)
      const { reading, closed } = await project.init({ ...options, by: 'cli' })
      const { state } = reading
      const names = await taskNames(project, state.tasks)
      if (closed !== undefined)
        output.talk(`${closed} was closed (abandoned); stint reopen ${closed} takes that back`)
      const document = join(
        project.sessionsFolder,
        'active',
        `${state.name}-${shortId(state.id)}.md`,
      )
      output.result(flags.json, { ...publicSessionHead(state), document, closed }, () =>
        [
          `📋 ${output.bold(`Session Initialized: ${state.name}`)}`,
          `   ID: ${state.id}`,
          `   Branch: ${state.git.branch ?? 'none'}`,
          ...(state.goal === '' ? [] : [`   Objective: ${state.goal.split('\n').join(' ')}`]),
          ...names.map((task) => `   Task: ${task} (in progress)`),
          `   Document: ${relative(this.cwd, document)}`,
          '',
          output.dim(
            '   Record as you go: stint log --progress "…", --decision "…" --rationale "…", --discovery "…"',
          ),
        ].join('\n'),
      )
      for (const task of reading.state.tasks) await sayWaiting(project, task, output)
    })
  },
})

/** The options from the flags, or from the person when there are none. */
async function answered(context: Context, flags: Flags): Promise<InitOptions> {
  const { name, goal, title, force } = flags
  const tasks = [...(flags.task === undefined ? [] : [flags.task]), ...(flags.tasks ?? [])]
  const given = { tasks, ...defined({ name, goal, title, force }) }
  if (name !== undefined || goal !== undefined || tasks.length > 0) return given
  if (!context.canAsk)
    throw new Misuse(
      'init needs to know what the session is for',
      'give --name NAME, --goal TEXT or --task ID (no terminal to ask on)',
    )
  const { askText } = await import('../../context/ask.ts')
  const objective = await askText(
    'What is this session to achieve?',
    'Fix the race in the sweep trigger',
  )
  if (objective === undefined) throw new Misuse('nothing was started')
  const shortName = await askText(
    'A short name for it? (empty: made from the objective)',
    'fix-sweep-bug',
  )
  const linked = await askText(
    'Tasks to link? (ids or short names, joined by commas; empty: none)',
    '',
  )
  if (shortName === undefined || linked === undefined) throw new Misuse('nothing was started')
  const ids = linked
    .split(',')
    .map((id) => id.trim())
    .filter((id) => id !== '')
  return {
    ...given,
    tasks: ids,
    ...(objective === '' ? {} : { goal: objective }),
    ...(shortName === '' ? {} : { name: shortName }),
  }
}
