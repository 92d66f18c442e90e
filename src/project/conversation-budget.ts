import { workingFolder } from './store/project-paths.ts'
import {
  type Budget,
  type SourcedValue,
  estimated,
  newerOf,
  measured,
} from '../context/budget/budget.ts'
import { type Price, type BilledTokens, estimateCost } from '../context/budget/prices.ts'
import {
  type BudgetSettings,
  type BudgetStage,
  nextStage,
  compactionPercent,
  stageReached,
} from '../context/budget/stages.ts'
import { computeBudget } from './conversation/compute-budget.ts'
import {
  type ConversationState,
  readConversationState,
  readContextWindow,
  conversationStatePath,
  contextWindowPath,
} from './conversation/conversation-state.ts'
import { harnessHooks } from '../harness/registry.ts'
import {
  type CachedTotals,
  type TranscriptTotals,
  sumByModel,
  totalsWithOpenCalls,
} from '../harness/contract/transcript.ts'
import { conversationFromEnv, conversationStateFolder } from './store/conversation-binding.ts'
import type { Workspace } from './store/workspace.ts'
import { defined } from '../text/defined.ts'
import { readdirSync } from 'node:fs'
import { isConversationId } from '../history/paths.ts'
import { type ChosenSession, NoSession, chooseSession } from './store/choose-session.ts'
import { StintError, ignoreIoErrors } from '../journal/errors.ts'
import { listFolder, readOrUndefined, statOrUndefined } from '../journal/read-files.ts'
import { join } from 'node:path'
import { createFolder, replaceUnsynced } from '../journal/write-files.ts'
import { hasValidChecksum, withChecksum } from '../journal/record.ts'

export interface BudgetOptions {
  /** A session or conversation; default: the command's own conversation, else the last active. */
  readonly of?: string
  readonly progress?: (done: number, size: number) => void
}

export interface ConversationBudget extends Budget {
  readonly conversation: string
  readonly harness: string
  readonly session?: { readonly id: string; readonly name: string }
  readonly model?: string
  readonly version?: string
  readonly settings: BudgetSettings
  /** Percent of the way to the compaction point. */
  readonly percent?: number
  readonly stage?: BudgetStage
  readonly next?: { readonly stage: BudgetStage; readonly left: number }
  readonly used?: SourcedValue<UsedTokens>
  readonly delegated?: SourcedValue<UsedTokens>
  readonly now: string
}

export interface UsedTokens extends Omit<BilledTokens, 'cacheWrittenHour'> {
  readonly calls?: number
}

export async function conversationBudget(
  workspace: Workspace,
  options: BudgetOptions = {},
): Promise<ConversationBudget> {
  const { state, session } = await chooseConversation(workspace, options.of)
  const now = new Date().toISOString()
  const folder = conversationStateFolder(workspace.paths)
  const window = readContextWindow(folder, state.conversation)
  const totals = conversationTotals(folder, state, options.progress)
  const tail =
    state.transcript === undefined
      ? undefined
      : harnessHooks(state.harness)?.transcript.lastUsage(state.transcript)
  const { budget: settings, prices } = workspace.config
  const budget = computeBudget({
    harness: state.harness,
    window,
    tail,
    configured: settings.window,
    version: totals?.version,
    lastAutomatic: totals?.lastAutomatic,
    root: workingFolder(workspace.paths),
    env: workspace.env,
    now,
  })
  const position = { tokens: budget.tokens?.value, point: budget.point?.value }
  return {
    conversation: state.conversation,
    harness: state.harness,
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
      used: usedTokens(totals, 'spent'),
      delegated: usedTokens(totals, 'delegated'),
      percent: compactionPercent(position),
      stage: stageReached(position, settings),
      next: nextStage(position, settings),
    }),
    settings,
    now,
  }
}

/** As the harness reports it, else from the price list. */
function costFor(
  reported: SourcedValue | undefined,
  totals: ConversationTotals | undefined,
  prices: readonly (Price & { readonly model: string })[],
  now: string,
): SourcedValue | undefined {
  const { cost } = totals ?? {}
  const at = cost === undefined || cost.at === '' ? now : cost.at
  const fromTranscript =
    cost === undefined
      ? undefined
      : cost.isWhole
        ? measured(cost.dollars, 'transcript', at)
        : estimated(cost.dollars, 'transcript, which lacks the price of a model', at)
  const latest = newerOf(reported, fromTranscript)
  if (latest !== undefined || totals === undefined) return latest
  return estimateCost(sumByModel([totals.spent, totals.delegated]), prices, totals.lastAt ?? now)
}

function usedTokens(
  totals: ConversationTotals | undefined,
  owner: 'spent' | 'delegated',
): SourcedValue<UsedTokens> | undefined {
  const all = Object.values(totals?.[owner] ?? {})
  if (totals === undefined || all.length === 0) return undefined
  const sum = (of: (spent: BilledTokens) => number) =>
    all.reduce((total, spent) => total + of(spent), 0)
  const used = {
    input: sum(({ input }) => input),
    output: sum(({ output }) => output),
    cacheRead: sum(({ cacheRead }) => cacheRead),
    cacheWritten: sum(({ cacheWritten, cacheWrittenHour }) => cacheWritten + cacheWrittenHour),
    ...(owner === 'spent' ? { calls: totals.calls } : {}),
  }
  return measured(used, 'transcript', totals.lastAt ?? '')
}

interface ChosenConversation {
  readonly state: ConversationState
  readonly session?: { readonly id: string; readonly name: string }
}

class NoConversation extends StintError {
  override readonly name = 'NoConversation'
  constructor(message: string) {
    super(
      'NO_CONVERSATION',
      message,
      'stint setup claude lets Stint follow conversations, from the next one you start',
    )
  }
}

/** By name; else the command's own conversation, the session's last, the last of all. */
async function chooseConversation(
  workspace: Workspace,
  name?: string,
): Promise<ChosenConversation> {
  const folder = conversationStateFolder(workspace.paths)
  const id = name ?? conversationFromEnv(workspace.env)
  const exact = isConversationId(id) ? readConversationState(folder, id) : undefined
  if (exact !== undefined) return attachSession(workspace, exact)
  const session = await sessionOrNone(workspace, name)
  if (session instanceof NoSession) {
    const ids = conversationsIn(folder).filter(
      (each) => name === undefined || each.startsWith(name),
    )
    const last = lastActive(folder, ids)
    if (last !== undefined) return attachSession(workspace, last)
    throw name === undefined ? new NoConversation('no conversation is known here') : session
  }
  const last = lastActive(folder, conversationsOf(workspace, session))
  if (last === undefined)
    throw new NoConversation(`no conversation of ${session.name} is known here`)
  return { state: last, session: { id: session.id, name: session.name } }
}

async function sessionOrNone(
  workspace: Workspace,
  name: string | undefined,
): Promise<ChosenSession | NoSession> {
  try {
    return await chooseSession(workspace, name)
  } catch (error) {
    if (error instanceof NoSession) return error
    throw error
  }
}

async function attachSession(
  workspace: Workspace,
  state: ConversationState,
): Promise<ChosenConversation> {
  const session =
    state.session === undefined ? undefined : await sessionOrNone(workspace, state.session)
  if (session === undefined || session instanceof NoSession) return { state }
  return { state, session: { id: session.id, name: session.name } }
}

function conversationsOf(workspace: Workspace, { id }: ChosenSession): readonly string[] {
  const { items } = workspace.stateOf(id).conversations
  return items.map(({ text }) => text).filter(isConversationId)
}

function conversationsIn(folder: string): readonly string[] {
  return listFolder(folder)
    .flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -'.json'.length)] : []))
    .filter(isConversationId)
}

/** By the latest write of a hook, the status line or the transcript. */
function lastActive(
  folder: string,
  conversations: readonly string[],
): ConversationState | undefined {
  const modifiedAt = (path: string | undefined) =>
    path === undefined ? 0 : (statOrUndefined(path)?.mtimeMs ?? 0)
  const candidates = conversations.flatMap((id) => {
    const state = readConversationState(folder, id)
    if (state === undefined) return []
    const paths = [
      conversationStatePath(folder, id),
      contextWindowPath(folder, id),
      state.transcript,
    ]
    return [{ state, at: Math.max(...paths.map(modifiedAt)) }]
  })
  return candidates.toSorted((a, b) => a.at - b.at).at(-1)?.state
}

interface CachedUsage {
  readonly format: number
  readonly conversation?: CachedTotals
  /** By the name of their transcript. */
  readonly delegates: Readonly<Record<string, CachedTotals>>
}

const CACHE_FORMAT = 1

interface ConversationTotals extends TranscriptTotals {
  readonly delegates: number
}

/** Earlier sums are cached beside the conversation state, so that a long transcript is read once. */
export function conversationTotals(
  folder: string,
  {
    conversation,
    harness,
    transcript,
  }: Pick<ConversationState, 'conversation' | 'harness' | 'transcript'>,
  progress?: BudgetOptions['progress'],
): ConversationTotals | undefined {
  const sumUp = harnessHooks(harness)?.transcript.totals
  if (sumUp === undefined || transcript === undefined) return undefined
  const path = join(folder, `${conversation}.usage`)
  const before = readCachedUsage(path)
  const own = sumUp(transcript, before.conversation, progress)
  if (own === undefined) return undefined
  const delegates: Record<string, CachedTotals> = {}
  const subagents = join(transcript.replace(/\.jsonl$/, ''), 'subagents')
  for (const name of ignoreIoErrors(() => readdirSync(subagents)) ?? []) {
    if (!name.endsWith('.jsonl')) continue
    const known = Object.hasOwn(before.delegates, name) ? before.delegates[name] : undefined
    const sum = sumUp(join(subagents, name), known, progress)
    if (sum !== undefined) delegates[name] = sum
  }
  const cached: CachedUsage = { format: CACHE_FORMAT, conversation: own, delegates }
  ignoreIoErrors(() => {
    createFolder(folder)
    replaceUnsynced(path, withChecksum(JSON.stringify(cached)))
  })
  const totals = totalsWithOpenCalls(own)
  // Everything in a delegate's own transcript is the delegate's.
  const delegateUsage = Object.values(delegates)
    .map(totalsWithOpenCalls)
    .flatMap(({ spent, delegated }) => [spent, delegated])
  return {
    ...totals,
    delegated: sumByModel([totals.delegated, ...delegateUsage]),
    delegates: Object.keys(delegates).length,
  }
}

function readCachedUsage(path: string): CachedUsage {
  const bytes = ignoreIoErrors(() => readOrUndefined(path))
  const cached =
    bytes !== undefined && hasValidChecksum(bytes)
      ? (JSON.parse(bytes.toString('utf8')) as CachedUsage)
      : undefined
  return cached?.format === CACHE_FORMAT ? cached : { format: CACHE_FORMAT, delegates: {} }
}
