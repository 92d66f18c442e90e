import { type SourcedValue, estimated } from '../../context/budget/budget.ts'
import type { ModelSettings } from './drive.ts'
import type { ProjectEnvironment } from './setup.ts'

export interface HarnessLimits {
  /** Absent where only the harness knows it. */
  readonly windowOf?: (model: string | undefined) => SourcedValue | undefined
  readonly compactionPoint: (
    project: Pick<ProjectEnvironment, 'root' | 'env'>,
  ) => (evidence: CompactionPointInput) => SourcedValue | undefined
  readonly configuredPoint?: (
    name: string,
    model: string | undefined,
    models: ModelSettings,
  ) => number | undefined
}

export interface CompactionPointInput {
  readonly window: SourcedValue | undefined
  readonly version?: string | undefined
  readonly tokens?: number | undefined
  readonly lastAutomatic?: { readonly tokens: number; readonly at: string } | undefined
}

export function limitsByRule(
  harness: string,
  rule: string,
  at: (window: number) => number,
): HarnessLimits {
  const point = ({ window }: CompactionPointInput): SourcedValue | undefined => {
    if (window === undefined) return undefined
    const value = Math.floor(at(window.value))
    return value > 0 ? estimated(value, `${harness}: ${rule}`, window.at) : undefined
  }
  return { compactionPoint: () => point }
}
