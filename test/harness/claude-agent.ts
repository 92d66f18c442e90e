// A scripted agent in place of the model behind Claude Code.
import type { MessagesBody, ModelStub, Reply } from './model-stub.ts'
import { type Asked, type ScriptedAgent, type Step, taskIn } from './scripted-agent.ts'

const NEVER = new Promise<never>(() => undefined)
/** About how many characters of a request make a token. */
const PER_TOKEN = 4

/** From now on this agent is the model. The usage it reports is about the size of the request. */
export function answerAs(stub: ModelStub, agent: ScriptedAgent): void {
  stub.answerBy(({ body, text }) =>
    replyTo(agent.next(askedIn(body)), Math.ceil(text.length / PER_TOKEN)),
  )
}

function replyTo(step: Step, size: number): Reply {
  if ('hang' in step) return { after: NEVER }
  const tokens = ('tokens' in step ? step.tokens : undefined) ?? size
  const used = {
    inputTokens: 7,
    cacheWritten: 500,
    cacheRead: Math.max(0, tokens - 507),
    outputTokens: 20,
  }
  if ('say' in step) return { ...used, text: step.say }
  if ('write' in step)
    return {
      ...used,
      tools: [{ name: 'Write', input: { file_path: step.write, content: step.text } }],
    }
  if ('read' in step) return { ...used, tools: [{ name: 'Read', input: { file_path: step.read } }] }
  const { after, run } = step
  const tools = [{ name: 'Bash', input: { command: run, description: 'a command' } }]
  return { ...used, tools, ...(after === undefined ? {} : { after }) }
}

/** The newest prompt with a task. */
function askedIn({ messages }: MessagesBody): Asked | undefined {
  for (const [index, { role, content }] of [...messages.entries()].toReversed()) {
    const prompt =
      role === 'user' ? textsIn(content).findLast((text) => taskIn(text) !== undefined) : undefined
    if (prompt === undefined) continue
    const results = messages
      .slice(index + 1)
      .flatMap((later) => blocksIn(later.content).filter(({ type }) => type === 'tool_result'))
    return { task: taskIn(prompt)!, prompt, results: results.length }
  }
  return undefined
}

interface Block {
  readonly type: string
  readonly text?: string
}

function blocksIn(content: unknown): readonly Block[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? (content as readonly Block[]) : []
}

export function textsIn(content: unknown): readonly string[] {
  return blocksIn(content).flatMap(({ type, text }) =>
    type === 'text' && text !== undefined ? [text] : [],
  )
}
