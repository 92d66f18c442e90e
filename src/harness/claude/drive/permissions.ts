import { oneLine, shorten } from '../../../text/clean.ts'
import type { OpenConversation } from '../../contract/drive.ts'
import { type Json, nameOf, objectOf, textOf } from '../../../text/json-fields.ts'
import { isPermitted, reasonAgainst } from '../../contract/permission-rules.ts'
import { targetOf } from './tool-uses.ts'

/** What is answered to a request to use a tool. */
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
