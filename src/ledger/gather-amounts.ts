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
import { replaceUnsynced } from '../journal/files.ts'
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
  const remembered = new Remembered(workspace.paths)
  const runs = gatherRuns(workspace, remembered)
  const journals = rows.flatMap((row) => {
    const { path, link } = logPaths(workspace.paths, row.id)
    const amounts = ifReadable(workspace, `session ${row.name}`, () =>
      remembered.get('journals', row.id, [path, link], () =>
        journalAmounts(recordsOf(workspace, row.id)),
      ),
    )
    return amounts === undefined ? [] : [{ row, ...amounts }]
  })
  const whose = firstSessions(journals)
  const setups: RunAmounts['setups'] = Object.assign({}, ...runs.map((run) => run.setups))
  const waiting = waitingBySession(workspace, whose)
  const edit = editsOf(workspace, remembered)
  const sessions = journals.map(({ row, days, conversations }): CountedSession => {
    const sums = new DailyAmounts().addAll(days).addAll(waiting.get(row.id)?.byDay ?? {})
    // Its work in an earlier session says nothing about this one.
    const own = conversations.filter(({ id }) => whose.get(id) === row.id)
    for (const { at, tokens } of resumeSavings(own, edit, setups))
      sums.add(dayOf(at), saving('resuming', tokens))
    return { row, days: sums.byDay, conversations: conversations.map(({ id }) => id) }
  })
  remembered.keep()
  return { sessions, runs, unattributed: waiting.get(undefined)?.byDay ?? {} }
}

function ifReadable<T>(workspace: Workspace, what: string, count: () => T): T | undefined {
  try {
    return count()
  } catch (error) {
    if (!(error instanceof StintError) && errnoOf(error) === undefined) throw error
    workspace.say(`${what} is not counted: ${(error as Error).message}`)
    return undefined
  }
}

function gatherRuns(workspace: Workspace, remembered: Remembered): readonly CountedRun[] {
  const { paths: place } = workspace
  return runIds(place).flatMap((id) => {
    const { path, link } = runLogPaths(place, id)
    const counted = () =>
      remembered.get('runs', id, [path, link], () => runAmounts(readRun(place, id)) ?? null)
    const amounts = ifReadable(workspace, `run ${shortId(id)}`, counted)
    return amounts === undefined || amounts === null ? [] : [{ ...amounts, id }]
  })
}

function recordsOf({ paths: place, config }: Workspace, id: string): readonly RawEntry[] {
  const session = new LiveSession(id, place, config)
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

function editsOf(
  workspace: Workspace,
  remembered: Remembered,
): (conversation: string) => FirstEdit {
  const store = openConversationStore(workspace)
  return (conversation) => {
    if (!isConversationId(conversation)) return {}
    const path = conversationPath(workspace.paths.sessions, conversation)
    return (
      remembered.get('conversations', conversation, [path], () => firstEdit(store, conversation)) ??
      {}
    )
  }
}

function waitingBySession(
  workspace: Workspace,
  whose: ReadonlyMap<string, string>,
): ReadonlyMap<string | undefined, DailyAmounts> {
  const waiting = new Map<string | undefined, DailyAmounts>()
  for (const { at, costs, isTaken, name } of pendingHookCosts(
    conversationStateFolder(workspace.paths),
  )) {
    const session = whose.get(costs.conversation)
    if (isTaken && session !== undefined && isJournalled(workspace, session, name)) continue
    const all = hookCostAmounts(costs)
    // Injections into a session are recorded when they happen.
    const { hooks, hookMs, writes } = all
    const amounts = session === undefined ? all : { hooks, hookMs, writes }
    waiting.set(session, (waiting.get(session) ?? new DailyAmounts()).add(dayOf(at), amounts))
  }
  return waiting
}

/** Read again, since leftover lines are rare. */
function isJournalled(workspace: Workspace, session: string, name: string): boolean {
  const once = onceKeyForCosts(name)
  return recordsOf(workspace, session).some((record) => record.once?.endsWith(once) === true)
}

// Only files that have changed are read again. Holds numbers and ids alone, so that nothing has to be redacted. May be deleted at any time.

/** Raise it when the same files give another result. */
export const LEDGER_CACHE_VERSION = 2
const NAME = 'ledger.json'

interface Kinds {
  readonly journals: JournalAmounts
  readonly runs: RunAmounts | null
  readonly conversations: FirstEdit
}

type Counted = { [K in keyof Kinds]: Record<string, { of: string; is: Kinds[K] }> }

class Remembered {
  readonly #path: string
  readonly #known: Readonly<Record<string, unknown>>
  readonly #used: Counted = {
    journals: {},
    runs: {},
    conversations: {},
  }
  #isChanged = false

  constructor({ sessions, repository }: ProjectPaths) {
    // Where neither git nor `git clean` touches it.
    this.#path = join(
      repository === undefined ? sessions : join(repository.commonDir, 'stint'),
      NAME,
    )
    const file = asObject(parseJson(readOrUndefined(this.#path)?.toString('utf8') ?? ''))
    this.#known = file?.version === LEDGER_CACHE_VERSION ? file : {}
  }

  get<K extends keyof Kinds>(
    kind: K,
    id: string,
    paths: readonly (string | undefined)[],
    count: () => Kinds[K],
  ): Kinds[K] | undefined {
    const of = paths.map(identityOf).find((identity) => identity !== undefined)
    if (of === undefined) return undefined
    const known = this.#knownOf(kind)[id]
    const isKnown = known?.of === of
    const kept = isKnown ? known : { of, is: count() }
    ;(this.#used[kind] as Record<string, typeof kept>)[id] = kept
    if (!isKnown) this.#isChanged = true
    return kept.is
  }

  #knownOf<K extends keyof Kinds>(kind: K) {
    return (asObject(this.#known[kind]) ?? {}) as Counted[K]
  }

  keep(): void {
    const kinds = Object.keys(this.#used) as (keyof Kinds)[]
    const hasGone = kinds.some((kind) =>
      Object.keys(this.#knownOf(kind)).some((id) => !Object.hasOwn(this.#used[kind], id)),
    )
    if (!this.#isChanged && !hasGone) return
    try {
      const kept = { version: LEDGER_CACHE_VERSION, ...this.#used }
      replaceUnsynced(this.#path, `${JSON.stringify(kept)}\n`)
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
