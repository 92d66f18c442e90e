import type { ServerSentEvent } from './server-sent-events.ts'
import type { ToolDefinition } from './tools/definitions.ts'
import type { HistoryItem, Part } from '../../../history/items.ts'
import type { Usage } from '../../../session/entries.ts'
import type { ApiSettings } from '../../contract/drive.ts'

export interface ModelRequest {
  readonly settings: ApiSettings
  readonly model: string
  readonly maxOutput: number
  readonly system: readonly string[]
  readonly items: readonly HistoryItem[]
  readonly tools: readonly ToolDefinition[]
}

export interface Reply {
  readonly parts: readonly Part[]
  readonly stop: Stop
  readonly usage?: Usage
  readonly model?: string
  readonly request?: string
}

/** `full`: no room left in the context. `cut`: the stream broke off. */
export type Stop = 'end' | 'tools' | 'length' | 'full' | 'refused' | 'cut'

export interface ReplyReader {
  take(event: ServerSentEvent): string | undefined
  readonly isWhole: boolean
  reply(): Reply
}

/** Holds an input that is not JSON, so that the model sees what it wrote. */
export const UNREADABLE = 'unreadable'

export function inputFrom(text: string): Readonly<Record<string, unknown>> {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Readonly<Record<string, unknown>>
  } catch {
    // The tool's result reports it to the model.
  }
  return { [UNREADABLE]: text }
}
