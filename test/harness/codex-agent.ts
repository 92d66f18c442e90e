// A scripted agent in place of the model behind Codex.
import { patch } from './codex-world.ts'
import { textOf } from './model-stub.ts'
import type { ResponsesBody, ResponsesReply, ResponsesStub } from './responses-stub.ts'
import { type Asked, type ScriptedAgent, type Step, taskIn } from './scripted-agent.ts'

const NEVER = new Promise<never>(() => undefined)
const COMPACTED = 'The conversation was compacted in the middle of this task.'
/** About how many characters of a request make a token. */
const PER_TOKEN = 4

/** From now on this agent is the model. The usage it reports is about the size of the request. */
export function answerCodexAs(stub: ResponsesStub, agent: ScriptedAgent): void {
  // Prompts survive a compaction, tool results do not: only the summary shows how far the work is.
  stub.summarise(COMPACTED)
  stub.answerBy((body) =>
    replyTo(agent.next(askedIn(body)), Math.ceil(JSON.stringify(body).length / PER_TOKEN)),
  )
}

function replyTo(step: Step, size: number): ResponsesReply {
  if ('hang' in step) return { after: NEVER }
  const tokens = ('tokens' in step ? step.tokens : undefined) ?? size
  const used = { inputTokens: tokens - 20, cachedTokens: Math.floor(tokens / 2), outputTokens: 20 }
  if ('say' in step) return { ...used, text: step.say }
  const cmd =
    'write' in step ? patch(step.write, step.text) : 'read' in step ? `cat ${step.read}` : step.run
  const after = 'after' in step ? { after: step.after } : {}
  return { ...used, tools: [{ name: 'exec_command', input: { cmd } }], ...after }
}

/** The newest prompt with a task, and everything after it. */
function askedIn({ input }: ResponsesBody): Asked | undefined {
  const texts = input.map(({ role, content }) => (role === 'user' ? textOf(content) : ''))
  const at = texts.findLastIndex((text) => taskIn(text) !== undefined)
  if (at === -1) return undefined
  const results = input.slice(at + 1).filter(({ output }) => output !== undefined)
  return { task: taskIn(texts[at]!)!, prompt: texts.slice(at).join('\n'), results: results.length }
}
