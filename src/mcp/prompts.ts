import {
  type GetPromptResult,
  type ListPromptsResult,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import { SLASH_COMMANDS } from '../library.ts'

/** The slash commands, for clients without slash commands. */
export function listPrompts(): ListPromptsResult['prompts'] {
  return SLASH_COMMANDS.map(({ name, description, hint }) => ({
    name,
    description,
    arguments: [{ name: 'arguments', description: hint, required: false }],
  }))
}

export function getPrompt(
  name: string,
  args: Readonly<Record<string, string>> = {},
): GetPromptResult {
  const command = SLASH_COMMANDS.find((one) => one.name === name)
  if (command === undefined) {
    const names = SLASH_COMMANDS.map((one) => one.name).join(', ')
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `there is no prompt ${JSON.stringify(name)}; there are ${names}`,
    )
  }
  const line = `stint ${command.command} ${args.arguments ?? ''}`.trimEnd()
  const text = `Run this in the shell and read what it says:\n\n    ${line}\n\n${command.afterwards}`
  return {
    description: command.description,
    messages: [{ role: 'user', content: { type: 'text', text } }],
  }
}
