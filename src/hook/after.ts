import { noteWrites } from '../project/conversation/costs.ts'
import { type Tracking, readTracking } from '../project/conversation/tracking.ts'
import { noteTrouble } from '../project/conversation/troubles.ts'
import { GitFailed } from '../git/run-git.ts'
import type { HookEvent } from '../harness/contract/hooks.ts'
import { readHookEvent } from '../harness/registry.ts'
import type { Config } from '../project/config/config.ts'
import { trackingFolderOf } from '../project/store/conversation-binding.ts'
import type { Reading } from '../project/store/live-session.ts'
import type { Place } from '../project/store/place.ts'
import { readConfig } from '../project/config/read-config.ts'
import { refresh } from '../project/store/refresh.ts'
import type { Draft } from '../session/entries.ts'
import { projectContext } from '../context/survey/project-context.ts'
import { readProjectContext } from '../context/survey/remembered.ts'
import { withoutSecrets } from '../project/store/clean-draft.ts'
import { copyConversation } from './copy-conversation.ts'
import { recordGitMoves } from './git-moves.ts'
import { lookAtTranscript } from './look.ts'
import { makeOwed } from './make-owed.ts'
import { oweHandoff } from './owed.ts'
import { placeOf } from './place-of.ts'
import { prepare } from './prepare.ts'
import { Scene, isOurs } from './scene.ts'
import { takeInCosts } from './take-in-costs.ts'
import { noteSettled } from './note-settled.ts'
import { isHandedOver } from './stages.ts'
import { writeQuickViews } from './quick-views.ts'
import { defined } from '../text/defined.ts'

const PIECE = 512 * 1024
/** Of all conversations together: a client that does not know `async` waits for it. The rest comes with the next one. */
const PIECES = 8
const COPYING_MS = 1000
const CONVERSATIONS = 5

/** At the end of a turn and before a compaction the document is rendered and the transcript copied. */
const SAVED = new Set<HookEvent['kind']>(['stop', 'preCompact'])

/**
 * What takes longer than an agent should wait. What hooks left for the session is journalled, the transcript looked
 * at, and what the next hooks may have to say made ready; at the end of a turn the document is rendered, too.
 * Run by the harness beside its other work, and ended by it when it ends. `stint` is the program of the command line.
 */
export async function afterEvent(
  input: string,
  env: NodeJS.ProcessEnv,
  stint: string,
): Promise<void> {
  const event = readHookEvent(input)
  if (event === undefined || env.STINT_HOOKS === 'off') return
  const place = placeOf(event, env)
  if (!isOurs(place)) return
  const notes = trackingFolderOf(place)
  try {
    // Without notes no hook has served this conversation: it works on nothing here.
    if (readTracking(notes, event.conversation) === undefined) return
    const config = readConfig(place.sessions)
    const scene = new Scene(event, place, config, env, false)
    const { session } = scene
    if (session === undefined) return
    if (event.kind === 'preCompact' && event.trigger === 'auto') handOverFirst(scene)
    await settle(scene)
    if (event.kind === 'stop') takeInCosts(scene)
    if (SAVED.has(event.kind)) {
      const { notices, reading } = await refresh(session)
      for (const message of notices)
        noteTrouble(notes, {
          at: scene.now,
          event: event.name,
          conversation: event.conversation,
          message,
        })
      copyAll(place, config, scene.tracking, reading)
    } else {
      scene.attempt(() => writeQuickViews(session))
    }
    if (event.kind === 'stop') scene.attempt(() => surveyProject(scene))
    scene.attempt(() => makeOwed(scene, stint))
    scene.attempt(() => prepare(session, event.conversation))
    session.close()
    noteWrites(notes, event.conversation)
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
    noteTrouble(notes, {
      at: new Date().toISOString(),
      event: event.name,
      conversation: event.conversation,
      message,
    })
  }
}

/** Brings journal and notes to where everything that can be known now is in them. */
async function settle(scene: Scene): Promise<void> {
  // What the event speaks of may not have been written down yet.
  await scene.attemptAsync(async () => void (await lookAtTranscript(scene, { isEarly: true })))
  // By now the transcript shows what the turn used; when it ended it did not.
  scene.absorb((draft) => withUsage(draft, scene.tracking))
  forgetFinished(scene)
  scene.attempt(() => recordGitMoves(scene))
  // A hook of the same event may have looked at the same time.
  scene.attempt(() => scene.dropRecorded())
  scene.flush()
  if (scene.state.conversations.items.some(({ text }) => text === scene.event.conversation))
    noteSettled(scene)
  scene.finish({ isCareful: true })
}

/** A compaction came before the last line was crossed, as it does where an agent only reads. Once for each, however often announced. */
function handOverFirst(scene: Scene): void {
  const { handedOverIn, windowNumber = 0 } = scene.tracking
  if (handedOverIn === windowNumber || isHandedOver(scene)) return
  scene.note({ handedOverIn: windowNumber })
  oweHandoff(scene, 'handoff', 'a compaction came first')
}

/** What the repository is, for the next conversation that begins. */
function surveyProject({ place, config }: Scene): void {
  if (place.repository === undefined || readProjectContext(place) !== undefined) return
  try {
    projectContext(place.repository, { withoutSecrets: (text) => withoutSecrets(text, config) })
  } catch (error) {
    // Without git nothing is known of it, and nothing told.
    if (!(error instanceof GitFailed)) throw error
  }
}

/** What a delegated agent was asked for is of no use once it has answered. */
function forgetFinished(scene: Scene): void {
  const finished = new Set(
    scene.state.once.flatMap((key) => /^claude:agent:(.+)$/.exec(key)?.[1] ?? []),
  )
  const { agents } = scene.tracking
  if (Object.keys(agents).some((agent) => finished.has(agent)))
    scene.note({
      agents: Object.fromEntries(Object.entries(agents).filter(([agent]) => !finished.has(agent))),
    })
}

function withUsage(draft: Draft, { conversation, usage: latest }: Tracking): Draft {
  if (draft.kind !== 'turn.ended' || latest === undefined) return draft
  const data = draft.data as { readonly conversation: string }
  if (data.conversation !== conversation) return draft
  const { model, ...usage } = latest
  return { ...draft, data: { ...data, ...defined({ model }), usage } }
}

function copyAll(place: Place, config: Config, tracking: Tracking, { state }: Reading): void {
  const notes = trackingFolderOf(place)
  // Those before it, too: one that ended at once left no time to be copied.
  const earlier = state.conversations.items
    .slice(-CONVERSATIONS)
    .filter(({ text }) => text !== tracking.conversation)
    .flatMap(({ text }) => readTracking(notes, text) ?? [])
  const untilMs = process.uptime() * 1000 + COPYING_MS
  let pieces = 0
  for (const followed of [tracking, ...earlier]) {
    let isMore = true
    while (isMore && pieces < PIECES && process.uptime() * 1000 < untilMs) {
      isMore = copyConversation(place, config, followed, PIECE, untilMs)
      pieces += 1
    }
  }
}
