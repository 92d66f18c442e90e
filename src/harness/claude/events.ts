import { isAbsolute } from 'node:path'
import { isConversationId } from '../../history/conversation-id.ts'
import { type Json, nameOf, objectOf, parseJson } from '../../text/json-fields.ts'
import { defined } from '../../text/defined.ts'

interface Common {
  /** The event as Claude Code calls it. */
  readonly name: string
  readonly conversation: string
  readonly transcript?: string
  /** The prompt that led to it, where the client says so. */
  readonly promptId?: string
  readonly cwd: string
}

export interface SessionStartEvent extends Common {
  readonly kind: 'sessionStart'
  /** `startup`, `resume`, `clear`, `compact`, `fork`, or what a newer client calls it. */
  readonly source: string
  readonly model?: string
}

export interface UserPromptEvent extends Common {
  readonly kind: 'userPrompt'
  readonly prompt: string
  /** Nobody typed it: the harness tells the model of something, as that a background agent finished. */
  readonly isFromHarness: boolean
}

export interface PreCompactEvent extends Common {
  readonly kind: 'preCompact'
  readonly trigger: string
  readonly instructions?: string
}

export interface ToolUsedEvent extends Common {
  readonly kind: 'toolUsed'
  readonly tool: string
  readonly input: Json
  readonly response: unknown
  readonly toolUseId?: string
  /** The delegated agent that used it. */
  readonly agent?: string
}

export interface StopEvent extends Common {
  readonly kind: 'stop'
  readonly lastMessage?: string
  /** A hook kept the turn going, and this is its end. */
  readonly isContinued: boolean
}

export interface SubagentStopEvent extends Common {
  readonly kind: 'subagentStop'
  readonly agent: string
  readonly type: string
  readonly lastMessage?: string
  readonly agentTranscript?: string
}

export interface SessionEndEvent extends Common {
  readonly kind: 'sessionEnd'
  readonly reason: string
}

export interface NotificationEvent extends Common {
  readonly kind: 'notification'
  readonly message: string
  /** `permission_prompt`, `idle_prompt`. */
  readonly about?: string
}

/** An event of which nothing is to be taken: one of a newer client, or of the harness's own agents. */
export interface OtherEvent extends Common {
  readonly kind: 'other'
}

export type HookEvent =
  | SessionStartEvent
  | UserPromptEvent
  | PreCompactEvent
  | ToolUsedEvent
  | StopEvent
  | SubagentStopEvent
  | SessionEndEvent
  | NotificationEvent
  | OtherEvent

export type EventOf<K extends HookEvent['kind']> = Extract<HookEvent, { kind: K }>

const LONGEST_PATH = 4096
// More than anybody types, and little enough to journal what is left of it.
const LONGEST_TEXT = 200_000

/** An event as Claude Code gives it to a hook. Undefined when it is none, or does not say where and in which conversation. */
export function readEvent(json: string): HookEvent | undefined {
  const fields = objectOf(parseJson(json))
  const name = nameOf(fields?.['hook_event_name'])
  const conversation = nameOf(fields?.['session_id'])
  const cwd = pathOf(fields?.['cwd'])
  if (fields === undefined || name === undefined || conversation === undefined || cwd === undefined)
    return undefined
  if (!isConversationId(conversation)) return undefined
  const common: Common = {
    name,
    conversation,
    cwd,
    ...defined({
      transcript: pathOf(fields['transcript_path']),
      promptId: nameOf(fields['prompt_id']),
    }),
  }
  const read = Object.hasOwn(READERS, name) ? READERS[name] : undefined
  return read?.(common, fields) ?? { ...common, kind: 'other' }
}

type Reader = (common: Common, fields: Json) => HookEvent | undefined

const READERS: Readonly<Record<string, Reader>> = {
  SessionStart: (common, fields) => ({
    ...common,
    kind: 'sessionStart',
    source: nameOf(fields['source']) ?? 'startup',
    ...defined({ model: nameOf(fields['model']) }),
  }),
  UserPromptSubmit: (common, fields) => {
    const prompt = passage(fields['prompt']) ?? ''
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
    trigger: nameOf(fields['trigger']) ?? 'unknown',
    ...defined({ instructions: passage(fields['custom_instructions']) }),
  }),
  PostToolUse: (common, fields) => {
    const tool = nameOf(fields['tool_name'])
    if (tool === undefined) return undefined
    return {
      ...common,
      kind: 'toolUsed',
      tool,
      input: objectOf(fields['tool_input']) ?? {},
      response: fields['tool_response'],
      ...defined({ toolUseId: nameOf(fields['tool_use_id']), agent: nameOf(fields['agent_id']) }),
    }
  },
  Stop: (common, fields) => ({
    ...common,
    kind: 'stop',
    isContinued: fields['stop_hook_active'] === true,
    ...defined({ lastMessage: passage(fields['last_assistant_message']) }),
  }),
  SubagentStop: (common, fields) => {
    const agent = nameOf(fields['agent_id'])
    const type = nameOf(fields['agent_type'])
    // Without a type it is the harness's own: the summariser of a compaction, or one that warms up.
    if (agent === undefined || type === undefined) return undefined
    const lastMessage = passage(fields['last_assistant_message'])
    const agentTranscript = pathOf(fields['agent_transcript_path'])
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
    reason: nameOf(fields['reason']) ?? 'other',
  }),
  Notification: (common, fields) => ({
    ...common,
    kind: 'notification',
    message: passage(fields['message']) ?? '',
    ...defined({ about: nameOf(fields['notification_type']) }),
  }),
}

const FROM_HARNESS =
  /^\s*<(?:task-notification|bash-notification|agent-notification|teammate-message|system-reminder|local-command-[a-z]+)[\s>]/

function passage(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, LONGEST_TEXT) : undefined
}

function pathOf(value: unknown): string | undefined {
  const path = nameOf(value, LONGEST_PATH)
  return path !== undefined && isAbsolute(path) && !path.includes('\0') ? path : undefined
}
