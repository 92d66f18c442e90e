// What an ACP agent says while it works, as events. Read from what came over the line and not through the schema: an
// update that this version of the protocol does not know must not cost the ones it does.
import type { HarnessEvent } from '../../contract/drive.ts'
import { type Json, countOf, nameOf, objectOf, textOf } from '../../../text/json-fields.ts'
import { limitIn } from '../../contract/usage-limit.ts'
import { type ToolUse, toolEvent, toolUse } from './tools.ts'
import { defined } from '../../../text/defined.ts'

/** Reads the updates of one conversation, in their order. */
export class Updates {
  readonly #tools = new Map<
    string,
    ToolUse & { readonly isStarted?: boolean; readonly isOver?: boolean }
  >()
  readonly #compactions = new Map<
    string,
    { readonly tokensBefore: number | undefined; readonly isTold: boolean }
  >()
  #message = ''
  #messageId: string | undefined
  #context: number | undefined
  /** The last whole message. */
  said: string | undefined
  readonly #tellsDeltas: boolean

  constructor({ deltas }: { readonly deltas?: boolean } = {}) {
    this.#tellsDeltas = deltas === true
  }

  read(update: Json): readonly HarnessEvent[] {
    switch (update['sessionUpdate']) {
      case 'agent_message_chunk':
        return this.#chunk(update)
      case 'user_message_chunk':
      case 'agent_thought_chunk':
        return this.flush()
      case 'tool_call':
      case 'tool_call_update':
        return [...this.flush(), ...this.#tool(update)]
      case 'usage_update':
        return this.#usage(update)
      case 'compaction_update':
        return [...this.flush(), ...this.#compaction(update)]
      case 'notice':
        return this.#notice(update)
      default:
        return []
    }
  }

  /** The message that was being said, for it is over. */
  flush(): readonly HarnessEvent[] {
    const text = this.#message
    this.#message = ''
    if (text.trim() === '') return []
    this.said = text
    return [{ type: 'text', text }]
  }

  /** A turn is over: what was begun in it has failed, and is not gone on with. */
  endTurn(): readonly HarnessEvent[] {
    const unfinished = [...this.#tools.values()].filter(
      (use) => use.isStarted === true && use.isOver !== true,
    )
    this.#tools.clear()
    return [...this.flush(), ...unfinished.map((use) => toolEvent(use, 'failed'))]
  }

  /** What is known of a use of a tool, with what a request about it tells. */
  tool(told: Json): ToolUse {
    const id = nameOf(told['toolCallId']) ?? ''
    return toolUse(id, told, this.#tools.get(id))
  }

  #chunk(update: Json): readonly HarnessEvent[] {
    const content = objectOf(update['content'])
    const id = nameOf(update['messageId'])
    const isAnother = id !== undefined && this.#messageId !== undefined && id !== this.#messageId
    const before = isAnother ? this.flush() : []
    this.#messageId = id
    const text = content?.['type'] === 'text' ? content['text'] : undefined
    if (typeof text !== 'string' || text === '') return before
    this.#message += text
    return this.#tellsDeltas ? [...before, { type: 'delta', text }] : before
  }

  #tool(update: Json): readonly HarnessEvent[] {
    const id = nameOf(update['toolCallId'])
    if (id === undefined) return []
    const before = this.#tools.get(id)
    if (before?.isOver === true) return []
    const use = toolUse(id, update, before)
    const isOver = use.status === 'completed' || use.status === 'failed'
    // Announced before it is known what it does: it begins when that is told.
    const isKnown =
      use.command !== undefined || use.paths.length > 0 || (use.status ?? 'pending') !== 'pending'
    const isStarted = before?.isStarted === true || isKnown
    this.#tools.set(id, { ...use, isStarted, isOver })
    return [
      ...(isStarted && before?.isStarted !== true ? [toolEvent(use, 'started')] : []),
      ...(isOver ? [toolEvent(use, use.status === 'failed' ? 'failed' : 'completed')] : []),
    ]
  }

  #usage(update: Json): readonly HarnessEvent[] {
    const context = countOf(update['used'])
    const window = countOf(update['size'])
    const cost = objectOf(update['cost'])
    const costUsd = cost?.['currency'] === 'USD' ? countOf(cost['amount']) : undefined
    this.#context = context ?? this.#context
    // Some say 0 for what they do not know.
    const model = nameOf(objectOf(update['_meta'])?.['_claude/model'])
    return [
      {
        type: 'usage',
        ...defined({ context, window: window === 0 ? undefined : window, costUsd, model }),
      },
    ]
  }

  /** Told once, when it is done; some say so twice, and again when the conversation is loaded. */
  #compaction(update: Json): readonly HarnessEvent[] {
    const id = nameOf(update['compactionId'])
    if (id === undefined) return []
    const { tokensBefore, isTold } = this.#compactions.get(id) ?? {
      tokensBefore: this.#context,
      isTold: false,
    }
    const isDone = update['status'] === 'completed'
    this.#compactions.set(id, { tokensBefore, isTold: isTold || isDone })
    return isDone && !isTold
      ? [{ type: 'compaction', boundary: id, ...defined({ tokensBefore }) }]
      : []
  }

  #notice(update: Json): readonly HarnessEvent[] {
    const { severity, title, description } = update
    const limit =
      severity === 'error'
        ? limitIn([title, description].flatMap((part) => textOf(part) ?? []).join(': '))
        : undefined
    return limit === undefined ? [] : [{ type: 'limit', ...limit }]
  }
}
