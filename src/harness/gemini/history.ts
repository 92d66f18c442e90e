// A message is written again when more of it is known, and all of them after a resume or
// compression.
import { basename, dirname, join } from 'node:path'
import { homedir } from 'node:os'
import { isConversationId } from '../../history/conversation-id.ts'
import type { HistoryItem } from '../../history/items.ts'
import { readOrUndefined } from '../../journal/look.ts'
import { type Json, listOf, nameOf, objectOf, parseJson } from '../../text/json-fields.ts'
import { beginningOf, filesBelow, filesNamed, firstObjects } from '../contract/history-files.ts'
import type { FileHistory, HistoryFile, HistoryHead, Translator } from '../contract/history.ts'
import { isSnapshot, messagesOf } from './history/chat-messages.ts'
import { defined } from '../../text/defined.ts'

const HEAD_BYTES = 16 * 1024

export const geminiHistory: FileHistory = {
  form: 'files',
  name: 'gemini',
  isRepetitive: true,
  files: ({ HOME: home }) => chatsIn(filesBelow(join(home || homedir(), '.gemini', 'tmp'))),
  filesAt: (path) => chatsIn(filesNamed(path)),
  head: headOf,
  translator: (head, memory) => new ChatTranslator(head, memory),
}

function* chatsIn(paths: Iterable<string>): Generator<HistoryFile> {
  for (const path of paths) {
    const [, extension] = /^session-.*\.(jsonl?)$/.exec(basename(path)) ?? []
    if (extension !== undefined) yield { path, form: extension === 'json' ? 'document' : 'lines' }
  }
}

function headOf(file: HistoryFile): HistoryHead | undefined {
  const fields =
    file.form === 'document'
      ? documentHead(file.path)
      : firstObjects(file.path, HEAD_BYTES).next().value
  const conversation = nameOf(fields?.['sessionId'])
  if (!isConversationId(conversation)) return undefined
  const cwd = readOrUndefined(join(dirname(dirname(file.path)), '.project_root'))
    ?.toString('utf8')
    .trim()
  return {
    conversation,
    ...defined({ cwd: nameOf(cwd, 4096), cwdHash: nameOf(fields?.['projectHash']) }),
  }
}

// A document may be too long to read whole.
function documentHead(path: string): Json {
  const start = beginningOf(path, HEAD_BYTES)?.toString('utf8') ?? ''
  return Object.fromEntries(
    ['sessionId', 'projectHash'].map((name) => [
      name,
      new RegExp(`"${name}"\\s*:\\s*"([\\w-]{1,128})"`).exec(start)?.[1],
    ]),
  )
}

class ChatTranslator implements Translator {
  readonly #head: HistoryHead
  #hasBegun: boolean
  #window: string

  constructor(head: HistoryHead, memory: Json) {
    this.#head = head
    this.#hasBegun = memory['hasBegun'] === true
    this.#window = nameOf(memory['window']) ?? ''
  }

  translate(line: Buffer): readonly HistoryItem[] | 'damaged' {
    const fields = objectOf(parseJson(line.toString('utf8')))
    if (fields === undefined) return 'damaged'
    const all = objectOf(fields['$set'])
    if (all !== undefined) return this.#restated(listOf(all['messages']))
    return [...this.#began(fields), ...messagesOf(fields, this.#window)]
  }

  rest(): readonly HistoryItem[] {
    return []
  }

  heldFrom(): undefined {
    return undefined
  }

  memory(): Json {
    return { hasBegun: this.#hasBegun, window: this.#window }
  }

  #began(fields: Json): readonly HistoryItem[] {
    const at = nameOf(fields['startTime']) ?? nameOf(fields['timestamp'])
    if (this.#hasBegun || at === undefined) return []
    this.#hasBegun = true
    const { conversation, cwd } = this.#head
    return [{ type: 'began', conversation, harness: 'gemini', at, ...defined({ cwd }) }]
  }

  /** After a compression all messages get new names, which the model now sees. */
  #restated(messages: readonly unknown[]): readonly HistoryItem[] {
    const items: HistoryItem[] = []
    let isCompressed = false
    for (const value of messages) {
      const fields = objectOf(value)
      if (fields === undefined) continue
      if (isSnapshot(fields)) {
        isCompressed = true
        this.#window = `~${String(fields['id']).slice(0, 8)}`
        items.push({
          type: 'compaction',
          id: `compaction-${String(fields['id'])}`,
          ...defined({ at: nameOf(fields['timestamp']) }),
        })
        items.push(
          ...messagesOf(fields, this.#window).map((message) => ({ ...message, isSummary: true })),
        )
      } else {
        items.push(
          ...messagesOf(fields, this.#window).map((message) =>
            isCompressed ? { ...message, isMeta: true } : message,
          ),
        )
      }
    }
    return items
  }
}
