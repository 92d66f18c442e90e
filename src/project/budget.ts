import { type Budget, type Figure, estimated, later, measured } from '../context/budget/figures.ts'
import { type Price, type Spent, costOf } from '../context/budget/prices.ts'
import {
  type BudgetSettings,
  type Stage,
  nextStage,
  percentOfWay,
  stageReached,
} from '../context/budget/stages.ts'
import { type ConversationTotals, conversationTotals } from './conversation/kept-totals.ts'
import { knownBudget } from './conversation/known-budget.ts'
import type { Tracking } from './conversation/tracking.ts'
import { readWindow } from './conversation/window.ts'
import { hooksOf } from '../harness/registry.ts'
import { together } from '../harness/contract/transcript.ts'
import { chooseConversation } from './choose-conversation.ts'
import { trackingFolderOf } from './store/conversation-binding.ts'
import type { Workspace } from './store/workspace.ts'
import { defined } from '../text/defined.ts'

export interface BudgetOptions {
  /** A session, or a conversation; absent, the conversation around the command or the one that was active last. */
  readonly of?: string
  readonly progress?: (done: number, size: number) => void
}

/** Everything that is known of a conversation's budget. */
export interface ConversationBudget extends Budget {
  readonly conversation: string
  readonly harness: string
  readonly session?: { readonly id: string; readonly name: string }
  readonly model?: string
  readonly version?: string
  readonly settings: BudgetSettings
  /** Percent of the way to the compaction point. */
  readonly percent?: number
  readonly stage?: Stage
  readonly next?: { readonly stage: Stage; readonly left: number }
  /** What was used since it began. */
  readonly used?: Figure<Used>
  readonly delegated?: Figure<Used>
  readonly now: string
}

export interface Used extends Omit<Spent, 'cacheWrittenHour'> {
  readonly calls?: number
}

/** What is known of the budget of a conversation. */
export async function budgetOf(
  workspace: Workspace,
  options: BudgetOptions = {},
): Promise<ConversationBudget> {
  const { tracking, session } = await chooseConversation(workspace, options.of)
  const now = new Date().toISOString()
  const folder = trackingFolderOf(workspace.place)
  const window = readWindow(folder, tracking.conversation)
  const totals = totalsFor(folder, tracking, options.progress)
  const tail =
    tracking.transcript === undefined
      ? undefined
      : hooksOf(tracking.harness)?.transcript.usageTail(tracking.transcript)
  const { budget: settings, prices } = workspace.config
  const budget = knownBudget({
    harness: tracking.harness,
    window,
    tail,
    configured: settings.window,
    version: totals?.version,
    lastAutomatic: totals?.lastAutomatic,
    root: workspace.place.repository?.worktree ?? workspace.place.root,
    env: workspace.env,
    now,
  })
  const standing = { tokens: budget.tokens?.value, point: budget.point?.value }
  return {
    conversation: tracking.conversation,
    harness: tracking.harness,
    ...budget,
    ...defined({
      session,
      model: window?.model ?? tail?.model,
      version: window?.version ?? totals?.version,
      cost: costFor(budget.cost, totals, prices, now),
      startedAt:
        totals?.startedAt === undefined
          ? undefined
          : measured(totals.startedAt, 'transcript', totals.startedAt),
      used: usedIn(totals, 'spent'),
      delegated: usedIn(totals, 'delegated'),
      percent: percentOfWay(standing),
      stage: stageReached(standing, settings),
      next: nextStage(standing, settings),
    }),
    settings,
    now,
  }
}

function totalsFor(
  folder: string,
  { conversation, harness, transcript }: Tracking,
  progress: BudgetOptions['progress'],
): ConversationTotals | undefined {
  return transcript === undefined
    ? undefined
    : conversationTotals(folder, conversation, transcript, { harness, progress })
}

/** What the harness says that it cost, as late as it says so; else what it comes to by the price list. */
function costFor(
  told: Figure | undefined,
  totals: ConversationTotals | undefined,
  prices: readonly (Price & { readonly model: string })[],
  now: string,
): Figure | undefined {
  const { cost } = totals ?? {}
  const at = cost === undefined || cost.at === '' ? now : cost.at
  const written =
    cost === undefined
      ? undefined
      : cost.isWhole
        ? measured(cost.dollars, 'transcript', at)
        : estimated(cost.dollars, 'transcript, which lacks the price of a model', at)
  const known = later(told, written)
  if (known !== undefined || totals === undefined) return known
  return costOf(together([totals.spent, totals.delegated]), prices, totals.lastAt ?? now)
}

function usedIn(
  totals: ConversationTotals | undefined,
  whose: 'spent' | 'delegated',
): Figure<Used> | undefined {
  const all = Object.values(totals?.[whose] ?? {})
  if (totals === undefined || all.length === 0) return undefined
  const sum = (of: (spent: Spent) => number) => all.reduce((total, spent) => total + of(spent), 0)
  const used = {
    input: sum(({ input }) => input),
    output: sum(({ output }) => output),
    cacheRead: sum(({ cacheRead }) => cacheRead),
    cacheWritten: sum(({ cacheWritten, cacheWrittenHour }) => cacheWritten + cacheWrittenHour),
    ...(whose === 'spent' ? { calls: totals.calls } : {}),
  }
  return measured(used, 'transcript', totals.lastAt ?? '')
}
