import { plainName } from '../../../context/budget/prices.ts'
import { windowOf } from '../../../context/budget/model-windows.ts'
import type { ApiSettings } from '../../contract/drive.ts'

export interface Room {
  readonly window?: number
  readonly maxOutput: number
  readonly point?: number
}

const USUAL_ANSWER = 16_000

const WINDOWS: readonly (readonly [beginning: string, window: number])[] = [
  ['gpt-4.1', 1_047_576],
  ['gpt-4o', 128_000],
  ['gpt-4-turbo', 128_000],
  ['gpt-5', 400_000],
  ['o1', 200_000],
  ['o3', 200_000],
  ['o4-mini', 200_000],
]

export function roomFor(settings: Pick<ApiSettings, 'window' | 'maxOutput'>, model: string): Room {
  const window = settings.window ?? windowOf(model, undefined)?.value ?? windowByName(model)
  if (window === undefined) return { maxOutput: settings.maxOutput ?? USUAL_ANSWER }
  const maxOutput = settings.maxOutput ?? Math.min(USUAL_ANSWER, Math.floor(window / 4))
  return { window, maxOutput, point: window - maxOutput }
}

function windowByName(model: string): number | undefined {
  const name = plainName(model)
  return WINDOWS.find(([beginning]) => name.startsWith(beginning))?.[1]
}
