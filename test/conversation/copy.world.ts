import { appendFileSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type CopyResult,
  type CopyCursor,
  type CopyRequest,
  copyTranscriptChunk,
} from '../../src/project/conversation/copy-transcript.ts'
import type { HistoryItem } from '../../src/history/items.ts'
import { readConversationLines } from '../../src/history/blobs.ts'
import { conversationStore } from '../../src/history/store.ts'
import type { Json } from '../../src/text/json-fields.ts'
import { scratchFolder } from '../support/scratch.ts'

/** A growing transcript and its copy. */
export class Copying {
  readonly folder = scratchFolder()
  readonly transcript = join(this.folder, 'transcript.jsonl')
  readonly target = join(this.folder, '.sessions', 'conversations', 'c0ffee.jsonl')
  cursor: CopyCursor | undefined

  write(...lines: readonly (string | Buffer)[]): this {
    for (const line of lines) appendFileSync(this.transcript, line)
    return this
  }

  replace(...lines: readonly string[]): this {
    writeFileSync(this.transcript, lines.join(''))
    return this
  }

  /** One call, as from a hook. */
  copy(options: Partial<CopyRequest> = {}): CopyResult | undefined {
    const { transcript, target, cursor } = this
    const copied = copyTranscriptChunk({
      transcript,
      target,
      conversation: { id: 'c0ffee', harness: 'claude' },
      maxBytes: 65_536,
      redaction: {},
      ...(cursor === undefined ? {} : { cursor }),
      ...options,
    })
    // Callers store the cursor in a file.
    if (copied !== undefined) this.cursor = JSON.parse(JSON.stringify(copied.cursor)) as CopyCursor
    return copied
  }

  /** Calls until it has caught up. */
  copyAll(options: Partial<CopyRequest> = {}): this {
    for (let call = 0; call < 10_000; call += 1)
      if (this.copy(options)?.isCaughtUp !== false) return this
    throw new Error('it never catches up')
  }

  get bytes(): string {
    return readFileSync(this.target, 'utf8')
  }

  /** The stored messages. */
  get lines(): readonly Json[] {
    return this.all.filter(({ type }) => type !== 'conversation' && type !== 'link')
  }

  /** With the links between them. */
  get all(): readonly Json[] {
    return [...readConversationLines(this.target)].map(({ line }) => line)
  }

  get items(): readonly HistoryItem[] {
    return [...conversationStore(join(this.folder, '.sessions'), {}).read('c0ffee')]
  }

  /** The texts of all blobs. */
  get blobs(): readonly string[] {
    const folder = join(this.folder, '.sessions', 'conversations', 'blobs')
    const names = existsSync(folder)
      ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
      : []
    return names
      .filter((name) => name.length > 60)
      .map((name) => readFileSync(join(folder, name), 'utf8'))
  }

  /** The texts of the messages, in order. */
  get texts(): readonly unknown[] {
    return this.lines.map((line) => {
      const { content } = (line['message'] ?? {}) as { content?: unknown }
      return Array.isArray(content)
        ? ((content[0] as { text?: string }).text ?? content[0])
        : content
    })
  }
}
