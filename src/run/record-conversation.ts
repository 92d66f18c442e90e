// Every conversation that we drive is stored: copied from what its harness writes down, or from what it tells us.
import { type Recorded, type Recorder, StreamRecorder, untilOneFails } from '../conversation/record-stream.ts'
import { transcriptOf } from '../harness/claude/transcript-path.ts'
import type { HarnessEvent } from '../harness/contract.ts'
import { conversationStore } from '../history/store.ts'
import { copyConversation } from '../hook/copy-conversation.ts'
import { createFolder } from '../journal/files.ts'
import { redaction } from '../project/clean-draft.ts'
import { trackingFolderOf } from '../project/conversation-binding.ts'
import type { Workspace } from '../project/workspace.ts'
import { given } from '../text/json-fields.ts'

const PIECE = 4 * 1024 * 1024

/** Writes a conversation of this harness down, in the folder it works in. */
export function recorderFor(workspace: Workspace, harness: string, cwd: string): Recorder {
  if (/^api(?::|$)/.test(harness)) return NOBODY
  const store = conversationStore(workspace.place.sessions, redaction(workspace.config))
  const of: Recorded = { store, harness, cwd, say: (text) => workspace.say(text) }
  return harness === 'claude' ? new TranscriptRecorder(workspace, of) : new StreamRecorder(of)
}

/** It stores what is said itself. */
const NOBODY: Recorder = { asked: () => {}, heard: () => {}, closed: () => {} }

/** Copies what Claude Code writes down, when a turn is over. */
class TranscriptRecorder implements Recorder {
  readonly #workspace: Workspace
  readonly #of: Recorded
  readonly #attempt: (work: () => void) => void
  #conversation: string | undefined

  constructor(workspace: Workspace, of: Recorded) {
    this.#workspace = workspace
    this.#of = of
    this.#attempt = untilOneFails(of.say)
  }

  asked(): void {}

  heard(event: HarnessEvent): void {
    if (event.type === 'started') this.#attempt(() => this.#started(event))
    else if (event.type === 'turn ended') this.#attempt(() => this.#copy())
  }

  closed(): void {
    this.#attempt(() => {
      this.#copy()
      if (this.#conversation === undefined) return
      this.#of.store.append(this.#conversation, [{ type: 'ended', at: new Date().toISOString(), reason: 'closed' }])
    })
  }

  #started({ conversation, model }: Extract<HarnessEvent, { type: 'started' }>): void {
    this.#conversation = conversation
    const { store, harness, cwd } = this.#of
    if (store.has(conversation)) return
    store.append(conversation, [{ type: 'began', conversation, harness, at: new Date().toISOString(), cwd, ...given({ model }) }])
  }

  #copy(): void {
    const conversation = this.#conversation
    if (conversation === undefined) return
    const { config, env, place } = this.#workspace
    const transcript = transcriptOf(conversation, this.#of.cwd, env)
    if (transcript === undefined) return
    createFolder(trackingFolderOf(place))
    while (copyConversation(place, config, { conversation, harness: this.#of.harness, transcript }, PIECE, Infinity));
  }
}
