// Only the recent end of what hooks capture is kept; the journal has all of it.
import { defined } from '../../text/defined.ts'
import { type Folds, type Kinds, noEffect, outdatesWrittenTldr } from './kind.ts'
import {
  type GitState,
  type Usage,
  fields,
  item,
  nonEmptyString,
  str,
  usageOf,
} from './read-fields.ts'
import {
  type Item,
  KEEP_ALL,
  type ItemList,
  type ListRules,
  type MutableList,
  pushRecent,
} from './item-list.ts'

export interface CapturedData {
  /** A ruling says how something is, or is not, to be done. */
  'request.made': { text: string; conversation: string; isRuling?: boolean }
  'turn.ended': {
    conversation: string
    said?: string
    failure?: string
    model?: string
    usage?: Usage
  }
  'commit.made': { commit: string; subject: string; git?: GitState }
  'test.ran': { command: string; passed: boolean; summary?: string; conversation?: string }
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

export interface UserRequest extends Item {
  readonly isRuling: boolean
}

/** `text` is the subject. */
export interface Commit extends Item {
  readonly commit: string
}

/** `text` is the command. */
export interface CapturedTestRun extends Item {
  readonly passed: boolean
  readonly summary?: string
}

export interface CapturedState {
  readonly requests: ItemList<UserRequest>
  readonly commits: ItemList<Commit>
  readonly tests: ItemList<CapturedTestRun>
  /** `text` is the prompt, or the type of agent. */
  readonly agents: ItemList<Item & { readonly result?: string }>
  readonly lastTurn?: Readonly<CapturedData['turn.ended'] & { at: string }>
}

export const listRules: ListRules<CapturedState> = {
  requests: KEEP_ALL,
  commits: KEEP_ALL,
  tests: KEEP_ALL,
  agents: KEEP_ALL,
}

export const fold: Folds<CapturedData, CapturedState> = {
  'request.made': outdatesWrittenTldr((state, data, entry) => {
    state.requests.items.push({ ...item(entry, data.text), isRuling: data.isRuling === true })
    trimRequests(state.requests)
  }),
  'turn.ended': {
    outdatesTldr: false,
    apply(state, data, entry) {
      const usage = usageOf(data.usage)
      state.lastTurn = {
        at: entry.at,
        conversation: str(data.conversation),
        ...fields(data, 'said', 'failure', 'model'),
        ...defined({ usage }),
      }
    },
  },
  'commit.made': {
    outdatesTldr: true,
    bindsBranch: false,
    apply(state, data, entry) {
      const made = { ...item(entry, data.subject), commit: str(data.commit) }
      pushRecent(state.commits, made, 12, (known) => known.commit === made.commit)
    },
  },
  'test.ran': outdatesWrittenTldr((state, data, entry) => {
    const passed = data.passed === true
    const run = { ...item(entry, data.command), passed, ...fields(data, 'summary') }
    pushRecent(state.tests, run, 12)
  }),
  'output.kept': { outdatesTldr: false, apply: noEffect },
  'agent.finished': outdatesWrittenTldr((state, data, entry) => {
    const asked = nonEmptyString(data.task) ?? nonEmptyString(data.type) ?? 'agent'
    pushRecent(state.agents, { ...item(entry, asked), ...fields(data, 'result') }, 8, () => false)
  }),
}

export const kinds = (): Kinds<CapturedData, CapturedState> => {
  const usual = { group: 'code', writers: [], amendable: [], about: 'work' } as const
  const talk = { ...usual, group: 'requests', about: 'talk' } as const
  return {
    'request.made': { ...talk, label: 'request', prose: ['text'] },
    'turn.ended': { ...talk, prose: ['said', 'failure'], line: [] },
    'commit.made': { ...usual, label: 'commit', prose: ['commit', 'subject'], line: [] },
    'test.ran': { ...usual, prose: ['command', 'summary'] },
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

const MAX_REQUESTS = 12
const MAX_RULINGS = 40

// The first request gives the purpose, and a ruling holds until the next one.
function trimRequests(list: MutableList<UserRequest>) {
  const others = list.items.slice(1)
  const ordinary = others.filter((request) => !request.isRuling).length
  if (ordinary <= MAX_REQUESTS && others.length - ordinary <= MAX_RULINGS) return
  const isRuling = ordinary <= MAX_REQUESTS
  const dropped = others.find((request) => request.isRuling === isRuling)!
  list.items.splice(list.items.indexOf(dropped), 1)
  list.earlier += 1
}
