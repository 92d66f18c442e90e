import { basename } from 'node:path'
import { StintError } from '../journal/errors.ts'
import { shortId } from '../journal/ids.ts'
import type { Workspace } from '../project/store/workspace.ts'
import { foldBacklog } from '../backlog/backlog.ts'
import { Sums, costsOf, dayOf, savingsOf } from './amounts.ts'
import type { Ledger, LedgerRow } from './contract.ts'
import { type CountedRun, type CountedSession, type Gathered, gather } from './gather.ts'
import type { RunPart } from './run-amounts.ts'
import { type Sizes, sizesOf } from './sizes.ts'
import { defined } from '../text/defined.ts'

/** By ids; without any, the whole project. */
export interface LedgerRequest {
  readonly session?: string
  readonly task?: string
  readonly run?: string
  /** From the day of this time on, in UTC. */
  readonly since?: string
  /** By default sessions, and of a session its tasks. */
  readonly by?: LedgerBy
}

export type LedgerBy = 'session' | 'task' | 'run'

export async function ledgerOf(workspace: Workspace, request: LedgerRequest = {}): Promise<Ledger> {
  const counted = new Counted(
    workspace,
    await gather(workspace),
    await taskNames(workspace),
    request,
  )
  const { session, task, run } = request
  if (session !== undefined) return counted.ledger('session', session, request.by ?? 'task')
  if (task !== undefined) return counted.ledger('task', task, request.by ?? 'session')
  if (run !== undefined) return counted.ledger('run', run, request.by ?? 'session')
  return counted.ledger('project', workspace.place.root, request.by ?? 'session')
}

async function taskNames(workspace: Workspace) {
  if (!workspace.hasSessions()) return new Map()
  // Only from the journals: a read must not absorb files.
  const { tasks } = foldBacklog([...(await workspace.index()).taskEntries()])
  return new Map(tasks.map(({ id, shortname }) => [id, shortname]))
}

interface Account {
  readonly kind: LedgerRow['kind']
  readonly id: string
  readonly name: string
  readonly updatedAt: string
  readonly sums: Sums
  readonly bytes: number
}

/** A part of one session, task and run at most; every sum is made of these. */
interface Piece {
  readonly session?: string
  readonly tasks: readonly { readonly id: string; readonly name: string }[]
  readonly run?: string
  readonly delegate?: string
  readonly days: RunPart['days']
  readonly updatedAt: string
}

class Counted {
  readonly #root: string
  readonly #since: string
  readonly #sessions: ReadonlyMap<string, CountedSession>
  readonly #runs: ReadonlyMap<string, CountedRun>
  readonly #tasks: ReadonlyMap<string, string>
  readonly #pieces: readonly Piece[]
  readonly #sizes: Sizes

  constructor(
    { place }: Workspace,
    { sessions, runs, nobodys }: Gathered,
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
      ...runs.flatMap((run) => ofRun(run)),
      { tasks: [], days: nobodys, updatedAt: '' },
    ]
    this.#sizes = sizesOf(place)
  }

  ledger(kind: LedgerRow['kind'], id: string, by: LedgerBy) {
    const own = this.#pieces.filter((piece) => isOf(piece, kind, id))
    if (own.length === 0 && kind !== 'project') throw this.#notThere(kind, id)
    const whole = this.#account(kind, id, own)
    const parts = new Map<string, Piece[]>()
    for (const piece of own) {
      // For a task, its share of a session.
      const its = kind === 'task' ? onlyFor(piece, id) : piece
      for (const part of idsOf(its, by)) parts.set(part, [...(parts.get(part) ?? []), its])
    }
    const accounts = [...parts].map(([part, pieces]) =>
      this.#account(by, part, pieces, kind === 'task'),
    )
    const rows = accounts.filter(({ sums }) => !sums.isEmpty).map(rowOf)
    return { whole: rowOf(whole), rows: rows.toSorted(byCost), days: whole.sums.days }
  }

  #account(
    kind: LedgerRow['kind'],
    id: string,
    pieces: readonly Piece[],
    isForTask = kind === 'task',
  ) {
    const sums = new Sums()
    for (const piece of pieces) {
      const share = kind === 'task' && piece.tasks.length > 0 ? 1 / piece.tasks.length : 1
      sums.addAll(piece.days, { since: this.#since, share })
    }
    const updatedAt = pieces.reduce(
      (latest, piece) => (piece.updatedAt > latest ? piece.updatedAt : latest),
      '',
    )
    return {
      kind,
      id,
      name: this.#nameOf(kind, id),
      updatedAt,
      sums,
      bytes: this.#bytesOf(kind, id, pieces, isForTask),
    }
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
    const members = [...this.#runs.values()].filter((run) => topOf(run) === id || run.id === id)
    return members.reduce((sum, run) => sum + (runs.get(run.id) ?? 0), ofSessions)
  }

  /** Each has the same share. */
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

  #notThere(kind: LedgerRow['kind'], id: string) {
    return new StintError(
      'NOTHING_COUNTED',
      `nothing was spent on ${kind} ${this.#nameOf(kind, id)} yet`,
      'stint ledger shows what there is',
    )
  }
}

function ofRun(run: CountedRun) {
  return run.parts.map(({ session, task, days, updatedAt }) => ({
    ...defined({ session }),
    tasks: task === undefined ? [] : [task],
    ...whoseOf(run),
    days,
    updatedAt,
  }))
}

function whoseOf(run: CountedRun) {
  return run.of === undefined ? { run: run.id } : { run: run.of, delegate: run.id }
}

/** A delegate of a run is counted with it. */
function topOf({ id, of }: CountedRun) {
  return of ?? id
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
    days: new Sums().addAll(piece.days, { share }).byDay,
  }
}

function rowOf({ kind, id, name, updatedAt, sums, bytes }: Account) {
  const { whole } = sums
  return {
    kind,
    id,
    name,
    ...(updatedAt === '' ? {} : { updatedAt }),
    costs: costsOf(whole, bytes),
    savings: savingsOf(whole),
  }
}

function byCost(a: LedgerRow, b: LedgerRow) {
  return (
    b.costs.injectedTokens - a.costs.injectedTokens ||
    b.costs.hookMs - a.costs.hookMs ||
    (a.name < b.name ? -1 : 1)
  )
}
