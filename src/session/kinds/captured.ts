// Only the recent end of what hooks capture is kept; the journal has all of it.
import {
  type Observations,
  NO_OBSERVATIONS,
  mergeObservations,
} from '../../command/merge-observations.ts'
import { type CommandObservation, readObservation } from '../../command/observation.ts'
import { type StatementsState, confirmBy } from './statements.ts'
import { type Folds, type Kinds, noEffect, outdatesWrittenTldr } from './kind.ts'
import { type GitState, fields, item, nonEmptyString, str } from './read-fields.ts'
import { type Item, KEEP_ALL, type ItemList, type ListRules, pushRecent } from './item-list.ts'

export interface CapturedData {
  /** `replaces`: commits that an amend, a rebase or a reset took off the branch. */
  'commit.made': {
    commit: string
    subject: string
    body?: string
    replaces?: readonly string[]
    git?: GitState
  }
  'test.ran': { command: string; passed: boolean; summary?: string; conversation?: string }
  /** Typed facts from a command's output, and what they disprove. */
  'command.observed': CommandObservation & { conversation: string }
  /** The whole output is in the file `artifact`. */
  'output.kept': {
    label?: string
    command: string
    exit: number
    artifact: string
    bytes: number
    lines: number
    shown?: number
    summary?: string
  }
  'agent.finished': {
    agent: string
    type?: string
    task?: string
    result?: string
    conversation: string
  }
}

/** `text` is the subject. */
export interface Commit extends Item {
  readonly commit: string
  readonly body?: string
}

/** `text` is the command. */
export interface CapturedTestRun extends Item {
  readonly passed: boolean
  readonly summary?: string
}

export interface CapturedState {
  readonly commits: ItemList<Commit>
  readonly tests: ItemList<CapturedTestRun>
  readonly observations?: Observations
  /** `text` is the prompt, or the type of agent. */
  readonly agents: ItemList<Item & { readonly result?: string }>
}

export const listRules: ListRules<CapturedState> = {
  commits: KEEP_ALL,
  tests: KEEP_ALL,
  agents: KEEP_ALL,
}

export const fold: Folds<CapturedData, CapturedState & StatementsState> = {
  'commit.made': {
    outdatesTldr: true,
    bindsBranch: false,
    apply(state, data, entry) {
      const made = {
        ...item(entry, data.subject),
        commit: str(data.commit),
        ...fields(data, 'body'),
      }
      confirmBy(state, [made.text, made.body ?? ''])
      const reverted = /^Revert "(.+)"$/.exec(made.text)?.[1]
      const replaced = Array.isArray(data.replaces) ? data.replaces : []
      const isGone = ({ commit, text }: Commit) => text === reverted || replaced.includes(commit)
      state.commits.items = state.commits.items.filter((each) => !isGone(each))
      pushRecent(state.commits, made, 12, (known) => known.commit === made.commit)
    },
  },
  'test.ran': outdatesWrittenTldr((state, data, entry) => {
    const passed = data.passed === true
    if (passed) confirmBy(state, [str(data.command), str(data.summary)])
    const run = { ...item(entry, data.command), passed, ...fields(data, 'summary') }
    pushRecent(state.tests, run, 12)
  }),
  'command.observed': {
    outdatesTldr: false,
    apply(state, data) {
      const observed = readObservation(data)
      if (observed.passing.length > 0) confirmBy(state, observed.passing)
      state.observations = mergeObservations(state.observations ?? NO_OBSERVATIONS, observed)
    },
  },
  'output.kept': { outdatesTldr: false, apply: noEffect },
  'agent.finished': outdatesWrittenTldr((state, data, entry) => {
    const asked = nonEmptyString(data.task) ?? nonEmptyString(data.type) ?? 'agent'
    pushRecent(state.agents, { ...item(entry, asked), ...fields(data, 'result') }, 8, () => false)
  }),
}

export const kinds = (): Kinds<CapturedData, CapturedState & StatementsState> => {
  const usual = { group: 'code', writers: [], amendable: [], about: 'work' } as const
  return {
    'commit.made': { ...usual, label: 'commit', prose: ['commit', 'subject'], line: [] },
    'test.ran': { ...usual, prose: ['command', 'summary'] },
    'command.observed': { ...usual, label: 'seen in output', prose: ['command'] },
    'output.kept': {
      ...usual,
      prose: ['label', 'command', 'summary'],
      line: ['command', 'summary'],
    },
    'agent.finished': {
      ...usual,
      group: 'tasks',
      prose: ['type', 'task', 'result'],
      line: ['task'],
    },
  }
}
