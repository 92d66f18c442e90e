import { type Folds, type Kinds, type MutableState, noEffect, outdatesWrittenTldr } from './kind.ts'
import type { WorkflowState } from './phases.ts'
import { type GitState, gitOf, nonEmptyString, str } from './read-fields.ts'
import { syncWorkflowName } from './workflow.ts'

export interface SessionData {
  'session.opened': {
    name: string
    title?: string
    goal?: string
    worktree?: string
    git?: GitState
  }
  'session.renamed': { name: string }
  'session.titled': { title: string }
  'session.paused': { note?: string; switchTo?: string; git?: GitState }
  'session.resumed': { git?: GitState; worktree?: string }
  'session.closed': { how: 'completed' | 'abandoned'; reason?: string; git?: GitState }
  'session.reopened': { git?: GitState }
  'goal.set': { text: string }
  'tldr.written': { text: string }
  'git.observed': { git: GitState }
  /** In the backlog's journal. */
  'maintenance.done': Record<never, never>
}

export type SessionStatus = 'active' | 'paused' | 'completed' | 'abandoned'

export interface WrittenTldr {
  readonly text: string
  readonly id: string
  readonly at: string
  readonly isOutdated: boolean
  /** The checkpoint that renewed it because it was outdated. */
  readonly renewed?: string
}

export interface SessionHead {
  readonly name: string
  readonly title: string
  readonly status: SessionStatus
  readonly goal: string
  readonly createdAt: string
  readonly openedGit: GitState
  readonly worktree?: string
  readonly pausedAt?: string
  readonly pauseNote?: string
  readonly closedAt?: string
  readonly closeReason?: string
  readonly tldr?: WrittenTldr
}

export const fold: Folds<SessionData, SessionHead & WorkflowState> = {
  'session.opened': {
    outdatesTldr: true,
    bindsBranch: true,
    apply(state, data, entry) {
      state.name = nonEmptyString(data.name) ?? state.name
      state.title = nonEmptyString(data.title) ?? titleFromName(state.name)
      state.goal = str(data.goal)
      state.createdAt = entry.at
      state.openedGit = gitOf(data.git) ?? {}
      bindToWorktree(state, data.worktree)
      syncWorkflowName(state)
    },
  },
  'session.renamed': outdatesWrittenTldr((state, data) => {
    state.name = nonEmptyString(data.name) ?? state.name
    syncWorkflowName(state)
  }),
  'session.titled': outdatesWrittenTldr((state, data) => {
    state.title = nonEmptyString(data.title) ?? state.title
    syncWorkflowName(state)
  }),
  'session.paused': {
    outdatesTldr: false,
    bindsBranch: false,
    apply(state, data, entry) {
      if (state.status !== 'active') return
      state.status = 'paused'
      state.pausedAt = entry.at
      const note = nonEmptyString(data.note)
      if (note !== undefined) state.pauseNote = note
    },
  },
  'session.resumed': {
    outdatesTldr: false,
    bindsBranch: true,
    apply(state, data) {
      if (state.status !== 'active' && state.status !== 'paused') return
      clearEndings(state)
      bindToWorktree(state, data.worktree)
    },
  },
  'session.closed': {
    outdatesTldr: true,
    bindsBranch: false,
    apply(state, data, entry) {
      clearEndings(state)
      state.status = data.how === 'abandoned' ? 'abandoned' : 'completed'
      state.closedAt = entry.at
      const reason = nonEmptyString(data.reason)
      if (reason !== undefined) state.closeReason = reason
    },
  },
  'session.reopened': { outdatesTldr: true, bindsBranch: true, apply: clearEndings },
  'goal.set': outdatesWrittenTldr((state, data) => {
    state.goal = str(data.text)
  }),
  'tldr.written': outdatesWrittenTldr((state, data, { id, at }) => {
    state.tldr = { text: str(data.text), id, at, isOutdated: false }
  }),
  // The fold reads the git state of every entry that has one.
  'git.observed': { outdatesTldr: false, bindsBranch: true, apply: noEffect },
  'maintenance.done': { outdatesTldr: false, apply: noEffect },
}

export const kinds = (): Kinds<SessionData, SessionHead> => {
  const usual = { group: 'session', writers: ['document'], amendable: [], about: 'work' } as const
  const handed = { ...usual, about: 'handover' } as const
  const text = {
    ...usual,
    writers: ['agent', 'document'],
    amendable: ['text'],
    prose: ['text'],
  } as const
  return {
    'session.opened': {
      ...usual,
      searchedAs: 'goal',
      writers: [],
      prose: ['name', 'title', 'goal', 'worktree'],
      line: ['title', 'goal', 'name'],
    },
    'session.renamed': { ...usual, prose: ['name'] },
    'session.titled': { ...usual, prose: ['title'] },
    'session.paused': { ...handed, prose: ['note', 'switchTo'], line: ['note'] },
    'session.resumed': { ...handed, prose: ['worktree'], line: [] },
    // The end of a session is reported on its own.
    'session.closed': { ...handed, prose: ['reason'] },
    'session.reopened': { ...handed, prose: [] },
    'goal.set': { ...text, label: 'goal', searchedAs: 'goal' },
    'tldr.written': { ...text, label: 'tldr', searchedAs: 'tldr' },
    // HEAD is compared on its own.
    'git.observed': { ...handed, group: 'code', writers: [], prose: [] },
    'maintenance.done': { ...usual, writers: [], prose: [] },
  }
}

function clearEndings(state: MutableState<SessionHead>) {
  state.status = 'active'
  delete state.pausedAt
  delete state.pauseNote
  delete state.closedAt
  delete state.closeReason
}

function bindToWorktree(state: MutableState<SessionHead>, worktree: unknown) {
  const path = nonEmptyString(worktree)
  if (path !== undefined) state.worktree = path
}

function titleFromName(name: string) {
  return name
    .split('-')
    .filter((word) => word !== '')
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join(' ')
}
