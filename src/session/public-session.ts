// docs/json.md lists the fields. It is in this layer because state.json is a view, and views are rendered below the project.
import { defined } from '../text/defined.ts'
import { isAccepted } from './kinds/handoffs.ts'
import {
  type Checkpoint,
  type SessionConversation,
  type SessionDelegate,
  type Handoff,
  type SessionState,
  type SessionStatus,
  type ItemList,
  countItems,
  currentStep,
  openBlockers,
  stepCounts,
} from './state.ts'
import { tldrOf } from './tldr.ts'

/** Raise it when a public field is renamed, moved or removed. */
export const STATE_FORMAT = { format: 'stint-state', version: 2 } as const

export interface SessionRow {
  readonly id: string
  readonly name: string
  readonly title: string
  readonly status: SessionStatus
  readonly branch?: string
  readonly worktree?: string
  readonly goal: string
  /** In a list, the last one written. */
  readonly tldr?: string
  readonly tasks: readonly string[]
  readonly createdAt: string
  readonly updatedAt: string
  readonly closedAt?: string
  readonly compactions: number
  readonly counts: {
    /** Retracted ones included. */
    readonly entries: number
    readonly steps: number
    readonly stepsDone: number
    readonly decisions: number
    readonly discoveries: number
    readonly openBlockers: number
  }
}

export interface PublicList<T> {
  readonly earlier: number
  readonly items: readonly T[]
}

export type PublicSessionHead = ReturnType<typeof publicSessionHead>
export type PublicSession = ReturnType<typeof publicSession>
export type PublicCheckpoint = ReturnType<typeof publicCheckpoint>
export type PublicHandoff = ReturnType<typeof publicHandoff>

export function publicSessionRow(state: SessionState): SessionRow {
  const { id, name, title, status, goal, tasks, createdAt, updatedAt, compactions } = state
  const { done, total } = stepCounts(state)
  const { branch, worktree, closedAt } = state
  return {
    id,
    name,
    title,
    status,
    ...defined({ branch, worktree }),
    goal,
    ...defined({ tldr: state.tldr?.text }),
    tasks,
    createdAt,
    updatedAt,
    ...defined({ closedAt }),
    compactions,
    counts: {
      entries: state.entryCount,
      steps: total,
      stepsDone: done,
      decisions: countItems(state.decisions),
      discoveries: countItems(state.discoveries),
      openBlockers: openBlockers(state).length,
    },
  }
}

/** Few fields, whatever the length of the session. */
export function publicSessionHead(state: SessionState) {
  return {
    ...STATE_FORMAT,
    ...publicSessionRow(state),
    tldr: tldrOf(state),
    ...defined({ commit: state.git.commit, currentStep: currentStep(state) }),
    openBlockers: openBlockers(state),
    next: publicList(state.next),
  }
}

export function publicSession(state: SessionState) {
  const { pausedAt, pauseNote, closeReason, lastTurn, workflow } = state
  return {
    ...publicSessionHead(state),
    ...defined({ tldrWritten: state.tldr, pausedAt, pauseNote, closeReason }),
    git: state.git,
    openedGit: state.openedGit,
    steps: publicList(state.steps),
    progress: publicList(state.progress),
    decisions: publicList(state.decisions),
    discoveries: publicList(state.discoveries),
    blockers: publicList(state.blockers),
    key: publicList(state.key),
    keyFiles: publicList(state.keyFiles),
    changedFiles: publicList(state.changedFiles),
    commands: publicList(state.commands),
    notes: publicList(state.notes),
    remarks: publicList(state.remarks),
    sections: publicList(state.sections),
    fields: state.fields,
    checkpoints: publicList(state.checkpoints, publicCheckpoint),
    handoffs: publicList(state.handoffs, (handoff) => publicHandoff(handoff, state)),
    conversations: publicList(state.conversations, joinedConversation),
    requests: publicList(state.requests),
    statements: publicList(state.statements),
    ...defined({ observations: state.observations }),
    commits: publicList(state.commits),
    tests: publicList(state.tests),
    agents: publicList(state.agents),
    delegates: publicList(state.delegates, reportedDelegate),
    crossings: publicList(state.crossings),
    ...defined({ lastAutomatic: state.lastAutomatic, lastTurn, workflow }),
    lastId: state.lastId,
  }
}

function publicList<T, P = T>({ earlier, items }: ItemList<T>, publicItem?: (item: T) => P) {
  return {
    earlier,
    items: publicItem === undefined ? (items as readonly never[]) : items.map(publicItem),
  }
}

export function publicCheckpoint({ id, at, text, tldr, preCompact, git, code }: Checkpoint) {
  return { id, at, note: text, isPreCompact: preCompact, ...defined({ tldr, git, code }) }
}

export function publicHandoff(
  handoff: Handoff,
  session: { readonly id: string; readonly name: string },
) {
  const { id, at, number, text, isDraft, tokens, hash, to, git, code, accepted } = handoff
  return {
    id,
    number,
    session: session.id,
    sessionName: session.name,
    at,
    reason: text,
    status: handoffStatus(handoff),
    isDraft,
    tokens,
    hash,
    ...defined({ to, git, code }),
    accepted,
  }
}

function handoffStatus(handoff: Handoff) {
  if (isAccepted(handoff)) return 'accepted'
  const last = handoff.accepted.at(-1)?.outcome
  return last === 'stale' || last === 'mismatch' ? last : 'waiting'
}

function joinedConversation({ text, harness, at, endedAt, reason }: SessionConversation) {
  return { id: text, harness, startedAt: at, ...defined({ endedAt, endedBecause: reason }) }
}

function reportedDelegate(line: SessionDelegate) {
  const { delegate, name, status, text, at, updatedAt, as, task, group, branch } = line
  const { summary, because, commit, report } = line
  return {
    id: delegate,
    name,
    status,
    what: text,
    startedAt: at,
    since: updatedAt,
    ...defined({ as, task, group, branch, summary, because, commit, report }),
  }
}
