import { cleanText } from '../../../text/clean.ts'
import type { HarnessEvent, OpenConversation } from '../../contract/drive.ts'
import type { ToolUse } from './api-history.ts'
import { refusal, targetOf } from './permission.ts'
import { UNREADABLE } from './reply.ts'
import { TOOLS, type ToolResult, faultIn } from './tools/definitions.ts'
import type { ToolProgram } from './tools/tool-program.ts'
import { defined } from '../../../text/defined.ts'

export interface ToolWork {
  readonly program: ToolProgram
  readonly options: OpenConversation
  readonly tell: (event: HarnessEvent) => void
  readonly signal: AbortSignal
}

const OUTPUT_SHOWN = 4000

/** Uses one tool, if it may, and tells that it began and how it ended. Undefined when the program ended meanwhile. */
export async function useTool(
  use: ToolUse,
  { program, options, tell, signal }: ToolWork,
): Promise<ToolResult | undefined> {
  const about = {
    type: 'tool',
    id: use.id,
    name: use.name,
    ...targetOf(use.input, options.cwd),
  } as const
  tell({ ...about, status: 'started' })
  const result = await Promise.race([
    resultOf(use, { program, options, signal }),
    program.process.exited.then(() => undefined),
  ])
  if (result === undefined) return undefined
  tell({
    ...about,
    status: result.isError ? 'failed' : 'completed',
    ...defined({ output: cleanText(result.text.slice(-OUTPUT_SHOWN)) }),
  })
  return result
}

type Using = Pick<ToolWork, 'program' | 'options' | 'signal'>

async function resultOf(
  { name, input }: ToolUse,
  { program, options, signal }: Using,
): Promise<ToolResult> {
  const tool = TOOLS.find((one) => one.name === name)
  if (tool === undefined)
    return fault(`there is no tool ${name}; there are ${TOOLS.map((one) => one.name).join(', ')}`)
  if (input[UNREADABLE] !== undefined) return fault('the input is not valid JSON')
  const wrong = faultIn(tool, input)
  if (wrong !== undefined) return fault(wrong)
  if (signal.aborted) return fault(NOT_RUN)
  const stopped = new Promise<string>((resolve) =>
    signal.addEventListener('abort', () => resolve(NOT_RUN), { once: true }),
  )
  const refused = await Promise.race([refusal(name, input, options), stopped])
  if (refused !== undefined) return fault(refused)
  return program.use(tool.name, input, signal)
}

const NOT_RUN = 'It was not run: the turn was interrupted.'

function fault(text: string): ToolResult {
  return { text, isError: true }
}
