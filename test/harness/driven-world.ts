import { claudeHarness } from '../../src/harness/claude/drive.ts'
import type { Usage } from '../../src/session/entries.ts'
import type { Act, EndingAct, HarnessWorld } from '../contract/harness.ts'
import { carriersOf } from '../support/processes.ts'
import { ClaudeWorld } from './claude-world.ts'
import type { ClaudeVersion } from './install.ts'
import type { Reply } from './model-stub.ts'

/** Above the compaction point of every version, in the window that the world configures. */
const TOO_FULL = 195_000
const NEVER = new Promise<never>(() => undefined)

export interface DrivenWorld extends HarnessWorld {
  readonly claude: ClaudeWorld
}

/** The real Claude Code behind its driver, with a scripted model. Nothing leaves the machine. */
export async function drivenWorld(version: ClaudeVersion): Promise<DrivenWorld> {
  const claude = await ClaudeWorld.create(version, { setup: false })
  claude.env.STINT_CLAUDE = claude.program
  claude.env.CLAUDE_CODE_AUTO_COMPACT_WINDOW = '200000'
  if (version === '2.1.325') {
    // Claude Code reports usage limits for an account, not for an API key.
    delete claude.env.ANTHROPIC_API_KEY
    claude.env.CLAUDE_CODE_OAUTH_TOKEN = 'dummy'
  }
  return {
    claude,
    harness: claudeHarness,
    open: { cwd: claude.project, env: claude.env, permissions: 'all', allow: [] },
    missing: {
      harness: claudeHarness,
      env: { ...claude.env, STINT_CLAUDE: undefined, PATH: '/nowhere' },
    },
    script: (...turns) => claude.stub.script(...turns.flatMap((acts) => repliesTo(acts, claude))),
    seen: () => claude.stub.requests.map(({ text }) => text).join('\n'),
    spent: () => claude.stub.spent as Usage,
  }
}

/** The replies of the model in one turn. Only the last one has no tool use. */
function repliesTo(acts: readonly Act[], claude: ClaudeWorld): readonly Reply[] {
  const replies: Reply[] = []
  let next: Reply = {}
  const answer = (reply: Reply) => {
    replies.push({ ...next, ...reply })
    next = {}
  }
  let isOver = false
  for (const [index, act] of acts.entries()) {
    if ('tokens' in act) next = { ...next, ...usageOf(act.tokens) }
    else if ('say' in act) {
      next = { ...next, text: [next.text, act.say].filter((text) => text !== undefined).join('\n') }
      const rest = acts.slice(index + 1)
      if (rest.some((other) => !('compact' in other))) continue
      isOver = true
      answer(rest.length > 0 ? { ...usageOf(TOO_FULL), isFull: true } : {})
    } else if ('run' in act)
      answer({ tools: [{ name: 'Bash', input: { command: act.run, description: 'a command' } }] })
    else if ('write' in act)
      answer({
        tools: [{ name: 'Write', input: { file_path: claude.path(act.write), content: act.text } }],
      })
    else if (!('compact' in act)) {
      isOver = true
      answer(lastReply(act, claude))
    }
  }
  return isOver ? replies : [...replies, { ...next, text: next.text ?? 'ok' }]
}

function lastReply(act: EndingAct, claude: ClaudeWorld): Reply {
  if ('fail' in act)
    return {
      error: { status: 400, type: 'invalid_request_error', message: act.fail },
      isRepeated: true,
    }
  if ('hang' in act) return { after: NEVER, isRepeated: true }
  if ('die' in act) return { after: NEVER, isRepeated: true, before: () => killAgent(claude) }
  return { error: usedUpUntil(act.limit), isRepeated: true }
}

function usedUpUntil(resetsAt: string): NonNullable<Reply['error']> {
  return {
    status: 429,
    type: 'rate_limit_error',
    message: "This request would exceed your account's rate limit. Please try again later.",
    headers: {
      'anthropic-ratelimit-unified-status': 'rejected',
      'anthropic-ratelimit-unified-reset': String(Date.parse(resetsAt) / 1000),
      'anthropic-ratelimit-unified-representative-claim': 'five_hour',
      'x-should-retry': 'false',
    },
  }
}

function usageOf(tokens: number): Reply {
  return { inputTokens: 7, cacheWritten: 500, outputTokens: 33, cacheRead: tokens - 540 }
}

/**
 * kill -9 of the program in this world and of nothing else; the guardian does not have this
 * environment.
 */
function killAgent(claude: ClaudeWorld): void {
  for (const pid of carriersOf(`CLAUDE_CONFIG_DIR=${claude.env.CLAUDE_CONFIG_DIR}`))
    process.kill(pid, 'SIGKILL')
}
