import type { AttemptConversation } from '../entries.ts'
import type { ResolvedOptions } from '../options.ts'

const MAX_ATTEMPTS = 3

export interface FailedAttempt {
  readonly number: number
  readonly conversation: AttemptConversation
  /** Full, broken or idle: another attempt in it would fail too. */
  readonly isConversationSpent: boolean
  readonly isOutOfTime: boolean
}

/** Where the next attempt runs: first in the same conversation, once in a fresh one, then the task is parked. */
export function afterFailure(
  { number, conversation, isConversationSpent, isOutOfTime }: FailedAttempt,
  { onFailure }: Pick<ResolvedOptions, 'onFailure'>,
): AttemptConversation | 'parked' {
  const isLast =
    isOutOfTime ||
    onFailure !== 'retry' ||
    number >= MAX_ATTEMPTS ||
    conversation === 'fresh conversation'
  if (isLast) return 'parked'
  const canRetryHere = conversation === 'live conversation' && !isConversationSpent
  return canRetryHere ? 'same conversation again' : 'fresh conversation'
}
