import type { Project } from '../../library.ts'
import { StintError } from '../../public.ts'
import { type Invocation, commandWith } from './command.ts'
import { withNearest } from './nearest.ts'

/** What a command about the project works with. */
export interface ProjectInvocation extends Invocation {
  readonly project: Project
  /** The session that a name on the command line means; a person is asked when it fits several. */
  pick(name: string | undefined): Promise<{ readonly session?: string }>
}

/** A command that works with the project. Which session is meant is asked where several fit. */
export const projectCommand = commandWith<ProjectInvocation>(async (invocation, work) => {
  const { context, output } = invocation
  const { AmbiguousSession, openProject } = await import('./open.ts')
  /** The sessions that names turned out to mean, so that nothing is asked twice. */
  const known = new Map<string, string>()

  const answerTo = async (error: unknown): Promise<string> => {
    if (!(error instanceof AmbiguousSession) || !context.canAsk) throw error
    const { askWhich } = await import('./ask.ts')
    const chosen = await askWhich(error.candidates)
    // Not the same error again, or a person who thought better of it would be asked once more.
    if (chosen === undefined) throw new StintError(error.code, error.message, error.hint)
    return chosen
  }

  const attempt = async (env: NodeJS.ProcessEnv) => {
    const project = openProject(context.cwd, {
      env,
      say: (line) => output.talk(line),
      progress: (done, total) => output.progress(done, total),
    })
    const pick = async (name: string | undefined) => {
      if (name === undefined) return {}
      const session = known.get(name) ?? (await project.find(name).then((row) => row.id, answerTo))
      known.set(name, session)
      return { session }
    }
    try {
      await work({ ...invocation, project, pick })
    } catch (error) {
      throw await withNearest(project, error)
    } finally {
      project.dispose()
    }
  }

  try {
    await attempt(context.env)
  } catch (error) {
    // Names are known by now; what is left to ask is which session is the active one.
    await attempt({ ...context.env, STINT_SESSION: await answerTo(error) })
  }
})

/** Lets somebody else say what is said, as long as they draw; undefined gives it back. */
export type SayBy = (say: ((line: string) => void) | undefined) => void

export interface RunInvocation extends Invocation {
  readonly project: Project
  readonly sayBy: SayBy
}

export async function withRuns(
  invocation: Invocation,
  work: (opened: RunInvocation) => Promise<void> | void,
): Promise<void> {
  const { context, output } = invocation
  const talk = (line: string) => output.talk(line)
  let say = talk
  const { openProject } = await import('./open.ts')
  const project = openProject(context.cwd, { env: context.env, say: (line) => say(line) })
  try {
    await work({ ...invocation, project, sayBy: (by) => (say = by ?? talk) })
  } finally {
    project.dispose()
  }
}

/** A command about runs, which asks for no session. */
export const runCommand = commandWith(withRuns)
