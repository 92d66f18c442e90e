import { onceOfCosts, waitingCosts } from '../project/conversation/costs.ts'
import { conversationPath } from '../history/places.ts'
import { isConversationId } from '../history/conversation-id.ts'
import type { SessionRow } from '../index/queries.ts'
import { StintError, errnoOf } from '../journal/errors.ts'
import { shortId } from '../journal/ids.ts'
import { trackingFolderOf } from '../project/store/conversation-binding.ts'
import { storeOf } from '../project/history/history.ts'
import { LiveSession } from '../project/store/live-session.ts'
import type { Config } from '../project/config/config.ts'
import { type Place, logPlace } from '../project/store/place.ts'
import { runIds, runLogPlace } from '../project/store/run-files.ts'
import type { Workspace } from '../project/store/workspace.ts'
import { readRun } from '../run/run-log.ts'
import type { RawEntry } from '../session/in-effect.ts'
import { type ByDay, NOTHING, Sums, dayOf, saving } from './amounts.ts'
import { type JournalAmounts, type Joined, costsIn, journalAmounts } from './journal-amounts.ts'
import { Remembered } from './remembered.ts'
import { type FirstEdit, firstEdit, resumingOf } from './resuming.ts'
import { type RunAmounts, runAmounts } from './run-amounts.ts'

/** What runs spent in it is counted with the runs. */
export interface CountedSession {
  readonly row: SessionRow
  readonly days: ByDay
  readonly conversations: readonly string[]
}

export interface CountedRun extends RunAmounts {
  readonly id: string
}

export interface Gathered {
  readonly sessions: readonly CountedSession[]
  readonly runs: readonly CountedRun[]
  readonly nobodys: ByDay
}

export async function gather(workspace: Workspace): Promise<Gathered> {
  if (!workspace.hasSessions()) return { sessions: [], runs: [], nobodys: {} }
  const rows = [...(await workspace.index()).sessions()]
  const remembered = new Remembered(workspace.place)
  const runs = gatherRuns(workspace, remembered)
  const journals = rows.flatMap((row) => {
    const amounts = ifReadable(workspace, `session ${row.name}`, () =>
      journalOf(workspace, remembered, row.id),
    )
    return amounts === undefined ? [] : [{ row, ...amounts }]
  })
  const whose = firstSessions(journals)
  const setups = Object.assign({}, ...runs.map((run) => run.setups)) as Readonly<
    Record<string, number>
  >
  const waiting = waitingBySession(workspace, whose)
  const edit = editsOf(workspace, remembered)
  const sessions = journals.map(({ row, days, conversations }): CountedSession => {
    const sums = new Sums().addAll(days).addAll(waiting.get(row.id)?.byDay ?? {})
    // Its work in an earlier session says nothing about this one.
    const own = conversations.filter(({ id }) => whose.get(id) === row.id)
    for (const { at, tokens } of resumingOf(own, edit, setups))
      sums.add(dayOf(at), saving('resuming', tokens))
    return { row, days: sums.byDay, conversations: conversations.map(({ id }) => id) }
  })
  remembered.keep()
  return { sessions, runs, nobodys: waiting.get(undefined)?.byDay ?? {} }
}

/** One unreadable log must not hide the others. */
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
  const { place } = workspace
  return runIds(place).flatMap((id) => {
    const { path, link } = runLogPlace(place, id)
    const counted = () =>
      remembered.get('runs', id, [path, link], () => runAmounts(readRun(place, id)) ?? null)
    const amounts = ifReadable(workspace, `run ${shortId(id)}`, counted)
    return amounts === undefined || amounts === null ? [] : [{ ...amounts, id }]
  })
}

function journalOf(
  { place, config }: Workspace,
  remembered: Remembered,
  id: string,
): JournalAmounts | undefined {
  const { path, link } = logPlace(place, id)
  return remembered.get('journals', id, [path, link], () =>
    journalAmounts(recordsOf(place, config, id)),
  )
}

function recordsOf(place: Place, config: Config, id: string): readonly RawEntry[] {
  const session = new LiveSession(id, place, config)
  try {
    return session.log.read().records
  } finally {
    session.close()
  }
}

function firstSessions(
  journals: readonly { readonly row: SessionRow; readonly conversations: readonly Joined[] }[],
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
  const store = storeOf(workspace)
  return (conversation) => {
    if (!isConversationId(conversation)) return {}
    const path = conversationPath(workspace.place.sessions, conversation)
    return (
      remembered.get('conversations', conversation, [path], () => firstEdit(store, conversation)) ??
      {}
    )
  }
}

function waitingBySession(
  workspace: Workspace,
  whose: ReadonlyMap<string, string>,
): ReadonlyMap<string | undefined, Sums> {
  const waiting = new Map<string | undefined, Sums>()
  for (const { at, costs, isTaken, name } of waitingCosts(trackingFolderOf(workspace.place))) {
    const session = whose.get(costs.conversation)
    if (isTaken && session !== undefined && isJournalled(workspace, session, name)) continue
    const all = costsIn(costs)
    // Injections into a session are recorded when they happen.
    const { hooks, hookMs, writes } = all
    const amounts = session === undefined ? all : { ...NOTHING, hooks, hookMs, writes }
    waiting.set(session, (waiting.get(session) ?? new Sums()).add(dayOf(at), amounts))
  }
  return waiting
}

/** Read again, since leftover lines are rare. */
function isJournalled({ place, config }: Workspace, session: string, name: string): boolean {
  const once = onceOfCosts(name)
  return recordsOf(place, config, session).some((record) => record.once?.endsWith(once) === true)
}
