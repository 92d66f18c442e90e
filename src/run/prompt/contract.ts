// One prompt to an agent of any harness, in a session that is new or goes on: what is asked, and what is told while it answers.
import type { HarnessEvent, PermissionRequest, Permissions } from '../../harness/contract/drive.ts'
import { type RedactOptions, redactDeep } from '../../text/redact.ts'
import type { Gauge } from '../events.ts'
import type { Spend } from '../report.ts'

export interface PromptRequest {
  readonly text: string
  /** By id or name; the one that is active here when absent, and a new one when there is none. */
  readonly session?: string
  /** A new session, whatever is active. */
  readonly isNew?: boolean
  /** Goes on in this conversation of the session; absent: in the session's latest of that harness, or in a fresh one that gets the session's context. */
  readonly conversation?: string
  /** A fresh conversation, whatever there was. */
  readonly isFresh?: boolean
  readonly harness?: string
  readonly model?: string
  readonly permissions?: Permissions
  /** Script of the rehearsal harness. */
  readonly script?: string
}

/** Each also carries `at`. `number` counts from 1, without a gap. */
export type PromptEvent = { readonly at: string; readonly number: number } & (
  | {
      readonly type: 'prompt.started'
      readonly prompt: string
      readonly session: string
      readonly name: string
      readonly harness: string
      readonly isNewSession: boolean
      readonly isFresh: boolean
    }
  | { readonly type: 'conversation'; readonly conversation: string; readonly model?: string }
  /** As the harness tells it. */
  | Extract<HarnessEvent, { type: 'delta' | 'anew' | 'text' | 'tool' }>
  | {
      readonly type: 'permission.asked'
      readonly request: string
      readonly permission: PermissionRequest
    }
  | { readonly type: 'permission.settled'; readonly request: string; readonly isAllowed: boolean }
  | { readonly type: 'usage'; readonly gauge: Gauge; readonly spend: Spend }
  | { readonly type: 'stage'; readonly stage: number | 'smart-zone'; readonly gauge: Gauge }
  | { readonly type: 'compaction'; readonly tokensBefore?: number }
  | { readonly type: 'limit'; readonly message: string; readonly resetsAt?: string }
  | { readonly type: 'said'; readonly text: string }
  | {
      readonly type: 'prompt.ended'
      readonly how: 'completed' | 'interrupted' | 'failed' | 'died'
      readonly said?: string
      readonly failure?: string
      readonly spend: Spend
      readonly seconds: number
    }
)

export interface PromptHandle {
  readonly id: string
  readonly session: string
  /** Settles what was asked; false when nothing waits under that name. */
  decide(request: string, isAllowed: boolean): boolean
  interrupt(): Promise<void>
  /** Resolves with the last event, whatever happened, when no process of it is left. */
  readonly ended: Promise<Extract<PromptEvent, { type: 'prompt.ended' }>>
}

/** `startPrompt(workspace, request, tell)`: in `start-prompt.ts`. */

/** An event before it has its time and its number. */
export type Untold<T = PromptEvent> = T extends PromptEvent ? Omit<T, 'at' | 'number'> : never

export type Tell = (event: Untold) => void

/** Numbers events, and takes the secrets out of them: whoever is told may show or keep them. */
export function numbered(
  tell: (event: PromptEvent) => void,
  secrets: RedactOptions,
): (event: Untold) => PromptEvent {
  let number = 0
  return (event) => {
    const told = redactDeep(
      { ...event, at: new Date().toISOString(), number: (number += 1) },
      secrets,
    ).value as PromptEvent
    tell(told)
    return told
  }
}
