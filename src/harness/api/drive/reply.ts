import type { ServerSentEvent } from './server-sent-events.ts'
import type { ToolDefinition } from './tools/definitions.ts'
import type { HistoryItem, Part } from '../../../history/items.ts'
import type { Usage } from '../../../session/entries.ts'
import type { ApiSettings } from '../../contract/drive.ts'

/** One request to a model, which remembers nothing of those before. */
export interface ModelRequest {
  readonly settings: ApiSettings
  readonly model: string
  readonly maxOutput: number
  /** The standing instructions. */
  readonly system: readonly string[]
  /** What was said, as it is stored. */
  readonly items: readonly HistoryItem[]
  readonly tools: readonly ToolDefinition[]
}

/** What a model answered to one request. */
export interface Reply {
  readonly parts: readonly Part[]
  readonly stop: Stop
  readonly usage?: Usage
  readonly model?: string
  /** The provider's own id of it. */
  readonly request?: string
}

/** `length`: it became longer than it may. `full`: there was no room left in the context. `cut`: it is not at its end. */
export type Stop = 'end' | 'tools' | 'length' | 'full' | 'refused' | 'cut'

/** Puts an answer together as it comes. */
export interface ReplyReader {
  /** Takes one event, and answers the piece of text that it brought. */
  take(event: ServerSentEvent): string | undefined
  readonly isWhole: boolean
  /** The answer, or as much of it as there is: the tools of one that was cut off are not among it. */
  reply(): Reply
}

/** The name under which an input stands that was no JSON, so that the model sees what it wrote. */
export const UNREADABLE = 'unreadable'

export function inputFrom(text: string): Readonly<Record<string, unknown>> {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Readonly<Record<string, unknown>>
  } catch {
    // Told to the model by the result of the tool.
  }
  return { [UNREADABLE]: text }
}
