import type { RedactOptions } from '../../text/redact.ts'
import { redactDeep } from '../../text/redact.ts'
import type { PromptEvent } from './contract.ts'

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
