// How large a context may grow in a harness.
import { type Figure, estimated } from '../../context/budget/figures.ts'
import type { ModelSettings } from './drive.ts'

/** The part of a harness that knows its windows and where it compacts. */
export interface HarnessLimits {
  /** The window of a model, from its name alone. Absent where only the harness itself knows it. */
  readonly windowOf?: (model: string | undefined) => Figure | undefined
  /** Reads what is set about compaction in a project, and works out the compaction point from it. */
  readonly compactionPoint: (
    project: CompactionProject,
  ) => (evidence: PointEvidence) => Figure | undefined
  /** The point at which a model of a project's configuration is full. */
  readonly configuredPoint?: (
    name: string,
    model: string | undefined,
    models: ModelSettings,
  ) => number | undefined
}

/** Where the harness is started, and its environment. */
export interface CompactionProject {
  readonly root: string
  readonly env: NodeJS.ProcessEnv
}

export interface PointEvidence {
  readonly window: Figure | undefined
  /** Of the harness: `2.1.325`. */
  readonly version?: string | undefined
  /** Tokens in the context now. */
  readonly tokens?: number | undefined
  /** The last time that it compacted by itself, and how many tokens there were. */
  readonly lastAutomatic?: { readonly tokens: number; readonly at: string } | undefined
}

/** A harness that compacts at a fixed point of its window, as its sources say. */
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
