import { readPiece } from '../harness/claude/read-piece.ts'
import { type Looked, lookAtPiece } from '../harness/claude/transcript.ts'
import { testRunOf } from '../harness/test-runs.ts'
import { shorten } from '../text/clean.ts'
import { openWindow } from './deliver.ts'
import { recordRequest } from './requests.ts'
import type { Scene } from './scene.ts'

const PIECE = 1024 * 1024
const FIRST_PIECE = 128 * 1024
const LONGEST_SUMMARY = 16_000

/** What the transcript has to say about the text that was given last. */
export type Arrival = 'nothing given' | 'proved' | 'not yet known' | 'missing' | 'not recorded'

/**
 * Reads what the harness wrote since the last look and records what only the transcript shows: compactions,
 * the summary, commands that failed, how much was used. Bounded, so that a transcript of any size costs the same.
 */
export function lookAtTranscript(scene: Scene): { looked?: Looked; arrival: Arrival } {
  const { transcript, looked: last, given } = scene.tracking
  const piece = transcript === undefined ? undefined : readPiece(transcript, last, last === undefined ? FIRST_PIECE : PIECE)
  if (piece === undefined) {
    if (scene.tracking.awaitsBoundary === true) countWithoutEvidence(scene)
    return { arrival: given === undefined ? 'nothing given' : given.isProved ? 'proved' : 'not yet known' }
  }
  const looked = lookAtPiece(piece.bytes, scene.tracking.carried)
  // Before this conversation was followed, what happened in it is not this session's.
  if (last !== undefined || piece.from === 0) recordCompactions(scene, looked)
  for (const run of looked.commands) recordFailedTests(scene, run)
  for (const { uuid, text } of looked.queued) recordRequest(scene, text, `queued:${uuid}`)
  scene.note({ looked: { offset: piece.from + looked.consumed, inode: piece.inode }, carried: looked.carried })
  if (looked.usage !== undefined) scene.note({ usage: { ...looked.usage, model: looked.model } })
  return { looked, arrival: arrivalIn(scene, looked) }
}

/** What a conversation said before it was followed is not this session's. */
export function passOverEarlier(scene: Scene): void {
  const { transcript, looked } = scene.tracking
  const piece = transcript === undefined || looked !== undefined ? undefined : readPiece(transcript, undefined, 0)
  if (piece !== undefined) scene.note({ looked: { offset: piece.size, inode: piece.inode } })
}

function arrivalIn(scene: Scene, looked: Looked): Arrival {
  const { given } = scene.tracking
  if (given === undefined) return 'nothing given'
  if (looked.recordsHookContext) scene.note({ recordsHookContext: true })
  if (given.isProved || looked.givenMarks.includes(given.mark)) {
    scene.note({ given: { ...given, isProved: true } })
    return 'proved'
  }
  // Until the model has answered, the harness may not have written down what it was given.
  const hasAnswered = looked.lastAssistantAt !== undefined && looked.lastAssistantAt > given.at
  if (!hasAnswered) return 'not yet known'
  return scene.tracking.recordsHookContext === true ? 'missing' : 'not recorded'
}

function recordCompactions(scene: Scene, { boundaries, summary }: Looked): void {
  const { conversation } = scene.event
  for (const { uuid, trigger, tokensBefore } of boundaries) {
    const data = { conversation, boundary: uuid, ...(trigger === undefined ? {} : { trigger }) }
    const tokens = tokensBefore === undefined ? {} : { tokensBefore }
    scene.record('context.compacted', { ...data, ...tokens }, `boundary:${uuid}`)
  }
  const last = boundaries.at(-1)
  if (last !== undefined) {
    // Nobody told us that it happened, so what was given before is gone and nothing was given since.
    if (scene.tracking.awaitsBoundary !== true) {
      openWindow(scene)
      scene.note({ isOwed: true })
    }
    scene.note({ awaitsBoundary: false })
  }
  if (summary === undefined) return
  const boundary = summary.boundary ?? last?.uuid
  const text = shorten(summary.text, LONGEST_SUMMARY)
  scene.record(
    'summary.kept',
    { text, conversation, ...(boundary === undefined ? {} : { boundary }) },
    `summary:${boundary ?? conversation + text.length}`,
  )
}

// The harness said that it compacted, and there is no transcript to show it.
function countWithoutEvidence(scene: Scene): void {
  scene.record('context.compacted', { conversation: scene.event.conversation })
  scene.note({ awaitsBoundary: false })
}

function recordFailedTests(scene: Scene, { toolUseId, command, isError, output }: Looked['commands'][number]): void {
  // A command that went well was seen by the hook after it.
  if (!isError) return
  const run = testRunOf(command, output, true)
  if (run !== undefined) scene.record('test.ran', { ...run, conversation: scene.event.conversation }, `test:${toolUseId}`)
}
