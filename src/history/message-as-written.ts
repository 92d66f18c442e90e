import { type Json, nameOf } from '../text/json-fields.ts'
import { agentIn, itemOf } from './item-of-line.ts'
import type { Message, NewItem } from './items.ts'

/** Parsed only where a field is read. */
class MessageAsWritten {
  readonly type = 'message'
  readonly id: string
  readonly at: string | undefined
  readonly role: Message['role']
  readonly agent: string | undefined
  readonly isMeta: boolean | undefined
  readonly isSummary: boolean | undefined
  readonly isFailure: boolean | undefined
  readonly #line: Json
  #item: Message | undefined

  constructor(
    line: Json,
    readonly parent: string | undefined,
    readonly source: string,
  ) {
    this.#line = line
    this.id = nameOf(line['uuid']) ?? ''
    this.at = nameOf(line['timestamp'])
    this.role = line['type'] as Message['role']
    this.agent = agentIn(line)
    this.isMeta = line['isMeta'] === true || undefined
    this.isSummary = line['isCompactSummary'] === true || undefined
    this.isFailure = line['isApiErrorMessage'] === true || undefined
  }

  get #whole() {
    return (this.#item ??= itemOf(this.#line) as Message)
  }

  get parts() {
    return this.#whole.parts
  }

  get model() {
    return this.#whole.model
  }

  get request() {
    return this.#whole.request
  }

  get usage() {
    return this.#whole.usage
  }
}

/** Undefined for lines with unusual fields. */
export function messageAsWritten(
  line: Json,
  source: string,
  parent: string | undefined,
): NewItem | undefined {
  const { type, message } = line
  const { content, role } = message as Json
  if ((type !== 'user' && type !== 'assistant') || role === 'system') return undefined
  if ((typeof content !== 'string' && !Array.isArray(content)) || line['leftOut'] !== undefined)
    return undefined
  if (line['context'] !== undefined || line['asTold'] !== undefined) return undefined
  // Absent fields are undefined here.
  return new MessageAsWritten(line, parent, source) as unknown as NewItem
}
