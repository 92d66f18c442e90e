import { noteCost } from '../project/conversation/costs.ts'
import { noteTrouble } from '../project/conversation/troubles.ts'
import { type EventOf, type HookEvent, readEvent } from '../harness/claude/events.ts'
import { StintError } from '../journal/errors.ts'
import { trackingFolderOf } from '../project/store/conversation-binding.ts'
import { oneLine } from '../text/clean.ts'
import { charactersForModel, printed } from './answer.ts'
import { placeOf } from './place-of.ts'
import { quickConfig } from './quick-config.ts'
import { Scene, isOurs } from './scene.ts'

/** What is done at each kind of event. */
export type Handlers = {
  readonly [K in HookEvent['kind']]?: (scene: Scene<EventOf<K>>) => void | Promise<void>
}

type Handler = (scene: Scene) => void | Promise<void>

/**
 * Serves one event and answers what to print. Whatever is wrong, with the input, the project or the disk,
 * the answer is silence: an agent must not fail for its journal.
 */
export async function serve(
  input: string,
  env: NodeJS.ProcessEnv,
  handlers: Handlers,
): Promise<string> {
  const event = readEvent(input)
  const handler = event === undefined ? undefined : (handlers[event.kind] as Handler | undefined)
  if (event === undefined || handler === undefined || env.STINT_HOOKS === 'off') return ''
  let notes: string | undefined
  try {
    const place = placeOf(event, env)
    if (!isOurs(place)) return ''
    notes = trackingFolderOf(place)
    const scene = new Scene(event, place, await quickConfig(place.sessions, notes), env)
    await scene.attemptAsync(() => handler(scene))
    scene.finish()
    scene.session?.close()
    // Of a conversation that works on no session, too: it was waited for all the same.
    noteCost(notes, event.conversation, event.name, charactersForModel(scene.answer))
    return printed(event.name, scene.answer)
  } catch (error) {
    // A folder that is gone is no trouble of ours, and has no place for a note.
    if (notes === undefined) return ''
    const message =
      error instanceof StintError
        ? error.message
        : error instanceof Error
          ? (error.stack ?? error.message)
          : String(error)
    noteTrouble(notes, {
      at: new Date().toISOString(),
      event: event.name,
      conversation: event.conversation,
      message,
    })
    // Nothing is recorded until it is mended, so somebody has to know.
    const isForPerson =
      event.kind === 'sessionStart' &&
      error instanceof StintError &&
      error.code === 'CONFIG_INVALID'
    return isForPerson
      ? printed(event.name, { person: `📋 Stint records nothing here: ${oneLine(error.message)}` })
      : ''
  }
}
