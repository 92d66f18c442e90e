import {
  type Recorded,
  type Recorder,
  StreamRecorder,
  untilOneFails,
} from '../../project/conversation/record-stream.ts'
import type { HarnessEvent } from '../../harness/contract/drive.ts'

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
