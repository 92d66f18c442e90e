import { execFile } from 'node:child_process'
import type { Conversation, Harness, HarnessCheck, OpenConversation } from '../contract/drive.ts'
import { spawnGuarded } from '../process/spawn-guarded.ts'
import { oneLine } from '../../text/clean.ts'
import { argumentsFor, environmentFor } from './drive/arguments.ts'
import { ClaudeConversation } from './drive/conversation.ts'

export const claudeHarness: Harness = {
  name: 'claude',
  capabilities: {
    multiTurn: true,
    usage: 'request',
    compactionEvents: true,
    resume: true,
    systemPrompt: true,
    permissions: ['ask', 'edits', 'all'],
    instructions: ['CLAUDE.md'],
  },
  check,
  open,
}

const HINT =
  'install it with `npm install -g @anthropic-ai/claude-code`, or name the program in STINT_CLAUDE'
const CHECK_MS = 20_000

function programIn(env: NodeJS.ProcessEnv): string {
  return env['STINT_CLAUDE'] || 'claude'
}

function check(env: NodeJS.ProcessEnv): Promise<HarnessCheck> {
  const program = programIn(env)
  return new Promise((resolve) => {
    execFile(
      program,
      ['--version'],
      { env, timeout: CHECK_MS, encoding: 'utf8' },
      (error, stdout, stderr) => {
        const version = /\d+\.\d+\.\d+\S*/.exec(stdout)?.[0]
        if (error === null && version !== undefined) return resolve({ isThere: true, version })
        const isMissing = error?.code === 'ENOENT'
        const said = oneLine(stderr || stdout || error?.message || 'it says no version')
        resolve({
          isThere: false,
          problem: isMissing
            ? `there is no program ${program}`
            : `${program} --version fails: ${said}`,
          hint: HINT,
        })
      },
    )
  })
}

async function open(options: OpenConversation): Promise<Conversation> {
  const env = environmentFor(options)
  const { cwd, wrap } = options
  const program = spawnGuarded(programIn(env), argumentsFor(options), { cwd, env, wrap })
  return new ClaudeConversation(program, options)
}
