import { onceKeyForCosts, pendingHookCosts } from '../project/conversation/hook-costs.ts'
import { conversationPath, isConversationId } from '../history/paths.ts'
import type { SessionRow } from '../index/queries.ts'
import { StintError, errnoOf } from '../journal/errors.ts'
import { shortId } from '../journal/ids.ts'
import { conversationStateFolder } from '../project/store/conversation-binding.ts'
import { openConversationStore } from '../project/history/history.ts'
import { LiveSession } from '../project/store/live-session.ts'
import { type ProjectPaths, logPaths } from '../project/store/project-paths.ts'
import { runIds, runLogPaths } from '../project/store/run-files.ts'
import type { Workspace } from '../project/store/workspace.ts'
import { readRun } from '../run/run-log.ts'
import type { RawEntry } from '../session/effective-entries.ts'
import { type AmountsByDay, DailyAmounts, dayOf, saving } from './amounts.ts'
import {
  type FirstEdit,
  type JoinedConversation,
  type JournalAmounts,
  hookCostAmounts,
  firstEdit,
  journalAmounts,
  resumeSavings,
} from './journal-amounts.ts'
import { type RunAmounts, runAmounts } from './run-amounts.ts'
import { join } from 'node:path'
import { replaceUnsynced } from '../journal/write-files.ts'
import { readOrUndefined, statOrUndefined } from '../journal/read-files.ts'
import { asObject, parseJson } from '../text/json-fields.ts'

export interface CountedSession {
  readonly row: SessionRow
  readonly days: AmountsByDay
  readonly conversations: readonly string[]
}

export interface CountedRun extends RunAmounts {
  readonly id: string
}

export interface GatheredAmounts {
  readonly sessions: readonly CountedSession[]
  readonly runs: readonly CountedRun[]
  readonly unattributed: AmountsByDay
}

export async function gatherAmounts(workspace: Workspace): Promise<GatheredAmounts> {
  if (!workspace.hasSessions()) return { sessions: [], runs: [], unattributed: {} }
  const rows = [...(await workspace.index()).sessions()]
  const cache = new LedgerCache(workspace.paths)
  const runs = gatherRuns(workspace, cache)
  const journals = rows.flatMap((row) => {
    const { path, link } = logPaths(workspace.paths, row.id)
    const amounts = ifReadable(workspace, `session ${row.name}`, () =>
      cache.get('journals', row.id, [path, link], () =>
        journalAmounts(readRecords(workspace, row.id)),
      ),
    )
    return amounts === undefined ? [] : [{ row, ...amounts }]
  })
  const firstSession = firstSessions(journals)
  const setups: RunAmounts['setups'] = Object.assign({}, ...runs.map((run) => run.setups))
  const pending = pendingBySession(workspace, firstSession)
  const readFirstEdit = firstEditReader(workspace, cache)
  const sessions = journals.map(({ row, days, conversations }): CountedSession => {
    const sums = new DailyAmounts().addAll(days).addAll(pending.get(row.id)?.byDay ?? {})
    // Its work in an earlier session says nothing about this one.
    const own = conversations.filter(({ id }) => firstSession.get(id) === row.id)
    for (const { at, tokens } of resumeSavings(own, readFirstEdit, setups))
      sums.add(dayOf(at), saving('resuming', tokens))
    return { row, days: sums.byDay, conversations: conversations.map(({ id }) => id) }
  })
  cache.save()
  return { sessions, runs, unattributed: pending.get(undefined)?.byDay ?? {} }
}

function ifReadable<T>(workspace: Workspace, label: string, count: () => T): T | undefined {
  try {
    return count()
  } catch (error) {
    if (!(error instanceof StintError) && errnoOf(error) === undefined) throw error
    workspace.say(`${label} is not counted: ${(error as Error).message}`)
    return undefined
  }
}

function gatherRuns(workspace: Workspace, cache: LedgerCache): readonly CountedRun[] {
  const { paths } = workspace
  return runIds(paths).flatMap((id) => {
    const { path, link } = runLogPaths(paths, id)
    const count = () =>
      cache.get('runs', id, [path, link], () => runAmounts(readRun(paths, id)) ?? null)
    const amounts = ifReadable(workspace, `run ${shortId(id)}`, count)
    return amounts === undefined || amounts === null ? [] : [{ ...amounts, id }]
  })
}

function readRecords({ paths, config }: Workspace, id: string): readonly RawEntry[] {
  const session = new LiveSession(id, paths, config)
  try {
    return session.log.read().records
  } finally {
    session.close()
  }
}

function firstSessions(
  journals: readonly {
    readonly row: SessionRow
    readonly conversations: readonly JoinedConversation[]
  }[],
) {
  const first = new Map<string, { readonly session: string; readonly at: string }>()
  for (const { row, conversations } of journals) {
    for (const { id, at } of conversations) {
      const known = first.get(id)
      if (known === undefined || at < known.at) first.set(id, { session: row.id, at })
    }
  }
  return new Map([...first].map(([id, { session }]) => [id, session]))
}

function firstEditReader(
  workspace: Workspace,
  cache: LedgerCache,
): (conversation: string) => FirstEdit {
  const store = openConversationStore(workspace)
  return (conversation) => {
    if (!isConversationId(conversation)) return {}
    const path = conversationPath(workspace.paths.sessions, conversation)
    return (
      cache.get('conversations', conversation, [path], () => firstEdit(store, conversation)) ?? {}
    )
  }
}

function pendingBySession(
  workspace: Workspace,
  firstSession: ReadonlyMap<string, string>,
): ReadonlyMap<string | undefined, DailyAmounts> {
  const pending = new Map<string | undefined, DailyAmounts>()
  for (const { at, costs, isClaimed, name } of pendingHookCosts(
    conversationStateFolder(workspace.paths),
  )) {
    const session = firstSession.get(costs.conversation)
    if (isClaimed && session !== undefined && areJournalled(workspace, session, name)) continue
    const all = hookCostAmounts(costs)
    // Injections into a session are recorded when they happen.
    const { hooks, hookMs, writes } = all
    const amounts = session === undefined ? all : { hooks, hookMs, writes }
    pending.set(session, (pending.get(session) ?? new DailyAmounts()).add(dayOf(at), amounts))
  }
  return pending
}

/** Reads the whole journal: claimed costs are rarely left behind. */
function areJournalled(workspace: Workspace, session: string, name: string): boolean {
  const once = onceKeyForCosts(name)
  return readRecords(workspace, session).some((record) => record.once?.endsWith(once) === true)
}

// Only changed files are read again. The cache holds numbers and ids only, so nothing has to be
// redacted, and may be deleted at any time.

/** Raise it when the same files give another result. */
export const LEDGER_CACHE_VERSION = 2
const NAME = 'ledger.json'

interface CachedValues {
  readonly journals: JournalAmounts
  readonly runs: RunAmounts | null
  readonly conversations: FirstEdit
}

type CacheEntries = {
  [K in keyof CachedValues]: Record<string, { of: string; is: CachedValues[K] }>
}

class LedgerCache {
  readonly #path: string
  readonly #stored: Readonly<Record<string, unknown>>
  readonly #used: CacheEntries = { journals: {}, runs: {}, conversations: {} }
  #isChanged = false

  constructor({ sessions, repository }: ProjectPaths) {
    // Where neither git nor `git clean` touches it.
    this.#path = join(
      repository === undefined ? sessions : join(repository.commonDir, 'stint'),
      NAME,
    )
    const file = asObject(parseJson(readOrUndefined(this.#path)?.toString('utf8') ?? ''))
    this.#stored = file?.version === LEDGER_CACHE_VERSION ? file : {}
  }

  get<K extends keyof CachedValues>(
    kind: K,
    id: string,
    paths: readonly (string | undefined)[],
    count: () => CachedValues[K],
  ): CachedValues[K] | undefined {
    const identity = paths.map(identityOf).find((one) => one !== undefined)
    if (identity === undefined) return undefined
    const stored = this.#storedOf(kind)[id]
    const isValid = stored?.of === identity
    const entry = isValid ? stored : { of: identity, is: count() }
    ;(this.#used[kind] as Record<string, typeof entry>)[id] = entry
    if (!isValid) this.#isChanged = true
    return entry.is
  }

  #storedOf<K extends keyof CachedValues>(kind: K) {
    return (asObject(this.#stored[kind]) ?? {}) as CacheEntries[K]
  }

  save(): void {
    const kinds = Object.keys(this.#used) as (keyof CachedValues)[]
    const hasRemoved = kinds.some((kind) =>
      Object.keys(this.#storedOf(kind)).some((id) => !Object.hasOwn(this.#used[kind], id)),
    )
    if (!this.#isChanged && !hasRemoved) return
    try {
      const contents = { version: LEDGER_CACHE_VERSION, ...this.#used }
      replaceUnsynced(this.#path, `${JSON.stringify(contents)}\n`)
    } catch (error) {
      // Full or read-only disk: it is counted again next time.
      if (errnoOf(error) === undefined) throw error
    }
  }
}

function identityOf(path: string | undefined) {
  const stat = path === undefined ? undefined : statOrUndefined(path)
  return stat === undefined ? undefined : `${stat.ino}:${stat.size}:${stat.mtimeMs}`
}
