import { isAbsolute } from 'node:path'
import { factsOf } from './tool-facts.ts'
import { isConversationId } from '../../../history/places.ts'
import { defined } from '../../../text/defined.ts'
import { type Json, nameOf, objectOf, parseJson } from '../../../text/json-fields.ts'
import type { EventBase, HookEvent, HookProtocol, HookResponse } from '../../contract/hooks.ts'

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

function printResponse(event: string, { person, model, plain }: HookResponse) {
  if (plain !== undefined) return plain
  if (person === undefined && model === undefined) return ''
  return JSON.stringify({
    ...defined({ systemMessage: person }),
    ...(model === undefined
      ? {}
      : { hookSpecificOutput: { hookEventName: event, additionalContext: model } }),
  })
}

function lastUsage(bytes: Buffer) {
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

const LONGEST_PATH = 4096
const LONGEST_TEXT = 200_000

export function readEvent(json: string): HookEvent | undefined {
  const fields = objectOf(parseJson(json))
  const name = nameOf(fields?.hook_event_name)
  const conversation = nameOf(fields?.session_id)
  const cwd = pathOf(fields?.cwd)
  if (fields === undefined || name === undefined || conversation === undefined || cwd === undefined)
    return undefined
  if (!isConversationId(conversation)) return undefined
  const common: EventBase = {
    harness: 'claude',
    name,
    conversation,
    cwd,
    ...defined({
      transcript: pathOf(fields.transcript_path),
      promptId: nameOf(fields.prompt_id),
    }),
  }
  const read = Object.hasOwn(READERS, name) ? READERS[name] : undefined
  return read?.(common, fields) ?? { ...common, kind: 'other' }
}

type Reader = (common: EventBase, fields: Json) => HookEvent | undefined

const READERS: Readonly<Record<string, Reader>> = {
  SessionStart: (common, fields) => ({
    ...common,
    kind: 'sessionStart',
    source: nameOf(fields.source) ?? 'startup',
    ...defined({ model: nameOf(fields.model) }),
  }),
  UserPromptSubmit: (common, fields) => {
    const prompt = passage(fields.prompt) ?? ''
    return {
      ...common,
      kind: 'userPrompt',
      prompt,
      isFromHarness: prompt.trimStart().startsWith('<') && FROM_HARNESS.test(prompt),
    }
  },
  PreCompact: (common, fields) => ({
    ...common,
    kind: 'preCompact',
    trigger: nameOf(fields.trigger) ?? 'unknown',
    ...defined({ instructions: passage(fields.custom_instructions) }),
  }),
  PostToolUse: (common, fields) => {
    const tool = nameOf(fields.tool_name)
    if (tool === undefined) return undefined
    return {
      ...common,
      kind: 'toolUsed',
      tool,
      input: objectOf(fields.tool_input) ?? {},
      response: fields.tool_response,
      ...defined({ toolUseId: nameOf(fields.tool_use_id), agent: nameOf(fields.agent_id) }),
    }
  },
  Stop: (common, fields) => ({
    ...common,
    kind: 'stop',
    isContinued: fields.stop_hook_active === true,
    ...defined({ lastMessage: passage(fields.last_assistant_message) }),
  }),
  SubagentStop: (common, fields) => {
    const agent = nameOf(fields.agent_id)
    const type = nameOf(fields.agent_type)
    // Without a type it is the harness's own: the summariser of a compaction, or a warm-up.
    if (agent === undefined || type === undefined) return undefined
    const lastMessage = passage(fields.last_assistant_message)
    const agentTranscript = pathOf(fields.agent_transcript_path)
    return {
      ...common,
      kind: 'subagentStop',
      agent,
      type,
      ...defined({ lastMessage, agentTranscript }),
    }
  },
  SessionEnd: (common, fields) => ({
    ...common,
    kind: 'sessionEnd',
    reason: nameOf(fields.reason) ?? 'other',
  }),
  Notification: (common, fields) => ({
    ...common,
    kind: 'notification',
    message: passage(fields.message) ?? '',
    ...defined({ about: nameOf(fields.notification_type) }),
  }),
}

const FROM_HARNESS =
  /^\s*<(?:task-notification|bash-notification|agent-notification|teammate-message|system-reminder|local-command-[a-z]+)[\s>]/

function passage(value: unknown) {
  return typeof value === 'string' && value !== '' ? value.slice(0, LONGEST_TEXT) : undefined
}

function pathOf(value: unknown) {
  const path = nameOf(value, LONGEST_PATH)
  return path !== undefined && isAbsolute(path) && !path.includes('\0') ? path : undefined
}
