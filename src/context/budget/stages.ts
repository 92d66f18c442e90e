// Stages are percentages of the compaction point, not of the window: harnesses compact at different
// points.

/** Up to 100: percent of the compaction point. Above: tokens. */
export type BudgetStage = number

/** In the order of the stages. */
export const BUDGET_ACTIONS = ['warn', 'suggest', 'force'] as const
export type BudgetAction = (typeof BUDGET_ACTIONS)[number]

export interface BudgetSettings {
  /** Ascending, all percentages or all tokens, at most one per action. */
  readonly stages: readonly BudgetStage[]
  /** Tokens that a model reads with full attention. */
  readonly smartZone: number
  /** For harnesses that report no window, or a wrong one. */
  readonly window?: number
}

export const DEFAULT_BUDGET: BudgetSettings = { stages: [75, 85, 90], smartZone: 100_000 }

export const SMART_ZONE = 'smart-zone'
export type BudgetThreshold = BudgetStage | typeof SMART_ZONE

export interface CrossedThresholds {
  /** Identifies the context window. */
  readonly window: string
  readonly lines: readonly BudgetThreshold[]
}

export interface ContextFill {
  readonly tokens?: number | undefined
  readonly point?: number | undefined
}

export function isPercent(stage: BudgetStage): boolean {
  return stage <= 100
}

/** Undefined for valid stages. */
export function findStageError(stages: readonly BudgetStage[]): string | undefined {
  if (stages.length === 0 || stages.length > BUDGET_ACTIONS.length)
    return `there are one to ${BUDGET_ACTIONS.length} stages`
  if (stages.some((stage) => !(stage > 0))) return 'a stage is above 0'
  if (new Set(stages.map(isPercent)).size > 1) return 'stages are all percentages, or all tokens'
  if (stages.some((stage, index) => index > 0 && stage <= stages[index - 1]!))
    return 'each stage lies above the one before it'
  return undefined
}

/** Undefined if the compaction point is needed and unknown. */
export function tokensAt(stage: BudgetStage, point: number | undefined): number | undefined {
  if (!isPercent(stage)) return stage
  return point === undefined ? undefined : Math.ceil((stage / 100) * point)
}

/** Rounded down, so that the display never shows a stage before it is crossed. */
export function compactionPercent({ tokens, point }: ContextFill): number | undefined {
  return tokens === undefined || point === undefined || point <= 0
    ? undefined
    : Math.floor((tokens / point) * 100)
}

export function stageAction(stage: BudgetStage, { stages }: BudgetSettings): BudgetAction {
  return BUDGET_ACTIONS[stages.indexOf(stage)] ?? 'warn'
}

export function stageReached(
  fill: ContextFill,
  { stages }: BudgetSettings,
): BudgetStage | undefined {
  return stages.findLast((stage) => isReached(stage, fill))
}

export function nextStage(
  { tokens, point }: ContextFill,
  { stages }: BudgetSettings,
): { stage: BudgetStage; left: number } | undefined {
  if (tokens === undefined) return undefined
  for (const stage of stages) {
    const at = tokensAt(stage, point)
    if (at !== undefined && at > tokens) return { stage, left: at - tokens }
  }
  return undefined
}

/** Each threshold is crossed once per window, however the size changes. */
export function crossThresholds(
  fill: ContextFill,
  window: string,
  before: CrossedThresholds | undefined,
  settings: BudgetSettings,
): { readonly newly: readonly BudgetThreshold[]; readonly crossed: CrossedThresholds } {
  const lines = before?.window === window ? before.lines : []
  const isInSmartZone = fill.tokens === undefined || fill.tokens < settings.smartZone
  const reached: readonly BudgetThreshold[] = [
    ...(isInSmartZone ? [] : [SMART_ZONE as BudgetThreshold]),
    ...settings.stages.filter((stage) => isReached(stage, fill)),
  ]
  const newly = reached.filter((threshold) => !lines.includes(threshold))
  return { newly, crossed: { window, lines: [...lines, ...newly] } }
}

/** The `once` key of a crossing, which several hooks may see. */
export function crossingKey(
  conversation: string,
  window: string,
  threshold: BudgetThreshold,
): string {
  return `budget:${conversation}:${window}:${threshold}`
}

function isReached(stage: BudgetStage, { tokens, point }: ContextFill) {
  const at = tokensAt(stage, point)
  return tokens !== undefined && at !== undefined && at > 0 && tokens >= at
}
