// Hooks are run once for each event before anybody waits for them, in a project made for it, so that the code that V8
// compiles for them is there when they are.
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFolder, removeTree, replaceUnsynced } from '../../../journal/files.ts'
import { randomHex } from '../../../journal/random.ts'
import type { HookProgram } from './launcher.ts'

/** Where the compiled code is kept, under the state home. */
export function compiledFolder(stateHome: string): string {
  return join(stateHome, 'compiled')
}

/** Without it hooks only start a little slower, so that nothing here is an error. */
export function warmUpHooks({ node, hook }: HookProgram, stateHome: string): void {
  // Those of other versions would pile up; one that is still used is made again by its first hook.
  removeTree(compiledFolder(stateHome))
  const folder = join(tmpdir(), `stint-warm-up-${randomHex(6)}`)
  const cwd = join(folder, 'project')
  try {
    for (const part of ['.git/objects', '.git/refs/heads', 'src']) createFolder(join(cwd, part))
    replaceUnsynced(join(cwd, '.git', 'HEAD'), 'ref: refs/heads/warm-up\n')
    const transcript = join(folder, 'transcript.jsonl')
    replaceUnsynced(transcript, LINES.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      STINT_STATE_HOME: join(folder, 'state'),
      STINT_KEEP_COMPILED: compiledFolder(stateHome),
    }
    for (const event of EVENTS) {
      const input = JSON.stringify({
        session_id: 'warm-up',
        transcript_path: transcript,
        cwd,
        ...event(cwd),
      })
      for (const args of [[hook], [hook, 'hook', 'after']]) {
        spawnSync(node, args, {
          cwd,
          env,
          input,
          stdio: ['pipe', 'ignore', 'ignore'],
          timeout: 5000,
        })
      }
    }
  } finally {
    removeTree(folder)
  }
}

const tool = (name: string, input: object, response: object = {}) => ({
  hook_event_name: 'PostToolUse',
  tool_name: name,
  tool_input: input,
  tool_response: response,
  tool_use_id: `toolu_${name}`,
})

const prompt = (text: string) => ({ hook_event_name: 'UserPromptSubmit', prompt: text })

/** A beginning, which has to be served in full, and what comes after it, which has not. */
const EVENTS: readonly ((cwd: string) => object)[] = [
  (cwd) => tool('Edit', { file_path: join(cwd, 'src', 'a.ts') }),
  () => ({ hook_event_name: 'SessionStart', source: 'startup' }),
  (cwd) => tool('Write', { file_path: join(cwd, 'src', 'b.ts') }),
  () => ({ hook_event_name: 'Stop', last_assistant_message: 'Done.' }),
  () => ({ hook_event_name: 'SessionStart', source: 'startup' }),
  () =>
    prompt(
      'Move the handlers of the old server behind the new interface, and keep their tests as they are',
    ),
  () => prompt('continue'),
  () => tool('Bash', { command: 'ls -la' }, { stdout: 'a\n' }),
  () => ({
    hook_event_name: 'SubagentStop',
    agent_id: 'a',
    agent_type: 'reviewer',
    last_assistant_message: 'Fine.',
  }),
  () => ({ hook_event_name: 'Stop', last_assistant_message: 'Done.' }),
  () => ({ hook_event_name: 'SessionEnd', reason: 'other' }),
  () => ({ hook_event_name: 'PreCompact', trigger: 'auto' }),
  () => ({ hook_event_name: 'SessionStart', source: 'compact' }),
]

const LINES = [
  {
    type: 'user',
    uuid: '1',
    timestamp: '2026-01-01T00:00:00.000Z',
    message: { role: 'user', content: 'Move them' },
  },
  {
    type: 'assistant',
    uuid: '2',
    timestamp: '2026-01-01T00:00:01.000Z',
    message: {
      id: 'm1',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'Moved.' }],
      usage: {
        input_tokens: 10,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 10,
        output_tokens: 5,
      },
    },
  },
]
