import type { Context } from './context.ts'
import { EXIT, errorJson, exitCodeFor } from './errors.ts'
import type { Output } from './output.ts'

/** Does the work of a command. With `--json` an error is JSON too; on one line where everything else is. */
export async function withJsonErrors(
  context: Context,
  flags: { json?: boolean | undefined },
  output: Output,
  work: () => Promise<void>,
  indent: 0 | 2 = 2,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (flags.json !== true || exitCodeFor(error) === EXIT.defect) throw error
    output.line(JSON.stringify(errorJson(error), undefined, indent))
    // Set and not thrown: the parser would say a thrown one once more on standard error.
    context.process.exitCode = exitCodeFor(error)
  }
}
