import { oneLine, shorten } from '../../../text/clean.ts'
import { defined } from '../../../text/defined.ts'
import { type Json, listOf, nameOf, objectOf, saidIn, textOf } from '../../../text/json-fields.ts'
import type { HarnessEvent, OpenConversation } from '../../contract/drive.ts'
import { isPermitted, reasonAgainst } from '../../contract/permission-rules.ts'

type ToolEvent = Extract<HarnessEvent, { readonly type: 'tool' }>
type Use = Pick<ToolEvent, 'id' | 'name' | 'command' | 'path'>

const LONGEST_OUTPUT = 4000

export class ToolUses {
  readonly #running = new Map<string, Use>()

  begun(content: unknown): readonly ToolEvent[] {
    return blocksOf(content, 'tool_use').flatMap((block) => {
      const id = nameOf(block['id'])
      const name = nameOf(block['name'])
      if (id === undefined || name === undefined) return []
      const use = { id, name, ...targetOf(objectOf(block['input']) ?? {}) }
      this.#running.set(id, use)
      return [{ type: 'tool', ...use, status: 'started' } as const]
    })
  }

  ended(content: unknown): readonly ToolEvent[] {
    return blocksOf(content, 'tool_result').flatMap((block) => {
      const use = this.#running.get(nameOf(block['tool_use_id']) ?? '')
      if (use === undefined) return []
      this.#running.delete(use.id)
      const status = block['is_error'] === true ? 'failed' : 'completed'
      const output = textOf(saidIn(block['content']))?.slice(-LONGEST_OUTPUT)
      return [
        { type: 'tool', ...use, status, ...defined({ output: output?.toWellFormed() }) } as const,
      ]
    })
  }
}

export function targetOf(input: Json): Pick<ToolEvent, 'command' | 'path'> {
  return defined({
    command: textOf(input['command']),
    path: nameOf(input['file_path'] ?? input['notebook_path'] ?? input['path'], 4096),
  })
}

function blocksOf(content: unknown, type: string): readonly Json[] {
  return listOf(content).flatMap((block) => {
    const fields = objectOf(block)
    return fields?.['type'] === type ? [fields] : []
  })
}

export type Answer =
  | { readonly behavior: 'allow'; readonly updatedInput: Json }
  | { readonly behavior: 'deny'; readonly message: string }

const LONGEST_TITLE = 200

export async function answerTo(request: Json, open: OpenConversation): Promise<Answer> {
  const input = objectOf(request['input']) ?? {}
  const tool = nameOf(request['tool_name']) ?? 'a tool'
  if (tool === 'AskUserQuestion')
    return denied('Nobody is here to answer. Decide it yourself, and say what you decided.')
  const asked = { tool, title: titleOf(tool, input), ...targetOf(input) }
  if (await isPermitted(asked, open)) return { behavior: 'allow', updatedInput: input }
  const reason = reasonAgainst(asked, open)
  const because = reason === undefined ? '' : ` (${reason})`
  return denied(
    `This is not permitted here: ${asked.title}${because}. Do without it, or report the task as blocked.`,
  )
}

function titleOf(tool: string, input: Json): string {
  const { command, path } = targetOf(input)
  const about = command ?? path ?? Object.values(input).find((value) => textOf(value) !== undefined)
  return shorten(oneLine(about === undefined ? tool : `${tool}: ${String(about)}`), LONGEST_TITLE)
}

export function denied(message: string): Answer {
  return { behavior: 'deny', message }
}
