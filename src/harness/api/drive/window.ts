import { plainName } from '../../../context/budget/prices.ts'
import { windowOf } from '../../../context/budget/model-windows.ts'
import type { ApiSettings } from '../../contract/drive.ts'

export interface Room {
  /** What the context holds; absent when nobody knows. */
  readonly window?: number
  /** The longest answer. */
  readonly maxOutput: number
  /** Beyond this there is no room left for the longest answer. */
  readonly point?: number
}

const USUAL_ANSWER = 16_000

/** Families of models by the beginning of their names, the longer first. */
const WINDOWS: readonly (readonly [beginning: string, window: number])[] = [
  ['gpt-4.1', 1_047_576],
  ['gpt-4o', 128_000],
  ['gpt-4-turbo', 128_000],
  ['gpt-5', 400_000],
  ['o1', 200_000],
  ['o3', 200_000],
  ['o4-mini', 200_000],
]

/** How much room a model has, from the settings or from its name. */
export function roomFor(settings: Pick<ApiSettings, 'window' | 'maxOutput'>, model: string): Room {
  const window = settings.window ?? windowOf(model, undefined)?.value ?? windowByName(model)
  if (window === undefined) return { maxOutput: settings.maxOutput ?? USUAL_ANSWER }
  // Of a small window an answer of the usual length would leave little.
  const maxOutput = settings.maxOutput ?? Math.min(USUAL_ANSWER, Math.floor(window / 4))
  return { window, maxOutput, point: window - maxOutput }
}

function windowByName(model: string): number | undefined {
  const name = plainName(model)
  return WINDOWS.find(([beginning]) => name.startsWith(beginning))?.[1]
}
