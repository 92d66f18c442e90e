import { lineForPerson } from '../context/person-line.ts'
import { dropHandedOver, seeHandedOver } from './cleared.ts'
import { deliver, hasIt, openWindow } from './deliver.ts'
import { openById } from './find-session.ts'
import { recordGitMoves } from './git-moves.ts'
import { joinAgain, joinIfNew } from './join.ts'
import { lookAtPrevious, lookAtTranscript, passOverEarlier } from './look.ts'
import { nameConversationInShell } from './name-in-shell.ts'
import type { EventOf } from '../harness/claude/events.ts'
import type { Scene } from './scene.ts'

/** A conversation begins, is gone on with, was cleared or compacted: it is bound to its session and told where things stand. */
export async function onSessionStart(scene: Scene<EventOf<'sessionStart'>>): Promise<void> {
  const { source, conversation } = scene.event
  scene.attempt(() => nameConversationInShell(scene.env, conversation))
  if (source === 'clear') takeOver(scene)
  if (scene.tracking.looked === undefined) passOverEarlier(scene)
  else await lookAtTranscript(scene)
  if (source === 'compact') scene.note({ awaitsBoundary: true })
  const { given } = scene.tracking
  if (source !== 'resume') openWindow(scene)
  // In another process it may well arrive.
  else if (given !== undefined) scene.note({ given: { ...given, attempts: 0 } })
  const { session } = scene
  if (session === undefined) return mentionWhatIsNot(scene)

  const isLast = scene.state.conversations.items.at(-1)?.text === conversation
  recordGitMoves(scene)
  if (source !== 'compact') await lookAtPrevious(scene)
  scene.flush()
  if (source === 'compact') joinIfNew(scene, source)
  else joinAgain(scene, source)
  // The harness is about to count this one; the transcript does not show it yet.
  const state =
    source === 'compact'
      ? { ...scene.state, compactions: scene.state.compactions + 1 }
      : scene.state
  scene.say({ person: lineForPerson(state) })
  if (source === 'resume' && hasIt(scene, state) && isLast) return
  await deliver(scene, state, { level: source === 'compact' ? 'full' : 'start', because: source })
}

function mentionWhatIsNot(scene: Scene): void {
  const { several } = scene.here
  if (several.length > 0) {
    return scene.say({
      person: `📋 Several sessions are active here (${several.join(', ')}): /session-resume NAME chooses one`,
    })
  }
  const { paused } = scene
  if (paused !== undefined)
    scene.say({ person: `📋 ${paused.state.name} is paused: /session-resume goes on with it` })
}

/** The conversation that was cleared handed its session to the one after it. */
function takeOver(scene: Scene): void {
  const handed = seeHandedOver(scene.notes, scene.env)
  dropHandedOver(scene.notes, scene.env)
  const found = handed === undefined ? undefined : openById(scene.place, scene.config, handed)
  if (found?.state.status === 'active') scene.workOn(found)
}
