import { isHandoffIntent } from '../context/handoff-intent.ts'
import { asksToContinue } from '../context/intent.ts'
import { writeOpenSession } from '../project/store/open-sessions.ts'
import { draft } from '../session/entries.ts'
import { deliver } from './deliver.ts'
import { recordGitMoves } from './git-moves.ts'
import { joinIfNew } from './join.ts'
import { lookAtTranscript } from './look.ts'
import { nudgeAtPrompt } from './nudge-at-prompt.ts'
import { oweHandoff } from './owed.ts'
import { redeliver } from './redeliver.ts'
import { recordRequest } from './requests.ts'
import { noteSettled } from './note-settled.ts'
import { watchBudget } from './stages.ts'
import { tellNews } from './tell-news.ts'
import type { EventOf } from '../harness/claude/events.ts'
import type { Scene } from './scene.ts'

/** A person asks for something. What is put before the model beside it is rare, and never the prompt itself. */
export async function onPrompt(scene: Scene<EventOf<'userPrompt'>>): Promise<void> {
  const { prompt, isFromHarness } = scene.event
  const { arrival } = await lookAtTranscript(scene)
  if (isFromHarness) return redeliver(scene, arrival)
  const isContinuing = asksToContinue(prompt)
  if (scene.session === undefined && isContinuing) resumePaused(scene)
  const { promptId } = scene.event
  // Registered twice, by settings and a plugin, it is one request all the same.
  recordRequest(scene, prompt, promptId === undefined ? {} : { once: `prompt:${promptId}` })
  if (scene.session === undefined) return
  // A fork of an old client begins without a word.
  joinIfNew(scene, 'prompt')
  recordGitMoves(scene)
  if (isContinuing && scene.tracking.given === undefined)
    await deliver(scene, scene.state, { level: 'full', because: 'asked to continue' })
  else await redeliver(scene, arrival)
  await tellNews(scene)
  if (isHandoffIntent(prompt)) promiseHandoff(scene)
  watchBudget(scene)
  nudgeAtPrompt(scene, prompt)
  noteSettled(scene)
}

/** It is made beside the agent's work, from what is recorded. */
function promiseHandoff(scene: Scene): void {
  oweHandoff(scene, 'handoff', 'asked for')
  scene.say({
    person:
      '📋 The handoff is being made, state and code with it: /clear starts a fresh conversation, which goes on by itself',
    model:
      'Stint: the person asks for a handoff. It is being made from the journal, with the code. Record what only this conversation knows, then stop: `stint log --next TEXT --key TEXT`; `stint handoff show` shows it.',
  })
}

/** "Continue" where work was set down means that work. */
function resumePaused(scene: Scene): void {
  const { paused } = scene
  if (paused === undefined) return
  scene.workOn(paused)
  const git = scene.place.repository === undefined ? {} : { git: scene.head }
  scene.drafts.push(draft('session.resumed', git, { by: 'hook' }))
  const { branch = scene.state.branch } = scene.head
  const bound = branch === undefined ? {} : { branch }
  scene.attempt(() => writeOpenSession(scene.place, { ...scene.state, status: 'active', ...bound }))
}
