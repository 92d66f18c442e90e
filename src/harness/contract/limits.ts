import { type Figure, estimated } from '../../context/budget/figures.ts'
import type { ModelSettings } from './drive.ts'
import type { Surroundings } from './setup.ts'

export interface HarnessLimits {
  /** Absent where only the harness itself knows it. */
  readonly windowOf?: (model: string | undefined) => Figure | undefined
  readonly compactionPoint: (
    project: Pick<Surroundings, 'root' | 'env'>,
  ) => (evidence: PointEvidence) => Figure | undefined
  readonly configuredPoint?: (
    name: string,
    model: string | undefined,
    models: ModelSettings,
  ) => number | undefined
}

export interface PointEvidence {
  readonly window: Figure | undefined
  readonly version?: string | undefined
  readonly tokens?: number | undefined
  readonly lastAutomatic?: { readonly tokens: number; readonly at: string } | undefined
}

export function fixedPoint(
  harness: string,
  rule: string,
  at: (window: number) => number,
): HarnessLimits {
  const point = ({ window }: PointEvidence): Figure | undefined => {
    if (window === undefined) return undefined
    const value = Math.floor(at(window.value))
    return value > 0 ? estimated(value, `${harness}: ${rule}`, window.at) : undefined
  }
  return { compactionPoint: () => point }
}
