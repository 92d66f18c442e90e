import type { Project } from '../project/open-project.ts'
import type { Context } from './context.ts'
import { EXIT, errorJson, exitCodeFor } from './errors.ts'
import { Output } from './output.ts'

/** Opens the project for one command. With `--json` an error is JSON too. */
export async function withProject(
  context: Context,
  flags: { json?: boolean | undefined },
  work: (project: Project, output: Output) => Promise<void>,
): Promise<void> {
  const { AmbiguousSession, openProject } = await import('../library.ts')
  const output = new Output(context)
  const attempt = async (env: NodeJS.ProcessEnv) => {
    const project = openProject(context.cwd, {
      env,
      say: (line) => output.talk(line),
      progress: (done, total) => output.progress(done, total),
    })
    try {
      await work(project, output)
    } finally {
      project.dispose()
    }
  }
  try {
    await attempt(context.env)
  } catch (error) {
    if (error instanceof AmbiguousSession && context.canAsk) {
      const { askWhich } = await import('./ask.ts')
      const chosen = await askWhich(error.candidates)
      if (chosen === undefined) throw error
      await attempt({ ...context.env, STINT_SESSION: chosen })
      return
    }
    if (flags.json !== true || exitCodeFor(error) === EXIT.defect) throw error
    output.line(JSON.stringify(errorJson(error), undefined, 2))
    // Set and not thrown: the parser would say a thrown one once more on standard error.
    context.process.exitCode = exitCodeFor(error)
  }
}
