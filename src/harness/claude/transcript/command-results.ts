import { shorten } from '../../../text/clean.ts'
import { type Json, listOf, nameOf, objectOf, saidIn, textOf } from '../../../text/json-fields.ts'
import type { CommandResult, PendingCommand } from '../../contract/transcript.ts'

const MOST_PENDING = 20
const LONGEST_PENDING = 300
const LONGEST_COMMAND = 4000
const OUTPUT_START = 4000
const OUTPUT_END = 12_000

export class CommandResults {
  readonly #pending: Map<string, { readonly id: Buffer; readonly command: string }>
  readonly #results: CommandResult[] = []

  constructor(carried: readonly PendingCommand[] = []) {
    this.#pending = new Map(
      pendingIn(carried).map(({ toolUseId, command }) => [
        toolUseId,
        { id: quoted(toolUseId), command },
      ]),
    )
  }

  get results(): readonly CommandResult[] {
    return this.#results
  }

  get pending(): readonly PendingCommand[] {
    return [...this.#pending].slice(-MOST_PENDING).map(([toolUseId, { command }]) => ({
      toolUseId,
      command: shorten(command, LONGEST_PENDING),
    }))
  }

  isAnsweredBy(line: Buffer): boolean {
    for (const { id } of this.#pending.values()) if (line.includes(id)) return true
    return false
  }

  addCommands(message: Json | undefined): void {
    for (const block of listOf(message?.content)) {
      const { type, name, id, input } = objectOf(block) ?? {}
      const toolUseId = nameOf(id)
      const command = textOf(objectOf(input)?.command)
      if (
        type !== 'tool_use' ||
        name !== 'Bash' ||
        toolUseId === undefined ||
        command === undefined
      )
        continue
      this.#pending.set(toolUseId, {
        id: quoted(toolUseId),
        command: command.slice(0, LONGEST_COMMAND),
      })
    }
  }

  addResults(message: Json | undefined): void {
    for (const block of listOf(message?.content)) {
      const { type, tool_use_id: id, is_error: isError, content } = objectOf(block) ?? {}
      const toolUseId = nameOf(id)
      const pending = toolUseId === undefined ? undefined : this.#pending.get(toolUseId)
      if (type !== 'tool_result' || toolUseId === undefined || pending === undefined) continue
      this.#pending.delete(toolUseId)
      const output = saidIn(content)
      if (NOT_RUN.test(output)) continue
      this.#results.push({
        toolUseId,
        command: pending.command,
        isError: isError === true,
        output: bothEnds(output),
      })
    }
  }
}

// Claude Code's replacements for a result: refused, interrupted or moved to the background.
const NOT_RUN =
  /^\s*(?:<tool_use_error>|The user doesn't want to|\[Request interrupted|\[Tool call interrupted|Permission to use|Claude requested permission|This command requires approval|PreToolUse:|Bash operation blocked|Command running in background|Command was manually backgrounded)/

function quoted(id: string) {
  return Buffer.from(JSON.stringify(id))
}

// The carried state comes from a file and may hold anything.
function pendingIn(carried: unknown) {
  return listOf(carried).flatMap((entry) => {
    const fields = objectOf(entry)
    const toolUseId = nameOf(fields?.toolUseId)
    const command = textOf(fields?.command)
    return toolUseId === undefined || command === undefined ? [] : [{ toolUseId, command }]
  })
}

export function bothEnds(output: string): string {
  if (output.length <= OUTPUT_START + OUTPUT_END) return output
  return `${output.slice(0, OUTPUT_START)}\n…\n${output.slice(-OUTPUT_END)}`
}
