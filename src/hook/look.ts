import { readTracking, writeTracking } from '../project/conversation/tracking.ts'
import { type Piece, readPiece } from '../harness/contract/read-piece.ts'
import { type Looked, lookAtPiece } from '../harness/claude/transcript.ts'
import { mayBeTests } from '../command/may-be-tests.ts'
import { clip, secretless } from './clip.ts'
import { openWindow } from './deliver.ts'
import type { Scene } from './scene.ts'
import { defined } from '../text/defined.ts'

const PIECE = 1024 * 1024
const MOST_PIECES = 32
const LONGEST_SUMMARY = 16_000

/** What the transcript has to say about the text that was given last. */
export type Arrival = 'nothing given' | 'proved' | 'not yet known' | 'missing' | 'not recorded'

/**
 * Reads what the harness wrote since the last look and records what only the transcript shows: compactions,
 * the summary, how tests went, how much was used. Bounded, so that a transcript of any size costs the same.
 */
export async function lookAtTranscript(
  scene: Scene,
  { pieces = MOST_PIECES, isEarly = false }: { pieces?: number; isEarly?: boolean } = {},
): Promise<{ looked?: Looked; arrival: Arrival }> {
  const { transcript, looked: last, given } = scene.tracking
  const piece = transcript === undefined ? undefined : readPiece(transcript, last, PIECE)
  if (piece === undefined) {
    if (scene.tracking.awaitsBoundary === true && !isEarly) countWithoutEvidence(scene)
    return {
      arrival: given === undefined ? 'nothing given' : given.isProved ? 'proved' : 'not yet known',
    }
  }
  const result = await lookAtOne(scene, piece, last === undefined)
  // What is waited for may stand behind megabytes of pictures and output.
  const isAwaited =
    scene.tracking.awaitsBoundary === true || scene.tracking.given?.isProved === false
  const isBehind = piece.from + piece.bytes.length < piece.size && piece.bytes.length > 0
  return isAwaited && isBehind && pieces > 1
    ? lookAtTranscript(scene, { pieces: pieces - 1 })
    : result
}

async function lookAtOne(
  scene: Scene,
  piece: Piece,
  isFirst: boolean,
): Promise<{ looked: Looked; arrival: Arrival }> {
  const looked = lookAtPiece(piece.bytes, scene.tracking.carried)
  await recordWhatIsSeen(scene, scene.event.conversation, looked)
  // Before this conversation was followed, what happened in it is not this session's.
  if (!isFirst || piece.from === 0) {
    recordCompactions(scene, scene.event.conversation, looked)
    followCompactions(scene, looked)
  }
  scene.note({
    looked: { offset: piece.from + looked.consumed, inode: piece.inode },
    carried: looked.carried.map(({ toolUseId, command }) => ({
      toolUseId,
      command: secretless(command, scene.config),
    })),
  })
  if (looked.lastAssistantAt !== undefined) scene.note({ answeredAt: looked.lastAssistantAt })
  if (looked.usage !== undefined) scene.note({ usage: { ...looked.usage, model: looked.model } })
  return { looked, arrival: arrivalIn(scene, looked) }
}

/** What a conversation said before it was followed is not this session's. */
export function passOverEarlier(scene: Scene): void {
  const { transcript, looked } = scene.tracking
  const piece =
    transcript === undefined || looked !== undefined
      ? undefined
      : readPiece(transcript, undefined, 0)
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
  // Until the model has answered, the harness may not have written down what it was given; what it gave after a
  // compaction stands right behind the boundary.
  const isJudged =
    scene.tracking.sawBoundary === true || (scene.tracking.answeredAt ?? '') > given.at
  if (!isJudged) return 'not yet known'
  return scene.tracking.recordsHookContext === true ? 'missing' : 'not recorded'
}

/**
 * Looks at what the conversation before this one left, when nobody did: it was killed, or ended before its
 * transcript was written out.
 */
export async function lookAtPrevious(scene: Scene): Promise<void> {
  const previous = scene.state.conversations.items.findLast(
    (known) => known.text !== scene.event.conversation,
  )
  const tracking = previous === undefined ? undefined : readTracking(scene.notes, previous.text)
  if (previous === undefined || tracking?.transcript === undefined || tracking.looked === undefined)
    return
  // It may have gone on with another session since.
  if (tracking.session !== scene.session?.id) return
  const piece = readPiece(tracking.transcript, tracking.looked, PIECE)
  if (piece === undefined || piece.bytes.length === 0) return
  const looked = lookAtPiece(piece.bytes, tracking.carried)
  await recordWhatIsSeen(scene, previous.text, looked)
  recordCompactions(scene, previous.text, looked)
  // One that still runs keeps its own notes; what is seen twice counts once.
  if (previous.endedAt === undefined) return
  const place = { offset: piece.from + looked.consumed, inode: piece.inode }
  const { carried: _seen, ...rest } = tracking
  scene.attempt(() => writeTracking(scene.notes, { ...rest, looked: place }))
}

async function recordWhatIsSeen(scene: Scene, conversation: string, looked: Looked): Promise<void> {
  const { commands, queued, failure, lastAssistantAt } = looked
  const tests = commands.filter(({ command }) => mayBeTests(command))
  if (tests.length > 0) await recordTests(scene, conversation, tests)
  if (queued.length > 0) {
    const { recordRequest } = await import('./requests.ts')
    for (const { uuid, text } of queued)
      recordRequest(scene, text, { conversation, once: `queued:${uuid}` })
  }
  if (failure !== undefined)
    scene.record(
      'turn.ended',
      { conversation, failure },
      `failure:${conversation}:${lastAssistantAt}`,
    )
}

function recordCompactions(
  scene: Scene,
  conversation: string,
  { boundaries, summary }: Looked,
): void {
  for (const { uuid, trigger, tokensBefore } of boundaries) {
    const data = { conversation, boundary: uuid, ...defined({ trigger }) }
    const tokens = tokensBefore === undefined ? {} : { tokensBefore }
    scene.record('context.compacted', { ...data, ...tokens }, `boundary:${uuid}`)
  }
  if (summary === undefined) return
  const boundary = summary.boundary ?? boundaries.at(-1)?.uuid
  const text = clip(summary.text, LONGEST_SUMMARY, scene.config)
  const kept = { text, conversation, ...defined({ boundary }) }
  scene.record('summary.kept', kept, `summary:${boundary ?? conversation + text.length}`)
}

function followCompactions(scene: Scene, { boundaries }: Looked): void {
  if (boundaries.length === 0) return
  scene.note({ sawBoundary: scene.tracking.awaitsBoundary === true })
  // Nobody told us that it happened, so what was given before is gone and nothing was given since.
  if (scene.tracking.awaitsBoundary !== true) {
    openWindow(scene)
    scene.note({ isOwed: true })
  }
  const { usage: _ofBefore, ...rest } = scene.tracking
  scene.tracking = { ...rest, awaitsBoundary: false }
}

// The harness said that it compacted, and there is no transcript to show it.
function countWithoutEvidence(scene: Scene): void {
  scene.record('context.compacted', { conversation: scene.event.conversation })
  scene.note({ awaitsBoundary: false })
}

async function recordTests(
  scene: Scene,
  conversation: string,
  commands: Looked['commands'],
): Promise<void> {
  const { testRunOf } = await import('../command/test-runs.ts')
  for (const { toolUseId, command, output, isError } of commands) {
    const run = testRunOf(command, output, isError)
    if (run !== undefined) scene.record('test.ran', { ...run, conversation }, `test:${toolUseId}`)
  }
}
