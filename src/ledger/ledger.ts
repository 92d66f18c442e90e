import { basename, join, relative, sep } from 'node:path'
import { StintError } from '../journal/errors.ts'
import { shortId } from '../journal/ids.ts'
import type { Workspace } from '../project/store/workspace.ts'
import { foldBacklog } from '../backlog/backlog.ts'
import { DailyAmounts, costsOf, dayOf, savingsOf } from './amounts.ts'
import type { Ledger, LedgerRow } from './ledger-types.ts'
import {
  type CountedRun,
  type CountedSession,
  type GatheredAmounts,
  gatherAmounts,
} from './gather-amounts.ts'
import type { RunTaskAmounts } from './run-amounts.ts'
import { statOrUndefined } from '../journal/read-files.ts'
import { filesUnder } from '../project/purge/scrub-files.ts'
import type { ProjectPaths } from '../project/store/project-paths.ts'
import { readDelegates } from '../run/delegate/delegates.ts'
import { NoSession, findSession } from '../project/store/choose-session.ts'
import { runIds } from '../project/store/run-files.ts'
import { findRun } from '../run/run-log.ts'
import { findTask, matchTasks } from '../backlog/task.ts'

export interface LedgerRequest {
  readonly session?: string
  readonly task?: string
  readonly run?: string
  readonly since?: string
  readonly by?: LedgerBy
}

type LedgerBy = 'session' | 'task' | 'run'

export async function computeLedger(
  workspace: Workspace,
  request: LedgerRequest = {},
): Promise<Ledger> {
  const tasks = await tasksOf(workspace)
  const names = new Map(tasks.map(({ id, shortname }) => [id, shortname]))
  const builder = new LedgerBuilder(workspace, await gatherAmounts(workspace), names, request)
  const { session, task, run, by } = request
  if (session !== undefined) return builder.ledger('session', session, by ?? 'task')
  if (task !== undefined) return builder.ledger('task', task, by ?? 'session')
  if (run !== undefined) return builder.ledger('run', run, by ?? 'session')
  return builder.ledger('project', workspace.paths.root, by ?? 'session')
}

/** Only from the journals: a read must not absorb files. */
async function tasksOf(workspace: Workspace) {
  if (!workspace.hasSessions()) return []
  return foldBacklog([...(await workspace.index()).taskEntries()]).tasks
}

/** Belongs to at most one session, task and run; every sum is made of these. */
interface LedgerPart {
  readonly session?: string
  readonly tasks: readonly { readonly id: string; readonly name: string }[]
  readonly run?: string
  readonly delegate?: string
  readonly days: RunTaskAmounts['days']
  readonly updatedAt: string
}

class LedgerBuilder {
  readonly #root: string
  readonly #since: string
  readonly #sessions: ReadonlyMap<string, CountedSession>
  readonly #runs: ReadonlyMap<string, CountedRun>
  readonly #tasks: ReadonlyMap<string, string>
  readonly #parts: readonly LedgerPart[]
  readonly #sizes: ReturnType<typeof sizesOf>

  constructor(
    { paths }: Workspace,
    { sessions, runs, unattributed }: GatheredAmounts,
    tasks: ReadonlyMap<string, string>,
    { since }: Pick<LedgerRequest, 'since'>,
  ) {
    this.#root = paths.root
    this.#since = since === undefined ? '' : dayOf(since)
    this.#sessions = new Map(sessions.map((session) => [session.row.id, session]))
    this.#runs = new Map(runs.map((run) => [run.id, run]))
    this.#tasks = tasks
    const runOf = new Map(
      runs.flatMap((run) => run.parts.map(({ session }) => [session, run] as const)),
    )
    this.#parts = [
      ...sessions.map((session) => this.#ofSession(session, runOf.get(session.row.id))),
      ...runs.flatMap((run) =>
        run.parts.map(({ task, ...amounts }) => ({
          ...amounts,
          tasks: task === undefined ? [] : [task],
          ...runFields(run),
        })),
      ),
      { tasks: [], days: unattributed, updatedAt: '' },
    ]
    this.#sizes = sizesOf(paths)
  }

  ledger(kind: LedgerRow['kind'], id: string, by: LedgerBy) {
    const own = this.#parts.filter((part) => belongsTo(part, kind, id))
    if (own.length === 0 && kind !== 'project')
      throw new StintError(
        'NOTHING_COUNTED',
        `nothing was spent on ${kind} ${this.#nameOf(kind, id)} yet`,
        'stint ledger shows what there is',
      )
    const total = this.#account(kind, id, own)
    const groups = new Map<string, LedgerPart[]>()
    for (const part of own) {
      const shared = kind === 'task' ? taskShare(part, id) : part
      for (const group of idsOf(shared, by))
        groups.set(group, [...(groups.get(group) ?? []), shared])
    }
    const accounts = [...groups].map(([group, parts]) =>
      this.#account(by, group, parts, kind === 'task'),
    )
    const rows = accounts.filter(({ sums }) => !sums.isEmpty).map(({ row }) => row)
    return { whole: total.row, rows: rows.toSorted(byCost), days: total.sums.days }
  }

  #account(
    kind: LedgerRow['kind'],
    id: string,
    parts: readonly LedgerPart[],
    isForTask = kind === 'task',
  ) {
    const sums = new DailyAmounts()
    for (const part of parts) {
      const share = kind === 'task' && part.tasks.length > 0 ? 1 / part.tasks.length : 1
      sums.addAll(part.days, { since: this.#since, share })
    }
    const updatedAt = parts.reduce(
      (latest, part) => (part.updatedAt > latest ? part.updatedAt : latest),
      '',
    )
    const row: LedgerRow = {
      kind,
      id,
      name: this.#nameOf(kind, id),
      ...(updatedAt === '' ? {} : { updatedAt }),
      costs: costsOf(sums.total, this.#bytesOf(kind, id, parts, isForTask)),
      savings: savingsOf(sums.total),
    }
    return { sums, row }
  }

  #ofSession({ row, days }: CountedSession, run: CountedRun | undefined) {
    // A run knows the task of each attempt.
    const tasks =
      run === undefined ? row.tasks.map((id) => ({ id, name: this.#tasks.get(id) ?? id })) : []
    return {
      session: row.id,
      tasks,
      days,
      updatedAt: row.updatedAt,
      ...(run === undefined ? {} : runFields(run)),
    }
  }

  #nameOf(kind: LedgerRow['kind'], id: string) {
    if (kind === 'session') return this.#sessions.get(id)?.row.name ?? shortId(id)
    if (kind === 'run') return this.#runs.get(id)?.name ?? shortId(id)
    if (kind === 'project') return basename(this.#root)
    const named = this.#parts.flatMap(({ tasks }) => tasks).find((task) => task.id === id)
    return this.#tasks.get(id) ?? named?.name ?? id
  }

  /** The current size on disk; a task counts its share of each session. */
  #bytesOf(kind: LedgerRow['kind'], id: string, parts: readonly LedgerPart[], isForTask: boolean) {
    const { all, runs } = this.#sizes
    if (kind === 'project') return all
    const sessions = new Set(parts.flatMap(({ session }) => session ?? []))
    const ofSessions = [...sessions].reduce((sum, session) => {
      return sum + this.#bytesOfSession(session) / (isForTask ? this.#tasksOf(session) : 1)
    }, 0)
    if (kind === 'session' || isForTask) return Math.round(ofSessions)
    const members = [...this.#runs.values()].filter((run) => run.of === id || run.id === id)
    return members.reduce((sum, run) => sum + (runs.get(run.id) ?? 0), ofSessions)
  }

  #tasksOf(session: string) {
    const parts = this.#parts.filter((part) => part.session === session)
    return Math.max(1, new Set(parts.flatMap(({ tasks }) => tasks.map(({ id }) => id))).size)
  }

  #bytesOfSession(id: string) {
    const { conversations, documents, journals } = this.#sizes
    const conversationBytes = (this.#sessions.get(id)?.conversations ?? []).reduce(
      (sum, one) => sum + (conversations.get(one) ?? 0),
      0,
    )
    return (journals.get(id) ?? 0) + (documents.get(shortId(id)) ?? 0) + conversationBytes
  }
}

function runFields(run: CountedRun) {
  return run.of === undefined ? { run: run.id } : { run: run.of, delegate: run.id }
}

function belongsTo(part: LedgerPart, kind: LedgerRow['kind'], id: string) {
  return (
    kind === 'project' || (kind === 'run' && part.delegate === id) || idsOf(part, kind).includes(id)
  )
}

function idsOf({ session, tasks, run }: LedgerPart, kind: LedgerBy) {
  if (kind === 'session') return session === undefined ? [] : [session]
  if (kind === 'run') return run === undefined ? [] : [run]
  return tasks.map(({ id }) => id)
}

function taskShare(part: LedgerPart, task: string) {
  const share = 1 / part.tasks.length
  return {
    ...part,
    tasks: part.tasks.filter(({ id }) => id === task),
    days: new DailyAmounts().addAll(part.days, { share }).byDay,
  }
}

function byCost(a: LedgerRow, b: LedgerRow) {
  return (
    b.costs.injectedTokens - a.costs.injectedTokens ||
    b.costs.hookMs - a.costs.hookMs ||
    (a.name < b.name ? -1 : 1)
  )
}

/** `all` includes the index, hook state and outputs, which belong to no session. Documents are keyed by short id. */
function sizesOf({ sessions, repository }: ProjectPaths) {
  const [journals, documents, conversations, runs] = Array.from(
    { length: 4 },
    () => new Map<string, number>(),
  ) as [Sizes, Sizes, Sizes, Sizes]
  const addBytes = (map: Sizes, name: string, bytes: number) =>
    map.set(name, (map.get(name) ?? 0) + bytes)
  // A log has a second name under the git directory, but is one file.
  const counted = new Set<number>()
  let all = 0
  for (const { names, bytes, ino } of filesIn(sessions)) {
    const [folder, name = ''] = names
    all += bytes
    counted.add(ino)
    if (folder === 'journal') addBytes(journals, name, bytes)
    else if (folder === 'runs') addBytes(runs, name, bytes)
    else if (folder === 'conversations' && name.endsWith('.jsonl'))
      addBytes(conversations, name.slice(0, -'.jsonl'.length), bytes)
    else if (folder === 'active' || folder === 'archive')
      addBytes(documents, /-([0-9a-f]{6})\.md$/.exec(name)?.[1] ?? '', bytes)
  }
  for (const { bytes, ino } of repository === undefined
    ? []
    : filesIn(join(repository.commonDir, 'stint'))) {
    if (!counted.has(ino)) all += bytes
    counted.add(ino)
  }
  return { all, journals, documents, conversations, runs }
}

type Sizes = Map<string, number>

function* filesIn(folder: string) {
  for (const path of filesUnder(folder)) {
    const stat = statOrUndefined(path)
    const names = relative(folder, path).split(sep)
    if (stat !== undefined) yield { names, bytes: stat.size, ino: stat.ino }
  }
}

/** In this order: a session often has the name of its task. */
export async function findLedgerScope(
  workspace: Workspace,
  name: string,
): Promise<Pick<LedgerRequest, 'session' | 'task' | 'run'>> {
  const session = await findSessionId(workspace, name)
  const tasks = await tasksOf(workspace)
  const [task] = matchTasks(tasks, name)
  if (session !== undefined) {
    if (task !== undefined && task.id !== name)
      workspace.say(`there is a task of that name as well: stint ledger ${task.id}`)
    return { session }
  }
  if (task !== undefined) return { task: findTask(tasks, name).id }
  const delegate = readDelegates(workspace.paths).find(({ order }) => order.name === name)
  if (delegate !== undefined) return { run: delegate.id }
  if (runIds(workspace.paths).some((id) => id.includes(name)))
    return { run: findRun(workspace.paths, name) }
  const foreignTask = await findForeignTask(workspace, name)
  if (foreignTask !== undefined) return { task: foreignTask }
  const hint = 'stint ledger --by task, or run, lists them'
  throw new StintError('NOTHING_CALLED_SO', `there is no session, task or run "${name}"`, hint)
}

async function findForeignTask(workspace: Workspace, name: string) {
  const { sessions, runs } = await gatherAmounts(workspace)
  if (sessions.some(({ row }) => row.tasks.includes(name))) return name
  const tasks = runs.flatMap(({ parts }) => parts).flatMap(({ task }) => task ?? [])
  return tasks.find((task) => task.id === name || task.name === name)?.id
}

async function findSessionId(workspace: Workspace, name: string) {
  try {
    return (await findSession(workspace, name)).id
  } catch (error) {
    if (error instanceof NoSession) return undefined
    throw error
  }
}
