import { defined } from '../../text/defined.ts'
import type { HookProtocol, HookResponse } from '../contract/hooks.ts'
import { readEvent } from './events.ts'
import { factsOf } from './tool-facts.ts'

/** How Claude Code speaks to its hooks. */
export const claudeProtocol: HookProtocol = {
  readEvent,
  printResponse,
  toolFacts: factsOf,
  variables: {
    startFolder: 'CLAUDE_PROJECT_DIR',
    shellFile: 'CLAUDE_ENV_FILE',
    process: 'CLAUDE_PID',
    conversation: 'CLAUDE_CODE_SESSION_ID',
  },
  signs: {
    recorded: [
      '"compact_boundary"',
      '"queued_command"',
      '"is_error":true',
      '"isApiErrorMessage":true',
    ],
    answer: '"type":"assistant"',
    commands: ['"name":"Bash"', '"type":"tool_result"'],
    lastUsage,
  },
}

function printResponse(event: string, { person, model, plain }: HookResponse): string {
  if (plain !== undefined) return plain
  if (person === undefined && model === undefined) return ''
  return JSON.stringify({
    ...defined({ systemMessage: person }),
    ...(model === undefined
      ? {}
      : { hookSpecificOutput: { hookEventName: event, additionalContext: model } }),
  })
}

function lastUsage(bytes: Buffer): number | undefined {
  let at = bytes.lastIndexOf('"usage":{')
  if (at < 0) at = bytes.lastIndexOf('"usage": {')
  if (at < 0) return undefined
  const usage = bytes.toString('latin1', at, at + 500)
  let tokens = 0
  for (const [, count] of usage.matchAll(
    /"(?:input|output|cache_creation_input|cache_read_input)_tokens": ?(\d+)/g,
  ))
    tokens += Number(count)
  return tokens
}
