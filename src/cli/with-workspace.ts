import type { Workspace } from '../project/store/workspace.ts'
import type { Context } from './context.ts'
import { withJsonErrors } from './json-errors.ts'
import { Output } from './output.ts'

/** Lets somebody else say what is said, as long as they draw; undefined gives it back. */
export type SayBy = (say: ((line: string) => void) | undefined) => void

/** Opens the workspace for a command about runs. With `--json` an error is JSON too, with `--json` of lines on one line. */
export async function withWorkspace(
  context: Context,
  flags: { json?: boolean | undefined },
  work: (workspace: Workspace, output: Output, sayBy: SayBy) => Promise<void>,
  { isLines = false }: { isLines?: boolean } = {},
): Promise<void> {
  const output = new Output(context)
  const talk = (line: string) => output.talk(line)
  let say = talk
  const attempt = async () => {
    const { Workspace: Opened } = await import('../project/store/workspace.ts')
    const workspace = new Opened(context.cwd, { env: context.env, say: (line) => say(line) })
    try {
      await work(workspace, output, (by) => (say = by ?? talk))
    } finally {
      workspace.close()
    }
  }
  await withJsonErrors(context, flags, output, attempt, isLines ? 0 : 2)
}
