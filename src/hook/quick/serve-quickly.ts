// Most events of a conversation tell nothing that a hook would have to answer, or ask for what was made ready before.
// Those are served from small files, without opening the session: what there is to record is left in its outbox.
// Wherever anything is out of the ordinary the answer is undefined, and the event is served in full.
import { noteCost } from '../../project/conversation/costs.ts'
import { type EventOf, type HookEvent, readEvent } from '../../harness/claude/events.ts'
import { type Answer, charactersForModel, printed } from '../answer.ts'
import { type Standing, standingOf } from './standing.ts'

/** How each kind of event is served. */
export type Ways = {
  readonly [K in HookEvent['kind']]?: (standing: Standing<EventOf<K>>) => Answer | undefined
}

/** What to print, or undefined where the event has to be served in full. */
export function serveQuickly(
  input: string,
  env: NodeJS.ProcessEnv,
  ways: Ways,
): string | undefined {
  try {
    const event = readEvent(input)
    const way =
      event === undefined
        ? undefined
        : (ways[event.kind] as ((standing: Standing) => Answer | undefined) | undefined)
    const standing = event === undefined || way === undefined ? undefined : standingOf(event, env)
    const answer = standing === undefined ? undefined : way?.(standing)
    if (answer === undefined || event === undefined || standing === undefined) return undefined
    noteCost(standing.notes, event.conversation, event.name, charactersForModel(answer))
    return printed(event.name, answer)
  } catch {
    // Whatever is wrong, with the event, the notes or the disk, is found and noted by serving it in full.
    return undefined
  }
}
