import { isAbsolute } from 'node:path'
import { isConversationId } from '../../../history/paths.ts'
import { defined } from '../../../text/defined.ts'
import { type Json, asName, asObject, parseJson } from '../../../text/json-fields.ts'
import type { EventBase, HookEvent, HookProtocol, HookResponse } from '../../contract/hooks.ts'

export const claudeProtocol: HookProtocol = {
  readEvent,
  printResponse,
  variables: {
    startFolder: 'CLAUDE_PROJECT_DIR',
    shellFile: 'CLAUDE_ENV_FILE',
    process: 'CLAUDE_PID',
    conversation: 'CLAUDE_CODE_SESSION_ID',
  },
  transcriptPatterns: {
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

function lastUsage(text: string) {
  let at = text.lastIndexOf('"usage":{')
  if (at < 0) at = text.lastIndexOf('"usage": {')
  if (at < 0) return undefined
  const usage = text.slice(at, at + 500)
  let tokens = 0
  for (const [, count] of usage.matchAll(
    /"(?:input|output|cache_creation_input|cache_read_input)_tokens": ?(\d+)/g,
  ))
    tokens += Number(count)
  return tokens
}

const MAX_PATH_LENGTH = 4096
const MAX_TEXT_LENGTH = 200_000

export function readEvent(json: string): HookEvent | undefined {
  const fields = asObject(parseJson(json))
  const name = asName(fields?.hook_event_name)
  const conversation = asName(fields?.session_id)
  const cwd = absolutePath(fields?.cwd)
  if (fields === undefined || name === undefined || conversation === undefined || cwd === undefined)
    return undefined
  if (!isConversationId(conversation)) return undefined
  const common: EventBase = {
    harness: 'claude',
    name,
    conversation,
    cwd,
    ...defined({
      transcript: absolutePath(fields.transcript_path),
      promptId: asName(fields.prompt_id),
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
    source: asName(fields.source) ?? 'startup',
    ...defined({ model: asName(fields.model) }),
  }),
  UserPromptSubmit: (common, fields) => {
    const prompt = boundedText(fields.prompt) ?? ''
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
    trigger: asName(fields.trigger) ?? 'unknown',
    ...defined({ instructions: boundedText(fields.custom_instructions) }),
  }),
  PostToolUse: (common, fields) => {
    const tool = asName(fields.tool_name)
    if (tool === undefined) return undefined
    return {
      ...common,
      kind: 'toolUsed',
      tool,
      input: asObject(fields.tool_input) ?? {},
      response: fields.tool_response,
      ...defined({ toolUseId: asName(fields.tool_use_id), agent: asName(fields.agent_id) }),
    }
  },
  Stop: (common, fields) => ({
    ...common,
    kind: 'stop',
    isContinued: fields.stop_hook_active === true,
    ...defined({ lastMessage: boundedText(fields.last_assistant_message) }),
  }),
  SubagentStop: (common, fields) => {
    const agent = asName(fields.agent_id)
    const type = asName(fields.agent_type)
    // Without a type it is the harness's own agent: the summariser of a compaction, or a warm-up.
    if (agent === undefined || type === undefined) return undefined
    const lastMessage = boundedText(fields.last_assistant_message)
    const agentTranscript = absolutePath(fields.agent_transcript_path)
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
    reason: asName(fields.reason) ?? 'other',
  }),
  Notification: (common, fields) => ({
    ...common,
    kind: 'notification',
    message: boundedText(fields.message) ?? '',
    ...defined({ about: asName(fields.notification_type) }),
  }),
}

const FROM_HARNESS =
  /^\s*<(?:task-notification|bash-notification|agent-notification|teammate-message|system-reminder|local-command-[a-z]+)[\s>]/

function boundedText(value: unknown) {
  return typeof value === 'string' && value !== '' ? value.slice(0, MAX_TEXT_LENGTH) : undefined
}

export function absolutePath(value: unknown) {
  const path = asName(value, MAX_PATH_LENGTH)
  return path !== undefined && isAbsolute(path) && !path.includes('\0') ? path : undefined
}
