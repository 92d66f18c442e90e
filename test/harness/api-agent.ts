// A scripted agent in place of a bare model, for either API.
import { textsIn } from './claude-agent.ts'
import type { MessagesBody, ModelStub, Reply } from './model-stub.ts'
import { type Asked, type ScriptedAgent, type Step, taskIn } from './scripted-agent.ts'

const NEVER = new Promise<never>(() => undefined)

export function answerAsModel(stub: ModelStub, agent: ScriptedAgent): void {
  stub.answerBy(({ body }) => replyTo(agent.next(askedIn(body))))
}

function replyTo(step: Step): Reply {
  if ('hang' in step) return { after: NEVER }
  const used =
    'tokens' in step && step.tokens !== undefined
      ? { inputTokens: step.tokens - 20, outputTokens: 20 }
      : {}
  if ('say' in step) return { ...used, text: step.say }
  if ('write' in step)
    return { tools: [{ name: 'write', input: { path: step.write, content: step.text } }] }
  if ('read' in step) return { tools: [{ name: 'read', input: { path: step.read } }] }
  return { ...used, tools: [{ name: 'shell', input: { command: step.run } }] }
}

/** The newest prompt with a task. Consecutive texts to the model are one message. */
function askedIn({ messages }: MessagesBody): Asked | undefined {
  for (const [index, { role, content }] of [...messages.entries()].toReversed()) {
    const texts =
      role === 'user' ? textsIn(content).flatMap((text) => text.split(/\n(?=# Task )/)) : []
    const prompt = texts.findLast((text) => taskIn(text) !== undefined)
    if (prompt === undefined) continue
    const results = messages.slice(index + 1).flatMap((later) => resultsIn(later))
    return { task: taskIn(prompt)!, prompt, results: results.length }
  }
  return undefined
}

function resultsIn({ role, content }: MessagesBody['messages'][number]): readonly unknown[] {
  if (role === 'tool') return [content]
  return Array.isArray(content)
    ? content.filter((block: { type?: unknown }) => block.type === 'tool_result')
    : []
}
