import { workingFolder } from './store/place.ts'
import { type Budget, type Figure, estimated, later, measured } from '../context/budget/figures.ts'
import { type Price, type Spent, costOf } from '../context/budget/prices.ts'
import {
  type BudgetSettings,
  type Stage,
  nextStage,
  percentOfWay,
  stageReached,
} from '../context/budget/stages.ts'
import { knownBudget } from './conversation/known-budget.ts'
import {
  type Tracking,
  readTracking,
  readWindow,
  trackingPath,
  windowPath,
} from './conversation/tracking.ts'
import { hooksOf } from '../harness/registry.ts'
import { type KeptTotals, type Totals, together, totalsOf } from '../harness/contract/transcript.ts'
import { conversationOf, trackingFolderOf } from './store/conversation-binding.ts'
import type { Workspace } from './store/workspace.ts'
import { defined } from '../text/defined.ts'
import { readdirSync } from 'node:fs'
import { isConversationId } from '../history/places.ts'
import { type ChosenSession, NoSession, chooseSession } from './store/choose.ts'
import { StintError, ifPossible } from '../journal/errors.ts'
import { namesIn, readOrUndefined, statOrUndefined } from '../journal/look.ts'
import { join } from 'node:path'
import { createFolder, replaceUnsynced } from '../journal/files.ts'
import { isSealed, sealed } from '../journal/record.ts'

export interface BudgetOptions {
  /** A session or conversation; default: the one around the command, else the last active. */
  readonly of?: string
  readonly progress?: (done: number, size: number) => void
}

/** What is known of a conversation's budget. */
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
  readonly used?: Figure<Used>
  readonly delegated?: Figure<Used>
  readonly now: string
}

export interface Used extends Omit<Spent, 'cacheWrittenHour'> {
  readonly calls?: number
}

export async function budgetOf(
  workspace: Workspace,
  options: BudgetOptions = {},
): Promise<ConversationBudget> {
  const { tracking, session } = await chooseConversation(workspace, options.of)
  const now = new Date().toISOString()
  const folder = trackingFolderOf(workspace.place)
  const window = readWindow(folder, tracking.conversation)
  const totals = conversationTotals(folder, tracking, options.progress)
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
    root: workingFolder(workspace.place),
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

/** As the harness reports it, else by the price list. */
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

interface ChosenConversation {
  readonly tracking: Tracking
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

/** By name; else the one around the command, the last of the session here, the last of all. */
async function chooseConversation(
  workspace: Workspace,
  name?: string,
): Promise<ChosenConversation> {
  const folder = trackingFolderOf(workspace.place)
  const id = name ?? conversationOf(workspace.env)
  const exact = isConversationId(id) ? readTracking(folder, id) : undefined
  if (exact !== undefined) return withSession(workspace, exact)
  const session = await sessionOrNone(workspace, name)
  if (session instanceof NoSession) {
    const ids = conversationsIn(folder).filter(
      (each) => name === undefined || each.startsWith(name),
    )
    const last = lastActive(folder, ids)
    if (last !== undefined) return withSession(workspace, last)
    throw name === undefined ? new NoConversation('no conversation is known here') : session
  }
  const last = lastActive(folder, conversationsOf(workspace, session))
  if (last === undefined)
    throw new NoConversation(`no conversation of ${session.name} is known here`)
  return { tracking: last, session: { id: session.id, name: session.name } }
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

async function withSession(workspace: Workspace, tracking: Tracking): Promise<ChosenConversation> {
  const session =
    tracking.session === undefined ? undefined : await sessionOrNone(workspace, tracking.session)
  if (session === undefined || session instanceof NoSession) return { tracking }
  return { tracking, session: { id: session.id, name: session.name } }
}

function conversationsOf(workspace: Workspace, { id }: ChosenSession): readonly string[] {
  const { items } = workspace.stateOf(id).conversations
  return items.map(({ text }) => text).filter(isConversationId)
}

function conversationsIn(folder: string): readonly string[] {
  return namesIn(folder)
    .flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -'.json'.length)] : []))
    .filter(isConversationId)
}

/** By hook, status line or transcript. */
function lastActive(folder: string, conversations: readonly string[]): Tracking | undefined {
  const heard = (path: string | undefined) =>
    path === undefined ? 0 : (statOrUndefined(path)?.mtimeMs ?? 0)
  const followed = conversations.flatMap((id) => {
    const tracking = readTracking(folder, id)
    if (tracking === undefined) return []
    const paths = [trackingPath(folder, id), windowPath(folder, id), tracking.transcript]
    return [{ tracking, at: Math.max(...paths.map(heard)) }]
  })
  return followed.toSorted((a, b) => a.at - b.at).at(-1)?.tracking
}

interface Kept {
  readonly format: number
  readonly conversation?: KeptTotals
  /** By the name of their transcript. */
  readonly delegates: Readonly<Record<string, KeptTotals>>
}

const FORMAT = 1

interface ConversationTotals extends Totals {
  readonly delegates: number
}

/** Earlier sums are cached beside the hooks' notes, so that a long transcript is read once. */
export function conversationTotals(
  folder: string,
  { conversation, harness, transcript }: Pick<Tracking, 'conversation' | 'harness' | 'transcript'>,
  progress?: BudgetOptions['progress'],
): ConversationTotals | undefined {
  const sumUp = hooksOf(harness)?.transcript.sumUp
  if (sumUp === undefined || transcript === undefined) return undefined
  const path = join(folder, `${conversation}.usage`)
  const before = readKept(path)
  const own = sumUp(transcript, before.conversation, progress)
  if (own === undefined) return undefined
  const delegates: Record<string, KeptTotals> = {}
  const subagents = join(transcript.replace(/\.jsonl$/, ''), 'subagents')
  for (const name of ifPossible(() => readdirSync(subagents)) ?? []) {
    if (!name.endsWith('.jsonl')) continue
    const known = Object.hasOwn(before.delegates, name) ? before.delegates[name] : undefined
    const sum = sumUp(join(subagents, name), known, progress)
    if (sum !== undefined) delegates[name] = sum
  }
  const kept: Kept = { format: FORMAT, conversation: own, delegates }
  ifPossible(() => {
    createFolder(folder)
    replaceUnsynced(path, sealed(JSON.stringify(kept)))
  })
  const totals = totalsOf(own)
  // Everything in a delegate's own transcript is the delegate's.
  const theirs = Object.values(delegates)
    .map(totalsOf)
    .flatMap(({ spent, delegated }) => [spent, delegated])
  return {
    ...totals,
    delegated: together([totals.delegated, ...theirs]),
    delegates: Object.keys(delegates).length,
  }
}

function readKept(path: string): Kept {
  const bytes = ifPossible(() => readOrUndefined(path))
  const kept =
    bytes !== undefined && isSealed(bytes)
      ? (JSON.parse(bytes.toString('utf8')) as Kept)
      : undefined
  return kept?.format === FORMAT ? kept : { format: FORMAT, delegates: {} }
}
