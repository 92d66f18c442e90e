// How far a conversation is on its way to its compaction point. A share of the window says little: harnesses compact at different points.

/** At most 100: percent of the way to the compaction point. More: tokens. */
export type BudgetStage = number

/** What a stage asks for, by its place among them. */
export const BUDGET_ACTIONS = ['warn', 'suggest', 'force'] as const
export type BudgetAction = (typeof BUDGET_ACTIONS)[number]

export interface BudgetSettings {
  /** Of one kind, ascending; at most as many as there are roles. */
  readonly stages: readonly BudgetStage[]
  /** How many tokens a model reads with its whole attention. */
  readonly smartZone: number
  /** The window's size, where the harness does not report it or reports it wrongly. */
  readonly window?: number
}

export const DEFAULT_BUDGET: BudgetSettings = { stages: [75, 85, 90], smartZone: 100_000 }

export const SMART_ZONE = 'smart-zone'
export type BudgetThreshold = BudgetStage | typeof SMART_ZONE

export interface CrossedThresholds {
  /** How this window is told from those before and after it. */
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

/** Why these cannot be stages, or undefined when they can. */
export function findStageError(stages: readonly BudgetStage[]): string | undefined {
  if (stages.length === 0 || stages.length > BUDGET_ACTIONS.length)
    return `there are one to ${BUDGET_ACTIONS.length} stages`
  if (stages.some((stage) => !(stage > 0))) return 'a stage is above 0'
  if (new Set(stages.map(isPercent)).size > 1) return 'stages are all percentages, or all tokens'
  if (stages.some((stage, index) => index > 0 && stage <= stages[index - 1]!))
    return 'each stage lies above the one before it'
  return undefined
}

/** The tokens at which a stage is crossed; unknown where the compaction point is. */
export function tokensAt(stage: BudgetStage, point: number | undefined): number | undefined {
  if (!isPercent(stage)) return stage
  return point === undefined ? undefined : Math.ceil((stage / 100) * point)
}

/** Rounded down, so that no stage is shown before it is crossed. */
export function compactionPercent({ tokens, point }: ContextFill): number | undefined {
  return tokens === undefined || point === undefined || point <= 0
    ? undefined
    : Math.floor((tokens / point) * 100)
}

export function stageAction(stage: BudgetStage, { stages }: BudgetSettings): BudgetAction {
  return BUDGET_ACTIONS[stages.indexOf(stage)] ?? 'warn'
}

export function stageReached(
  standing: ContextFill,
  { stages }: BudgetSettings,
): BudgetStage | undefined {
  return stages.findLast((stage) => isReached(stage, standing))
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

/** Each line is crossed once in a window, whatever the figures do. */
export function crossThresholds(
  standing: ContextFill,
  window: string,
  before: CrossedThresholds | undefined,
  settings: BudgetSettings,
): { readonly newly: readonly BudgetThreshold[]; readonly crossed: CrossedThresholds } {
  const lines = before?.window === window ? before.lines : []
  const isInSmartZone = standing.tokens === undefined || standing.tokens < settings.smartZone
  const reached: readonly BudgetThreshold[] = [
    ...(isInSmartZone ? [] : [SMART_ZONE as BudgetThreshold]),
    ...settings.stages.filter((stage) => isReached(stage, standing)),
  ]
  const newly = reached.filter((line) => !lines.includes(line))
  return { newly, crossed: { window, lines: [...lines, ...newly] } }
}

/** Names a crossing, so that it counts once however many hooks notice it. */
export function crossingKey(conversation: string, window: string, line: BudgetThreshold): string {
  return `budget:${conversation}:${window}:${line}`
}

function isReached(stage: BudgetStage, { tokens, point }: ContextFill) {
  const at = tokensAt(stage, point)
  return tokens !== undefined && at !== undefined && at > 0 && tokens >= at
}
