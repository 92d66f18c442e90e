import { acpHarness } from '../../src/harness/acp/drive.ts'
import type { Usage } from '../../src/session/entries.ts'
import type { Act, EndingAct, HarnessWorld } from '../contract/harness.ts'
import { carriersOf } from '../support/processes.ts'
import { ClaudeWorld } from './claude-world.ts'
import { claudeAcpProgram } from './install-acp.ts'
import type { Reply } from './model-stub.ts'

/** Above the compaction point in a window of a million tokens. */
const TOO_FULL = 985_000
const NEVER = new Promise<never>(() => undefined)

/** A real ACP agent with a scripted model. Nothing leaves the machine. */
export async function acpWorld(): Promise<HarnessWorld> {
  const claude = await ClaudeWorld.create('2.1.325', { setup: false })
  Object.assign(claude.env, {
    CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: '1',
    CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: 'false',
    CLAUDE_CODE_MAX_RETRIES: '0',
  })
  const replies: Reply[] = []
  return {
    harness: acpHarness({ name: 'claude-acp', command: claudeAcpProgram, args: [] }),
    open: { cwd: claude.project, env: claude.env, permissions: 'all', allow: [] },
    missing: {
      harness: acpHarness({ name: 'nobody', command: 'no-such-agent', args: [] }),
      env: claude.env,
    },
    script: (...turns) => {
      replies.push(...turns.flatMap((acts) => repliesTo(acts, claude)))
      claude.stub.script(...replies)
    },
    seen: () => claude.stub.requests.map(({ text }) => text).join('\n'),
    spent: () => replies.reduce(plus, { input: 0, cacheWritten: 0, cacheRead: 0, output: 0 }),
  }
}

/** The replies of the model in one turn. Only the last one has no tool use. */
function repliesTo(acts: readonly Act[], claude: ClaudeWorld): readonly Reply[] {
  const replies: Reply[] = []
  let next: Reply = {}
  const answer = (reply: Reply) => {
    replies.push({ ...claim(100), ...next, ...reply })
    next = {}
  }
  for (const act of acts) {
    if ('say' in act)
      next = { ...next, text: [next.text, act.say].filter((text) => text !== undefined).join('\n') }
    else if ('tokens' in act) next = { ...next, ...claim(act.tokens) }
    else if ('compact' in act) next = { ...next, ...claim(TOO_FULL) }
    else if ('run' in act)
      answer({ tools: [{ name: 'Bash', input: { command: act.run, description: 'a command' } }] })
    else if ('write' in act)
      answer({
        tools: [{ name: 'Write', input: { file_path: claude.path(act.write), content: act.text } }],
      })
    else return [...replies, lastReply(act, claude)]
  }
  answer({})
  return replies
}

function lastReply(act: EndingAct, claude: ClaudeWorld): Reply {
  if ('fail' in act) return { error: { status: 500, type: 'api_error', message: act.fail } }
  if ('limit' in act)
    return {
      error: {
        status: 429,
        type: 'rate_limit_error',
        message: `This account's usage limit resets at ${act.limit}`,
      },
    }
  if ('hang' in act) return { after: NEVER }
  return {
    /** Called when the request arrives. */
    get after() {
      // The guardian does not have this environment.
      for (const pid of carriersOf(`CLAUDE_CONFIG_DIR=${claude.env.CLAUDE_CONFIG_DIR}`))
        process.kill(pid, 'SIGKILL')
      return NEVER
    },
  }
}

/** Usage that adds up to this many tokens in the context. */
function claim(tokens: number): Reply {
  return { inputTokens: 7, cacheWritten: 13, outputTokens: 33, cacheRead: tokens - 53 }
}

function plus(
  sum: Usage,
  { inputTokens = 0, cacheWritten = 0, cacheRead = 0, outputTokens = 0 }: Reply,
): Usage {
  return {
    input: sum.input + inputTokens,
    cacheWritten: sum.cacheWritten + cacheWritten,
    cacheRead: sum.cacheRead + cacheRead,
    output: sum.output + outputTokens,
  }
}
