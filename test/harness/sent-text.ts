// The tokens in the requests to a model: what Stint sent, and everything else.
import { PROTOCOL } from '../../src/run/agent-prompts/setup-text.ts'
import { realTokens } from '../context/vocabularies.ts'
import { textsIn } from './claude-agent.ts'
import { type MessagesBody, type SeenRequest, textOf } from './model-stub.ts'
import { taskIn } from './scripted-agent.ts'

export interface Sent {
  readonly conversations: number
  readonly requests: number
  /** The setup, counted once per conversation. */
  readonly setup: number
  /** The task prompts, without handoffs. */
  readonly tasks: number
  /** What a conversation got about the one before it. */
  readonly handoffs: number
  /** The first requests of conversations, including everything the harness adds. */
  readonly starts: number
  /** Everything in all requests: each request repeats the earlier messages. */
  readonly input: number
}

const PASSED_ON = '\n\nWhat the conversation before this one left'

export function sentIn(turns: readonly SeenRequest[]): Sent {
  const starts = turns.filter(({ body }) => isStart(body))
  // The last request of a conversation holds everything it was sent.
  const ends = turns.filter(
    (_, index) => turns[index + 1] === undefined || isStart(turns[index + 1]!.body),
  )
  const prompts = ends.flatMap(({ body }) => promptsIn(body)).map((text) => text.split(PASSED_ON))
  return {
    conversations: starts.length,
    requests: turns.length,
    setup: sum(starts.map(({ body }) => tokens(setupIn(body)))),
    tasks: sum(prompts.map(([task]) => tokens(task!))),
    handoffs: sum(
      prompts.map(([, handoff]) => (handoff === undefined ? 0 : tokens(PASSED_ON + handoff))),
    ),
    starts: sum(starts.map(({ body }) => inputOf(body))),
    input: sum(turns.map(({ body }) => inputOf(body))),
  }
}

/** Before the first reply. */
function isStart({ messages }: MessagesBody): boolean {
  return messages.every(({ role }) => role !== 'assistant')
}

/** The setup as it was sent, at the end of the system prompt. */
function setupIn({ system }: MessagesBody): string {
  const text = textOf(system)
  if (text.split(PROTOCOL).length !== 2)
    throw new Error('a request has not the set-up, or has it twice')
  return text.slice(text.indexOf(PROTOCOL))
}

function promptsIn({ messages }: MessagesBody): readonly string[] {
  return messages.flatMap(({ role, content }) =>
    role === 'user' ? textsIn(content).filter((text) => taskIn(text) !== undefined) : [],
  )
}

function inputOf({ system, tools = [], messages }: MessagesBody): number {
  const pieces = [
    ...tools.map((tool) => JSON.stringify(tool)),
    ...[system, ...messages.map(({ content }) => content)].map(textOf),
  ]
  return sum(pieces.map(tokens))
}

/** The same blocks occur in request after request. */
const counted = new Map<string, number>()

function tokens(text: string): number {
  const known = counted.get(text) ?? realTokens(text)
  counted.set(text, known)
  return known
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
