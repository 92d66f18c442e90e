import type { HarnessEvent, PermissionRequest, Permissions } from '../../harness/contract/drive.ts'
import { type RedactOptions, redactDeep } from '../../text/redact.ts'
import type { Gauge, Spend } from '../entries.ts'

export interface PromptRequest {
  readonly text: string
  /** By id or name; default: the active one, or a new one where none is active. */
  readonly session?: string
  readonly isNew?: boolean
  /** Default: the session's latest of that harness, or a fresh one with the session's context injected. */
  readonly conversation?: string
  readonly isFresh?: boolean
  readonly harness?: string
  readonly model?: string
  readonly permissions?: Permissions
  readonly script?: string
}

/** Kinds that a run has too hold the same as there. */
interface PromptEventData {
  'prompt.started': {
    prompt: string
    session: string
    name: string
    harness: string
    isNewSession: boolean
    isFresh: boolean
  }
  'conversation.started': { conversation: string; model?: string }
  /** A piece of a message, which follows whole as `text`. */
  delta: { text: string }
  /** The message broke off, and its pieces do not count. */
  anew: Record<string, never>
  text: { text: string }
  tool: Omit<Extract<HarnessEvent, { type: 'tool' }>, 'type'>
  'permission.asked': { request: string; permission: PermissionRequest }
  'permission.settled': { request: string; isAllowed: boolean }
  usage: { gauge: Gauge; spend: Spend }
  stage: { stage: number | 'smart-zone'; gauge: Gauge }
  'context.compacted': { tokensBefore?: number }
  'limit.reached': { message: string; resetsAt?: string }
  message: { text: string }
  'prompt.ended': {
    how: 'completed' | 'interrupted' | 'failed' | 'died'
    said?: string
    failure?: string
    spend: Spend
    seconds: number
  }
}

export type PromptEventKind = keyof PromptEventData

/** `number` counts from 1, without a gap. */
export type PromptEvent<K extends PromptEventKind = PromptEventKind> = {
  [Kind in K]: {
    readonly kind: Kind
    readonly at: string
    readonly number: number
    readonly data: Readonly<PromptEventData[Kind]>
  }
}[K]

export type PromptEnd = PromptEvent<'prompt.ended'>['data']

export interface PromptHandle {
  readonly id: string
  readonly session: string
  /** Answers a permission request; false when none waits under that name. */
  decide(request: string, isAllowed: boolean): boolean
  interrupt(): Promise<void>
  /** Resolves with the last event, whatever happened, when no process of it is left. */
  readonly ended: Promise<PromptEnd>
}

export type EmitPromptEvent = <K extends PromptEventKind>(kind: K, data: PromptEventData[K]) => void

/** Numbers and redacts events: a listener may show or keep them. */
export function emitPromptEventsTo(
  listener: (event: PromptEvent) => void,
  secrets: RedactOptions,
): EmitPromptEvent {
  let number = 0
  return (kind, data) => {
    number += 1
    const event = { kind, at: new Date().toISOString(), number, data }
    listener(redactDeep(event, secrets).value as PromptEvent)
  }
}
