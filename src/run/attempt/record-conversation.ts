// Every conversation that we drive is stored: copied from what its harness writes down, or from what it tells us.
import { linesOf } from '../../project/conversation/lines-of-file.ts'
import {
  type Recorded,
  type Recorder,
  StreamRecorder,
} from '../../project/conversation/record-stream.ts'
import type { FileHistory } from '../../harness/contract/history.ts'
import type { TranscriptReader } from '../../harness/contract/transcript.ts'
import { findHarness, loadHistory } from '../../harness/registry.ts'
import type { HistoryItem } from '../../history/items.ts'
import { type ConversationStore, conversationStore } from '../../history/store.ts'
import { copyConversation } from '../../hook/copy-conversation.ts'
import { createFolder } from '../../journal/files.ts'
import { redaction } from '../../project/store/clean-draft.ts'
import { trackingFolderOf } from '../../project/store/conversation-binding.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { type Copy, CopyRecorder } from './copy-recorder.ts'

const PIECE = 4 * 1024 * 1024

/** Writes a conversation of this harness down, in the folder it works in. */
export async function recorderFor(
  workspace: Workspace,
  harness: string,
  cwd: string,
): Promise<Recorder> {
  const { hooks, recording } = findHarness(harness) ?? {}
  if (recording === 'driver') return NO_RECORDER
  const store = conversationStore(workspace.place.sessions, redaction(workspace.config))
  const of: Recorded = { store, harness, cwd, say: (text) => workspace.say(text) }
  if (recording === 'transcript' && hooks !== undefined)
    return new CopyRecorder(of, transcriptCopy(workspace, harness, hooks.transcript, cwd))
  const history = recording === 'history' ? await loadHistory(harness) : undefined
  if (history?.form === 'files') return new CopyRecorder(of, historyCopy(workspace, history, store))
  return new StreamRecorder(of)
}

/** The driver stores what is said itself. */
const NO_RECORDER: Recorder = { asked: () => {}, heard: () => {}, closed: () => {} }

function transcriptCopy(
  { config, env, place }: Workspace,
  harness: string,
  reader: TranscriptReader,
  cwd: string,
): Copy {
  return (conversation) => {
    const transcript = reader.find(conversation, cwd, env)
    if (transcript === undefined) return false
    createFolder(trackingFolderOf(place))
    while (copyConversation(place, config, { conversation, harness, transcript }, PIECE, Infinity));
    return true
  }
}

function historyCopy({ env }: Workspace, history: FileHistory, store: ConversationStore): Copy {
  let known: Set<string> | undefined
  let path: string | undefined
  return (conversation, isOver) => {
    path ??= fileOf(history, conversation, env)
    if (path === undefined) return false
    known ??= idsIn(store, conversation)
    const isBegun = store.has(conversation)
    const items = itemsIn(history, path, conversation, isOver).filter((item) => {
      if (item.type === 'began') return !isBegun
      return item.type !== 'ended' && !known!.has(item.id)
    })
    for (const item of items) if ('id' in item) known.add(item.id)
    store.append(conversation, items)
    return true
  }
}

function fileOf(
  history: FileHistory,
  conversation: string,
  env: NodeJS.ProcessEnv,
): string | undefined {
  for (const { path } of history.files(env)) if (path.includes(conversation)) return path
  return undefined
}

function idsIn(store: ConversationStore, conversation: string): Set<string> {
  if (!store.has(conversation)) return new Set()
  return new Set(
    [...store.read(conversation, { isBrief: true })].flatMap((item) =>
      'id' in item ? [item.id] : [],
    ),
  )
}

/** What is held back, since its use was not told yet, comes when no line follows. */
function itemsIn(
  history: FileHistory,
  path: string,
  conversation: string,
  isOver: boolean,
): readonly HistoryItem[] {
  const translator = history.translator({ conversation }, {})
  const items: HistoryItem[] = []
  let offset = 0
  for (const line of linesOf(path)) {
    const read = line.length === 0 ? [] : translator.translate(line, offset)
    // The last may be still being written.
    if (read !== 'damaged') items.push(...read)
    offset += line.length + 1
  }
  return isOver ? [...items, ...translator.rest()] : items
}
