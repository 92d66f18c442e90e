import { readEvent } from '../harness/claude/events.ts'
import { StintError } from '../journal/errors.ts'
import { noteTrouble } from '../conversation/troubles.ts'
import { trackingFolderOf } from '../project/conversation-binding.ts'
import { findPlace } from '../project/place.ts'
import { printed } from './answer.ts'
import { onPreCompact } from './on-compact.ts'
import { onNotification } from './on-notification.ts'
import { onPrompt } from './on-prompt.ts'
import { onSessionStart } from './on-session-start.ts'
import { onToolUsed } from './on-tool.ts'
import { onSessionEnd, onStop, onSubagentStop } from './on-turn-end.ts'
import { quickConfig } from './quick-config.ts'
import { Scene, isOurs } from './scene.ts'

/**
 * Serves one event and answers what to print. Whatever is wrong, with the input, the project or the disk,
 * the answer is silence: an agent must not fail for its journal.
 */
export async function serveHook(input: string, env: NodeJS.ProcessEnv): Promise<string> {
  const event = readEvent(input)
  if (event?.cwd === undefined || event.kind === 'other' || env.STINT_HOOKS === 'off') return ''
  let notes: string | undefined
  try {
    const place = findPlace(event.cwd)
    if (!isOurs(place)) return ''
    notes = trackingFolderOf(place)
    const scene = new Scene(event, place, await quickConfig(place.sessions, notes), env)
    scene.attempt(() => handle(scene))
    scene.finish()
    scene.session?.close()
    return printed(event.name, scene.answer)
  } catch (error) {
    // A folder that is gone is no trouble of ours, and has no place for a note.
    if (notes === undefined) return ''
    const message =
      error instanceof StintError ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)
    noteTrouble(notes, { at: new Date().toISOString(), event: event.name, conversation: event.conversation, message })
    return ''
  }
}

function handle(scene: Scene): void {
  const { event } = scene
  switch (event.kind) {
    case 'sessionStart':
      return onSessionStart(scene as Scene<typeof event>)
    case 'userPrompt':
      return onPrompt(scene as Scene<typeof event>)
    case 'preCompact':
      return onPreCompact(scene as Scene<typeof event>)
    case 'toolUsed':
      return onToolUsed(scene as Scene<typeof event>)
    case 'stop':
      return onStop(scene as Scene<typeof event>)
    case 'subagentStop':
      return onSubagentStop(scene as Scene<typeof event>)
    case 'sessionEnd':
      return onSessionEnd(scene as Scene<typeof event>)
    case 'notification':
      return onNotification(scene as Scene<typeof event>)
    case 'other':
  }
}
