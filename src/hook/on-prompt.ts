import { asksToContinue } from '../context/intent.ts'
import { draft } from '../session/entries.ts'
import { deliver } from './deliver.ts'
import { recordGitMoves } from './git-moves.ts'
import { joinIfNew } from './join.ts'
import { type Arrival, lookAtTranscript } from './look.ts'
import { nudgeAtPrompt } from './nudges.ts'
import { recordRequest } from './requests.ts'
import type { EventOf, Scene } from './scene.ts'

/** A person asks for something. What is put before the model beside it is rare, and never the prompt itself. */
export function onPrompt(scene: Scene<EventOf<'userPrompt'>>): void {
  const { prompt, isFromHarness } = scene.event
  const { arrival } = lookAtTranscript(scene)
  if (isFromHarness) return redeliver(scene, arrival)
  const isContinuing = asksToContinue(prompt)
  if (scene.session === undefined && isContinuing) resumePaused(scene)
  recordRequest(scene, prompt)
  if (scene.session === undefined) return
  // A fork of an old client begins without a word.
  joinIfNew(scene, 'prompt')
  recordGitMoves(scene)
  if (isContinuing && scene.tracking.given === undefined)
    deliver(scene, scene.state, { level: 'full', because: 'asked to continue' })
  else redeliver(scene, arrival)
  nudgeAtPrompt(scene, prompt)
}

/**
 * Gives by this channel what did not arrive by another. Where the client does not write down what hooks give,
 * it is given once more after a compaction: twice is better than not at all.
 */
export function redeliver(scene: Scene, arrival: Arrival): void {
  if (scene.session === undefined) return
  const { given } = scene.tracking
  if (given === undefined) {
    // The transcript showed a compaction that the harness did not announce.
    if (scene.tracking.isOwed === true) deliver(scene, scene.state, { level: 'full', because: 'compacted unannounced' })
    scene.note({ isOwed: false })
    return
  }
  const isUnsure = arrival === 'not recorded' && given.event === 'SessionStart' && given.level === 'full' && given.attempts === 1
  if (arrival !== 'missing' && !isUnsure) return
  deliver(scene, scene.state, { level: given.level, because: arrival === 'missing' ? 'did not arrive' : 'may not have arrived' })
}

/** "Continue" where work was set down means that work. */
function resumePaused(scene: Scene): void {
  const { paused } = scene
  if (paused === undefined) return
  scene.workOn(paused)
  const git = scene.place.repository === undefined ? {} : { git: scene.head }
  scene.drafts.push(draft('session.resumed', git, { by: 'hook' }))
}
