// Every conversation that we drive is stored: copied from what its harness writes down, or from what it tells us.
import { linesOf } from '../../project/conversation/lines-of-file.ts'
import {
  type Recorded,
  type Recorder,
  StreamRecorder,
  untilOneFails,
} from '../../project/conversation/record-stream.ts'
import type { FileHistory } from '../../harness/contract/history.ts'
import type { TranscriptReader } from '../../harness/contract/transcript.ts'
import { findHarness, loadHistory } from '../../harness/registry.ts'
import type { HistoryItem } from '../../history/items.ts'
import { type ConversationStore, conversationStore } from '../../history/store.ts'
import { copyConversation } from '../../project/history/copy-conversation.ts'
import { createFolder } from '../../journal/files.ts'
import { redaction } from '../../project/store/clean-draft.ts'
import { trackingFolderOf } from '../../project/store/conversation-binding.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { HarnessEvent } from '../../harness/contract/drive.ts'

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
  return isOver ? [...items, ...(translator.rest?.() ?? [])] : items
}

/** Copies what is new in what a harness has written down of a conversation. False when it has written nothing that we can see. */
export type Copy = (conversation: string, isOver: boolean) => boolean

/**
 * Follows a conversation that its harness writes down itself: that is copied whenever a turn is over. In a container it may be
 * where we cannot see it, and then what is told has to do.
 */
export class CopyRecorder implements Recorder {
  readonly #of: Recorded
  readonly #copy: Copy
  readonly #attempt: (work: () => void) => void
  #conversation: string | undefined
  #isCopied = false
  /** What was told, as long as it is not known whether there is something to copy. */
  #told: ((stream: Recorder) => void)[] = []
  #stream: StreamRecorder | undefined

  constructor(of: Recorded, copy: Copy) {
    this.#of = of
    this.#copy = copy
    this.#attempt = untilOneFails(of.say)
  }

  asked(text: string): void {
    this.#pass((stream) => stream.asked(text))
  }

  heard(event: HarnessEvent): void {
    if (event.type === 'started') this.#conversation = event.conversation
    this.#pass((stream) => stream.heard(event))
    if (event.type === 'turn ended') this.#attempt(() => this.#take(false))
  }

  closed(): void {
    this.#attempt(() => this.#take(true))
    if (this.#stream !== undefined) return this.#stream.closed()
    const conversation = this.#conversation
    if (conversation === undefined || !this.#isCopied) return
    this.#attempt(() =>
      this.#of.store.append(conversation, [
        { type: 'ended', at: new Date().toISOString(), reason: 'closed' },
      ]),
    )
  }

  #pass(tell: (stream: Recorder) => void): void {
    if (this.#stream !== undefined) tell(this.#stream)
    else if (!this.#isCopied) this.#told.push(tell)
  }

  #take(isOver: boolean): void {
    if (this.#conversation === undefined || this.#stream !== undefined) return
    const isThere = this.#copy(this.#conversation, isOver)
    const told = this.#told
    this.#told = []
    this.#isCopied ||= isThere
    if (this.#isCopied) return
    const stream = new StreamRecorder(this.#of)
    this.#stream = stream
    for (const tell of told) tell(stream)
  }
}
