import type { SessionRow } from '../index/rows.ts'
import type { Project } from '../project/open-project.ts'
import type { Context } from './context.ts'
import { EXIT, errorJson, exitCodeFor } from './errors.ts'
import { Output } from './output.ts'

/** Gives the id of the session that a name on the command line means; a person is asked when it fits several. */
export type Pick = (name: string | undefined) => Promise<string | undefined>

/** Opens the project for one command. With `--json` an error is JSON too. */
export async function withProject(
  context: Context,
  flags: { json?: boolean | undefined },
  work: (project: Project, output: Output, pick: Pick) => Promise<void>,
): Promise<void> {
  const output = new Output(context)
  try {
    await attempt(context, output, work)
  } catch (error) {
    if (flags.json !== true || exitCodeFor(error) === EXIT.defect) throw error
    output.line(JSON.stringify(errorJson(error), undefined, 2))
    // Set and not thrown: the parser would say a thrown one once more on standard error.
    context.process.exitCode = exitCodeFor(error)
  }
}

async function attempt(
  context: Context,
  output: Output,
  work: (project: Project, output: Output, pick: Pick) => Promise<void>,
): Promise<void> {
  const { AmbiguousSession, openProject } = await import('../library.ts')
  /** What the person answered, so that nothing is asked twice. */
  const answers = new Map<string, string>()

  const settled = async <T>(find: () => Promise<T>, otherwise: (chosen: string) => Promise<T>): Promise<T> => {
    try {
      return await find()
    } catch (error) {
      if (!(error instanceof AmbiguousSession) || !context.canAsk) throw error
      const chosen = await ask(error.candidates)
      if (chosen === undefined) throw error
      return otherwise(chosen)
    }
  }

  const once = async (env: NodeJS.ProcessEnv) => {
    const project = openProject(context.cwd, {
      env,
      say: (line) => output.talk(line),
      progress: (done, total) => output.progress(done, total),
    })
    const pick: Pick = async (name) => {
      if (name === undefined) return undefined
      const id =
        answers.get(name) ??
        (await settled(
          async () => (await project.find(name)).id,
          async (chosen) => chosen,
        ))
      answers.set(name, id)
      return id
    }
    try {
      await work(project, output, pick)
    } finally {
      project.dispose()
    }
  }

  // Names are settled where they are used; what is left to ask for is which session is active here.
  await settled(
    () => once(context.env),
    (chosen) => once({ ...context.env, STINT_SESSION: chosen }),
  )
}

async function ask(candidates: readonly SessionRow[]): Promise<string | undefined> {
  const { askWhich } = await import('./ask.ts')
  return askWhich(candidates)
}
