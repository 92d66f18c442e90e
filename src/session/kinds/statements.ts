// What the user and the agent said, and the statements in it that must survive the context window.
import { oneLine, shorten } from '../../text/clean.ts'
import { defined } from '../../text/defined.ts'
import { confirmStatements } from '../statements/confirm-statements.ts'
import { mergeStatements } from '../statements/merge-statements.ts'
import type { Speaker, SpokenStatement, Statement } from '../statements/statement.ts'
import { requestsIn } from '../statements/requests-in.ts'
import {
  answerStatement,
  statementsFromAgent,
  statementsFromUser,
} from '../statements/statements.ts'
import {
  type Item,
  type ItemList,
  KEEP_ALL,
  type ListRules,
  type MutableList,
} from './item-list.ts'
import { type Folds, type Kinds, type MutableState, outdatesWrittenTldr } from './kind.ts'
import { type Usage, fields, item, str, usageOf } from './read-fields.ts'

export interface StatementsData {
  /** `text` is the whole prompt. */
  'request.made': { text: string; conversation: string }
  'question.answered': { question: string; answer: string; conversation: string }
  /** Only the statements of the agent's messages: the conversation is stored elsewhere. */
  'message.captured': { statements: readonly Statement[]; conversation: string }
  'turn.ended': {
    conversation: string
    said?: string
    failure?: string
    model?: string
    usage?: Usage
  }
}

export type CapturedStatement = Item & SpokenStatement

/** `text` is the prompt, shortened; `asked` is what it asks for. */
export interface UserRequest extends Item {
  readonly asked: string
}

export interface StatementsState {
  /** The first one and the latest. */
  readonly requests: ItemList<UserRequest>
  /** Those that no later one corrected. */
  readonly statements: ItemList<CapturedStatement>
  readonly lastTurn?: Readonly<StatementsData['turn.ended'] & { at: string }>
}

export const listRules: ListRules<StatementsState> = {
  requests: KEEP_ALL,
  statements: KEEP_ALL,
}

export const fold: Folds<StatementsData, StatementsState> = {
  'request.made': outdatesWrittenTldr((state, data, entry) => {
    const text = str(data.text)
    const statements = statementsFromUser(text)
    pushRequest(state.requests, {
      ...item(entry, shorten(text, MAX_REQUEST_LENGTH)),
      asked: shorten(askedIn(text, statements), MAX_ASKED_LENGTH),
    })
    confirmBy(state, [text])
    addStatements(state, entry, 'user', wholeIfShort(text, statements))
  }),
  'question.answered': outdatesWrittenTldr((state, data, entry) => {
    const { question, answer } = { question: str(data.question), answer: str(data.answer) }
    if (answer !== '') addStatements(state, entry, 'user', [answerStatement(question, answer)])
  }),
  'message.captured': {
    outdatesTldr: false,
    apply(state, data, entry) {
      addStatements(state, entry, 'agent', readStatements(data.statements))
    },
  },
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
      addStatements(state, entry, 'agent', statementsFromAgent(str(data.said)))
    },
  },
}

export const kinds = (): Kinds<StatementsData, StatementsState> => {
  const talk = { group: 'requests', writers: [], amendable: [], about: 'talk' } as const
  return {
    'request.made': { ...talk, label: 'request', prose: ['text'] },
    'question.answered': {
      ...talk,
      label: 'answer',
      prose: ['question', 'answer'],
      line: ({ question, answer }) => `${str(question)} ${str(answer)}`,
    },
    'message.captured': {
      ...talk,
      label: 'statements of the agent',
      prose: [],
      line: ({ statements }) =>
        readStatements(statements)
          .map(({ text }) => text)
          .join(' '),
    },
    'turn.ended': { ...talk, prose: ['said', 'failure'], line: [] },
  }
}

const MAX_REQUESTS = 40
const MAX_REQUEST_LENGTH = 600
const MAX_ASKED_LENGTH = 240

// The first request gives the purpose.
function pushRequest(list: MutableList<UserRequest>, added: UserRequest): void {
  list.items.push(added)
  if (list.items.length <= MAX_REQUESTS + 1) return
  list.items.splice(1, 1)
  list.earlier += 1
}

/** A short prompt that states and asks, and nothing else, is kept whole. */
const MAX_WHOLE_LENGTH = 140
/** Of characters that are neither, such as "ok, ". */
const MAX_FILLER = 12

function wholeIfShort(text: string, statements: readonly Statement[]): readonly Statement[] {
  const best = statements.toSorted((a, b) => b.value - a.value)[0]
  if (best === undefined || text.length > MAX_WHOLE_LENGTH) return statements
  const rest = withoutStatements(text, statements)
  if (oneLine(requestsIn(rest).join(' ')).length < rest.length - MAX_FILLER) return statements
  return [{ ...best, text: oneLine(text) }]
}

/** What a prompt asks for, without what it states: that may be corrected later. */
export function askedIn(text: string, statements = statementsFromUser(text)): string {
  const rest = withoutStatements(text, statements)
  const asked = requestsIn(rest).join(' ')
  return asked === '' && statements.length === 0 ? rest : asked
}

/** Also without those that a later one corrects. */
export function withoutStatements(
  text: string,
  statements: readonly { readonly text: string }[],
): string {
  let rest = oneLine(text)
  for (const statement of statements) rest = rest.replace(oneLine(statement.text), ' ')
  return oneLine(rest)
}

function addStatements(
  state: MutableState<StatementsState>,
  entry: { readonly id: string; readonly at: string },
  speaker: Speaker,
  statements: readonly Statement[],
): void {
  if (statements.length === 0) return
  const { id, at } = entry
  const next = statements.map((statement) => ({ ...statement, id, at, speaker }))
  state.statements.items = [...mergeStatements(state.statements.items, next)]
}

/** Marks what the agent said as confirmed where commits, tests or the user support it. */
export function confirmBy(
  state: Pick<MutableState<StatementsState>, 'statements'>,
  evidence: readonly string[],
): void {
  if (state.statements.items.length === 0) return
  state.statements.items = [...confirmStatements(state.statements.items, evidence)]
}

const STATEMENT_KINDS = ['rule', 'decision', 'fact', 'finding', 'next'] as const

function readStatements(value: unknown): readonly Statement[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((each) => {
    const { text, kind, value: worth } = (each ?? {}) as Record<string, unknown>
    const known = STATEMENT_KINDS.find((name) => name === kind)
    if (typeof text !== 'string' || text === '' || known === undefined) return []
    return [{ text, kind: known, value: typeof worth === 'number' ? worth : 0 }]
  })
}
