import type { HistoryItem } from '../../../history/items.ts'
import type { ApiSettings } from './settings.ts'
import type { ToolDefinition } from './tools/definitions.ts'

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
