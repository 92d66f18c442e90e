import type { HarnessEvent, PermissionRequest, Permissions } from '../../harness/contract/drive.ts'
import { type RedactOptions, redactDeep } from '../../text/redact.ts'
import type { Gauge, Spend } from '../entries.ts'

export interface PromptRequest {
  readonly text: string
  /** By id or name; default: the active one, or a new one where none is active. */
  readonly session?: string
  readonly isNew?: boolean
  /** Default: the session's latest of that harness, else a fresh one with the session's context injected. */
  readonly conversation?: string
  readonly isFresh?: boolean
  readonly harness?: string
  readonly model?: string
  readonly permissions?: Permissions
  readonly script?: string
}

/** Kinds that a run also emits have the same data. */
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
  /** Part of a message; the complete message follows as `text`. */
  delta: { text: string }
  /** The message was cut off; discard its deltas. */
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
  /** Resolves with the last event once no process of it is left; never rejects. */
  readonly ended: Promise<PromptEnd>
}

export type EmitPromptEvent = <K extends PromptEventKind>(kind: K, data: PromptEventData[K]) => void

/** Redacts events, because a listener may show or store them. */
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
