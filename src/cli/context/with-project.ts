import { type Project, StintError } from '../../library.ts'
import type { Context } from './context.ts'
import { Output, withJsonErrors } from './output.ts'
import { withNearest } from './nearest.ts'

/** Gives the id of the session that a name on the command line means; a person is asked when it fits several. */
type PickSession = (name: string | undefined) => Promise<string | undefined>

/** Opens the project for one command. With `--json` an error is JSON too. */
export async function withProject(
  context: Context,
  flags: { json?: boolean | undefined },
  work: (project: Project, output: Output, pick: PickSession) => Promise<void>,
): Promise<void> {
  const output = new Output(context)
  await withJsonErrors(context, flags, output, () => attempt(context, output, work))
}

async function attempt(
  context: Context,
  output: Output,
  work: (project: Project, output: Output, pick: PickSession) => Promise<void>,
): Promise<void> {
  const { AmbiguousSession, openProject } = await import('./open.ts')
  /** The sessions that names turned out to mean, so that nothing is asked twice. */
  const settled = new Map<string, string>()

  const answerTo = async (error: unknown): Promise<string> => {
    if (!(error instanceof AmbiguousSession) || !context.canAsk) throw error
    const { askWhich } = await import('./ask.ts')
    const chosen = await askWhich(error.candidates)
    // Not the same error again, or a person who thought better of it would be asked once more.
    if (chosen === undefined) throw new StintError(error.code, error.message, error.hint)
    return chosen
  }

  const once = async (env: NodeJS.ProcessEnv) => {
    const project = openProject(context.cwd, {
      env,
      say: (line) => output.talk(line),
      progress: (done, total) => output.progress(done, total),
    })
    const pick: PickSession = async (name) => {
      if (name === undefined) return undefined
      const id = settled.get(name) ?? (await project.find(name).then((row) => row.id, answerTo))
      settled.set(name, id)
      return id
    }
    try {
      await work(project, output, pick)
    } catch (error) {
      throw await withNearest(project, error)
    } finally {
      project.dispose()
    }
  }

  try {
    await once(context.env)
  } catch (error) {
    // Names are settled where they are used; what is left to ask is which session is the active one.
    await once({ ...context.env, STINT_SESSION: await answerTo(error) })
  }
}

/** Lets somebody else say what is said, as long as they draw; undefined gives it back. */
export type SayBy = (say: ((line: string) => void) | undefined) => void

/** Opens the project for a command about runs, which asks for no session. With `isLines` its errors are JSON on one line. */
export async function withRuns(
  context: Context,
  flags: { json?: boolean | undefined },
  work: (project: Project, output: Output, sayBy: SayBy) => Promise<void>,
  { isLines = false }: { isLines?: boolean } = {},
): Promise<void> {
  const output = new Output(context)
  const talk = (line: string) => output.talk(line)
  let say = talk
  const attempt = async () => {
    const { openProject } = await import('./open.ts')
    const project = openProject(context.cwd, { env: context.env, say: (line) => say(line) })
    try {
      await work(project, output, (by) => (say = by ?? talk))
    } finally {
      project.dispose()
    }
  }
  await withJsonErrors(context, flags, output, attempt, isLines ? 0 : 2)
}
