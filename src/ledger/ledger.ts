import { basename, join, relative, sep } from 'node:path'
import { StintError } from '../journal/errors.ts'
import { shortId } from '../journal/ids.ts'
import type { Workspace } from '../project/store/workspace.ts'
import { foldBacklog } from '../backlog/backlog.ts'
import { DailyAmounts, costsOf, dayOf, savingsOf } from './amounts.ts'
import type { Ledger, LedgerRow } from './contract.ts'
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

export type LedgerBy = 'session' | 'task' | 'run'

export async function computeLedger(
  workspace: Workspace,
  request: LedgerRequest = {},
): Promise<Ledger> {
  const tasks = await tasksOf(workspace)
  const names = new Map(tasks.map(({ id, shortname }) => [id, shortname]))
  const counted = new Counted(workspace, await gatherAmounts(workspace), names, request)
  const { session, task, run, by } = request
  if (session !== undefined) return counted.ledger('session', session, by ?? 'task')
  if (task !== undefined) return counted.ledger('task', task, by ?? 'session')
  if (run !== undefined) return counted.ledger('run', run, by ?? 'session')
  return counted.ledger('project', workspace.paths.root, by ?? 'session')
}

/** Only from the journals: a read must not absorb files. */
async function tasksOf(workspace: Workspace) {
  if (!workspace.hasSessions()) return []
  return foldBacklog([...(await workspace.index()).taskEntries()]).tasks
}

/** A part of one session, task and run at most; every sum is made of these. */
interface Piece {
  readonly session?: string
  readonly tasks: readonly { readonly id: string; readonly name: string }[]
  readonly run?: string
  readonly delegate?: string
  readonly days: RunTaskAmounts['days']
  readonly updatedAt: string
}

class Counted {
  readonly #root: string
  readonly #since: string
  readonly #sessions: ReadonlyMap<string, CountedSession>
  readonly #runs: ReadonlyMap<string, CountedRun>
  readonly #tasks: ReadonlyMap<string, string>
  readonly #pieces: readonly Piece[]
  readonly #sizes: ReturnType<typeof sizesOf>

  constructor(
    { paths: place }: Workspace,
    { sessions, runs, unattributed: nobodys }: GatheredAmounts,
    tasks: ReadonlyMap<string, string>,
    { since }: Pick<LedgerRequest, 'since'>,
  ) {
    this.#root = place.root
    this.#since = since === undefined ? '' : dayOf(since)
    this.#sessions = new Map(sessions.map((session) => [session.row.id, session]))
    this.#runs = new Map(runs.map((run) => [run.id, run]))
    this.#tasks = tasks
    const runOf = new Map(
      runs.flatMap((run) => run.parts.map(({ session }) => [session, run] as const)),
    )
    this.#pieces = [
      ...sessions.map((session) => this.#ofSession(session, runOf.get(session.row.id))),
      ...runs.flatMap((run) =>
        run.parts.map(({ task, ...part }) => ({
          ...part,
          tasks: task === undefined ? [] : [task],
          ...whoseOf(run),
        })),
      ),
      { tasks: [], days: nobodys, updatedAt: '' },
    ]
    this.#sizes = sizesOf(place)
  }

  ledger(kind: LedgerRow['kind'], id: string, by: LedgerBy) {
    const own = this.#pieces.filter((piece) => isOf(piece, kind, id))
    if (own.length === 0 && kind !== 'project')
      throw new StintError(
        'NOTHING_COUNTED',
        `nothing was spent on ${kind} ${this.#nameOf(kind, id)} yet`,
        'stint ledger shows what there is',
      )
    const whole = this.#account(kind, id, own)
    const parts = new Map<string, Piece[]>()
    for (const piece of own) {
      const its = kind === 'task' ? onlyFor(piece, id) : piece
      for (const part of idsOf(its, by)) parts.set(part, [...(parts.get(part) ?? []), its])
    }
    const accounts = [...parts].map(([part, pieces]) =>
      this.#account(by, part, pieces, kind === 'task'),
    )
    const rows = accounts.filter(({ sums }) => !sums.isEmpty).map(({ row }) => row)
    return { whole: whole.row, rows: rows.toSorted(byCost), days: whole.sums.days }
  }

  #account(
    kind: LedgerRow['kind'],
    id: string,
    pieces: readonly Piece[],
    isForTask = kind === 'task',
  ) {
    const sums = new DailyAmounts()
    for (const piece of pieces) {
      const share = kind === 'task' && piece.tasks.length > 0 ? 1 / piece.tasks.length : 1
      sums.addAll(piece.days, { since: this.#since, share })
    }
    const updatedAt = pieces.reduce(
      (latest, piece) => (piece.updatedAt > latest ? piece.updatedAt : latest),
      '',
    )
    const row: LedgerRow = {
      kind,
      id,
      name: this.#nameOf(kind, id),
      ...(updatedAt === '' ? {} : { updatedAt }),
      costs: costsOf(sums.total, this.#bytesOf(kind, id, pieces, isForTask)),
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
      ...(run === undefined ? {} : whoseOf(run)),
    }
  }

  #nameOf(kind: LedgerRow['kind'], id: string) {
    if (kind === 'session') return this.#sessions.get(id)?.row.name ?? shortId(id)
    if (kind === 'run') return this.#runs.get(id)?.name ?? shortId(id)
    if (kind === 'project') return basename(this.#root)
    const named = this.#pieces.flatMap(({ tasks }) => tasks).find((task) => task.id === id)
    return this.#tasks.get(id) ?? named?.name ?? id
  }

  /** As on disk now; a task has only its share of sessions. */
  #bytesOf(kind: LedgerRow['kind'], id: string, pieces: readonly Piece[], isForTask: boolean) {
    const { all, runs } = this.#sizes
    if (kind === 'project') return all
    const sessions = new Set(pieces.flatMap(({ session }) => session ?? []))
    const ofSessions = [...sessions].reduce((sum, session) => {
      return sum + this.#bytesOfSession(session) / (isForTask ? this.#tasksOf(session) : 1)
    }, 0)
    if (kind === 'session' || isForTask) return Math.round(ofSessions)
    const members = [...this.#runs.values()].filter((run) => run.of === id || run.id === id)
    return members.reduce((sum, run) => sum + (runs.get(run.id) ?? 0), ofSessions)
  }

  #tasksOf(session: string) {
    const pieces = this.#pieces.filter((piece) => piece.session === session)
    return Math.max(1, new Set(pieces.flatMap(({ tasks }) => tasks.map(({ id }) => id))).size)
  }

  #bytesOfSession(id: string) {
    const { conversations, documents, journals } = this.#sizes
    const said = (this.#sessions.get(id)?.conversations ?? []).reduce(
      (sum, one) => sum + (conversations.get(one) ?? 0),
      0,
    )
    return (journals.get(id) ?? 0) + (documents.get(shortId(id)) ?? 0) + said
  }
}

function whoseOf(run: CountedRun) {
  return run.of === undefined ? { run: run.id } : { run: run.of, delegate: run.id }
}

function isOf(piece: Piece, kind: LedgerRow['kind'], id: string) {
  return (
    kind === 'project' ||
    (kind === 'run' && piece.delegate === id) ||
    idsOf(piece, kind).includes(id)
  )
}

function idsOf({ session, tasks, run }: Piece, kind: LedgerBy) {
  if (kind === 'session') return session === undefined ? [] : [session]
  if (kind === 'run') return run === undefined ? [] : [run]
  return tasks.map(({ id }) => id)
}

function onlyFor(piece: Piece, task: string) {
  const share = 1 / piece.tasks.length
  return {
    ...piece,
    tasks: piece.tasks.filter(({ id }) => id === task),
    days: new DailyAmounts().addAll(piece.days, { share }).byDay,
  }
}

function byCost(a: LedgerRow, b: LedgerRow) {
  return (
    b.costs.injectedTokens - a.costs.injectedTokens ||
    b.costs.hookMs - a.costs.hookMs ||
    (a.name < b.name ? -1 : 1)
  )
}

/** `all` includes the index, notes and outputs, which belong to no session; a document is known by the last six digits of its session. */
function sizesOf({ sessions, repository }: ProjectPaths) {
  const [journals, documents, conversations, runs] = Array.from(
    { length: 4 },
    () => new Map<string, number>(),
  ) as [Sizes, Sizes, Sizes, Sizes]
  const plus = (map: Sizes, name: string, bytes: number) =>
    map.set(name, (map.get(name) ?? 0) + bytes)
  // A log has a second name under the git directory, but is one file.
  const counted = new Set<number>()
  let all = 0
  for (const { parts, bytes, ino } of filesIn(sessions)) {
    const [folder, name = ''] = parts
    all += bytes
    counted.add(ino)
    if (folder === 'journal') plus(journals, name, bytes)
    else if (folder === 'runs') plus(runs, name, bytes)
    else if (folder === 'conversations' && name.endsWith('.jsonl'))
      plus(conversations, name.slice(0, -'.jsonl'.length), bytes)
    else if (folder === 'active' || folder === 'archive')
      plus(documents, /-([0-9a-f]{6})\.md$/.exec(name)?.[1] ?? '', bytes)
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
    const parts = relative(folder, path).split(sep)
    if (stat !== undefined) yield { parts, bytes: stat.size, ino: stat.ino }
  }
}

/** In this order: a session often has the name of its task. */
export async function findLedgerScope(
  workspace: Workspace,
  name: string,
): Promise<Pick<LedgerRequest, 'session' | 'task' | 'run'>> {
  const session = await sessionCalled(workspace, name)
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
  const elsewhere = await keptElsewhere(workspace, name)
  if (elsewhere !== undefined) return { task: elsewhere }
  const hint = 'stint ledger --by task, or run, lists them'
  throw new StintError('NOTHING_CALLED_SO', `there is no session, task or run "${name}"`, hint)
}

async function keptElsewhere(workspace: Workspace, name: string) {
  const { sessions, runs } = await gatherAmounts(workspace)
  if (sessions.some(({ row }) => row.tasks.includes(name))) return name
  const tasks = runs.flatMap(({ parts }) => parts).flatMap(({ task }) => task ?? [])
  return tasks.find((task) => task.id === name || task.name === name)?.id
}

async function sessionCalled(workspace: Workspace, name: string) {
  try {
    return (await findSession(workspace, name)).id
  } catch (error) {
    if (error instanceof NoSession) return undefined
    throw error
  }
}
