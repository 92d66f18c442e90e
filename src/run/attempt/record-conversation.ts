import { readFileLines } from '../../project/conversation/read-file-lines.ts'
import {
  type ConversationRecorder,
  StreamRecorder,
  type StreamRecorderOptions,
  stopAfterFirstFailure,
} from '../../project/conversation/conversation-recorder.ts'
import type { FileHistory } from '../../harness/contract/history.ts'
import type { TranscriptReader } from '../../harness/contract/transcript.ts'
import { findHarness, loadHistory } from '../../harness/registry.ts'
import type { HistoryItem } from '../../history/items.ts'
import { type ConversationStore, conversationStore } from '../../history/store.ts'
import { copyConversation } from '../../project/history/copy-conversation.ts'
import { createFolder } from '../../journal/write-files.ts'
import { redaction } from '../../project/store/clean-draft.ts'
import { conversationStateFolder } from '../../project/store/conversation-binding.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { HarnessEvent } from '../../harness/contract/drive.ts'

const CHUNK_BYTES = 4 * 1024 * 1024

export async function recorderFor(
  workspace: Workspace,
  harness: string,
  cwd: string,
): Promise<ConversationRecorder> {
  const { hooks, recording } = findHarness(harness) ?? {}
  if (recording === 'driver') return NO_RECORDER
  const store = conversationStore(workspace.paths.sessions, redaction(workspace.config))
  const of: StreamRecorderOptions = { store, harness, cwd, say: (text) => workspace.say(text) }
  if (recording === 'transcript' && hooks !== undefined)
    return new CopyRecorder(of, transcriptCopy(workspace, harness, hooks.transcript, cwd))
  const history = recording === 'history' ? await loadHistory(harness) : undefined
  if (history?.form === 'files') return new CopyRecorder(of, historyCopy(workspace, history, store))
  return new StreamRecorder(of)
}

const NO_RECORDER: ConversationRecorder = {
  recordPrompt: () => {},
  recordEvent: () => {},
  recordClose: () => {},
}

function transcriptCopy(
  { config, env, paths }: Workspace,
  harness: string,
  reader: TranscriptReader,
  cwd: string,
): Copy {
  return (conversation) => {
    const transcript = reader.find(conversation, cwd, env)
    if (transcript === undefined) return false
    createFolder(conversationStateFolder(paths))
    while (
      copyConversation(paths, config, { conversation, harness, transcript }, CHUNK_BYTES, Infinity)
    );
    return true
  }
}

function historyCopy({ env }: Workspace, history: FileHistory, store: ConversationStore): Copy {
  let known: Set<string> | undefined
  let path: string | undefined
  return (conversation, isOver) => {
    if (path === undefined)
      for (const file of history.files(env))
        if (file.path.includes(conversation)) {
          path = file.path
          break
        }
    if (path === undefined) return false
    known ??= idsIn(store, conversation)
    const isStored = store.has(conversation)
    const items = itemsIn(history, path, conversation, isOver).filter((item) => {
      if (item.type === 'began') return !isStored
      return item.type !== 'ended' && !known!.has(item.id)
    })
    for (const item of items) if ('id' in item) known.add(item.id)
    store.append(conversation, items)
    return true
  }
}

function idsIn(store: ConversationStore, conversation: string): Set<string> {
  if (!store.has(conversation)) return new Set()
  return new Set(
    [...store.read(conversation, { isBrief: true })].flatMap((item) =>
      'id' in item ? [item.id] : [],
    ),
  )
}

function itemsIn(
  history: FileHistory,
  path: string,
  conversation: string,
  isOver: boolean,
): readonly HistoryItem[] {
  const translator = history.createTranslator({ conversation }, {})
  const items: HistoryItem[] = []
  let offset = 0
  for (const line of readFileLines(path)) {
    const read = line.length === 0 ? [] : translator.translate(line, offset)
    // The last line may be incomplete.
    if (read !== 'damaged') items.push(...read)
    offset += line.length + 1
  }
  return isOver ? [...items, ...(translator.flush?.() ?? [])] : items
}

/** Copies new items. False when the harness has written no visible transcript. */
type Copy = (conversation: string, isOver: boolean) => boolean

/** Copies the harness's transcript after each turn, and stores the events instead where a container hides the transcript. */
export class CopyRecorder implements ConversationRecorder {
  readonly #attempt: (work: () => void) => void
  #conversation: string | undefined
  #isCopied = false
  #pending: ((stream: ConversationRecorder) => void)[] = []
  #stream: StreamRecorder | undefined

  constructor(
    private readonly of: StreamRecorderOptions,
    private readonly copy: Copy,
  ) {
    this.#attempt = stopAfterFirstFailure(of.say)
  }

  recordPrompt(text: string): void {
    this.#forward((stream) => stream.recordPrompt(text))
  }

  recordEvent(event: HarnessEvent): void {
    if (event.type === 'started') this.#conversation = event.conversation
    this.#forward((stream) => stream.recordEvent(event))
    if (event.type === 'turn ended') this.#attempt(() => this.#copyNow(false))
  }

  recordClose(): void {
    this.#attempt(() => this.#copyNow(true))
    if (this.#stream !== undefined) return this.#stream.recordClose()
    const conversation = this.#conversation
    if (conversation === undefined || !this.#isCopied) return
    this.#attempt(() =>
      this.of.store.append(conversation, [
        { type: 'ended', at: new Date().toISOString(), reason: 'closed' },
      ]),
    )
  }

  #forward(action: (stream: ConversationRecorder) => void): void {
    if (this.#stream !== undefined) action(this.#stream)
    else if (!this.#isCopied) this.#pending.push(action)
  }

  #copyNow(isOver: boolean): void {
    if (this.#conversation === undefined || this.#stream !== undefined) return
    const hasTranscript = this.copy(this.#conversation, isOver)
    const pending = this.#pending
    this.#pending = []
    this.#isCopied ||= hasTranscript
    if (this.#isCopied) return
    const stream = new StreamRecorder(this.of)
    this.#stream = stream
    for (const action of pending) action(stream)
  }
}
