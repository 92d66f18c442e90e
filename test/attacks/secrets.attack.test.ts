// 150 realistic secrets, written without sight of the patterns, sent along every path that writes to disk. No file and no file name of
// Stint may hold more than one in twenty of them.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { recordHookError } from '../../src/hook/hook-context.ts'
import { mintId } from '../../src/journal/ids.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import { RunLog } from '../../src/run/run-log.ts'
import { oneLine, slug } from '../../src/text/clean.ts'
import { program, terminal } from '../support/cli.ts'
import corpus from '../text/corpus/secrets.json' with { type: 'json' }

type World = ReturnType<typeof terminal>

const CONVERSATION = 'cccccccc-0000-4000-8000-000000000001'

/** Words between the secrets, so that none becomes part of the next. */
const joined = (secrets: typeof corpus) =>
  secrets.map(({ text }) => `Next one:\n${text}\n`).join('\n')

const PATHS: readonly (readonly [what: string, write: (world: World) => unknown])[] = [
  ['a journal entry', (world) => each((text) => world.stint('log', '--progress', text))],
  [
    'a decision with its reason',
    (world) => each((text) => world.stint('log', '--decision', 'Use it', '--rationale', text)),
  ],
  [
    'a task, its file and its name',
    (world) => each((text) => world.stint('task', 'add', `Use ${oneLine(text)}`)),
  ],
  [
    'the name and goal of a session',
    (world) =>
      each((text) => world.stint('init', '--name', oneLine(text), '--goal', text, '--force')),
  ],
  [
    'the note of a checkpoint',
    (world) => inBatches((text) => world.stint('checkpoint', '--note', text)),
  ],
  ['a handoff', (world) => inBatches((text) => world.stint('handoff', 'create', '--reason', text))],
  ['a captured prompt', (world) => each((prompt) => hook(world, 'UserPromptSubmit', { prompt }))],
  [
    'the captured result of a tool',
    (world) =>
      each((text, at) =>
        hook(world, 'PostToolUse', {
          tool_name: 'Task',
          tool_use_id: `toolu_${at}`,
          tool_input: { description: 'Look around', prompt: 'Look', subagent_type: 'general' },
          tool_response: {
            status: 'completed',
            agentId: `agent-${at}`,
            content: [{ type: 'text', text }],
          },
        }),
      ),
  ],
  [
    'the captured last message of a turn',
    (world) => each((text) => hook(world, 'Stop', { last_assistant_message: text })),
  ],
  ['a stored conversation', storeConversation],
  [
    'the artifact of a digest',
    (world) => {
      const input = join(world.folder, 'input.txt')
      writeFileSync(input, joined(corpus))
      spawnSync(process.execPath, [program, 'digest', '--', 'cat', input], {
        cwd: world.cwd,
        env: world.env,
      })
    },
  ],
  ['a run log', writeRunLog],
  [
    'a hook error',
    (world) =>
      // In folders of their own, since only the last ones are kept.
      each((text, at) => {
        const folder = join(world.cwd, '.sessions', 'errors', String(at))
        recordHookError(folder, { name: 'Stop', conversation: 'c' }, new Error(text))
      }),
  ],
]

describe('of 150 secrets written without sight of the patterns, at least 95 % are kept out of', () => {
  test.each(PATHS)('%s', async (_, write) => {
    const world = terminal()
    await world.stint('init', '--name', 'keeper', '--goal', 'Keep secrets out')
    await write(world)
    const files = written(world)
    const text = [...files.values()].join('\n')
    // They were written, without the secrets.
    expect(text.match(/redacted[:-]/g)?.length).toBeGreaterThan(100)
    const kept = corpus.filter(({ secret }) =>
      [secret, JSON.stringify(secret).slice(1, -1)].some((form) => text.includes(form)),
    )
    const names = [...files.keys()].join('\n')
    const named = corpus.filter(({ secret }) => names.includes(slug(secret, Infinity).slice(0, 20)))
    const leaked = new Set([...kept, ...named].map(({ name }) => name))
    expect(leaked.size / corpus.length, [...leaked].join(', ')).toBeLessThanOrEqual(0.05)
  })
})

async function each(write: (text: string, at: number) => unknown) {
  for (const [at, { text }] of corpus.entries()) await write(text, at)
}

/** Several texts in one command, where a command takes long. */
async function inBatches(write: (text: string) => unknown) {
  for (let at = 0; at < corpus.length; at += 5) await write(joined(corpus.slice(at, at + 5)))
}

function hook({ cwd, env }: World, event: string, more: Readonly<Record<string, unknown>>) {
  const input = JSON.stringify({
    session_id: CONVERSATION,
    transcript_path: join(cwd, '..', 'none.jsonl'),
    cwd,
    hook_event_name: event,
    ...more,
  })
  spawnSync(process.execPath, [join(dirname(program), 'hook.cjs'), 'hook'], { cwd, env, input })
}

async function storeConversation({ cwd, env, folder }: World) {
  const config = join(folder, 'claude')
  const file = join(
    config,
    'projects',
    cwd.replaceAll(/[^A-Za-z0-9]/g, '-'),
    `${CONVERSATION}.jsonl`,
  )
  mkdirSync(dirname(file), { recursive: true })
  const lines = corpus.map(({ text }, at) =>
    JSON.stringify({
      type: at % 2 === 0 ? 'user' : 'assistant',
      uuid: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
      sessionId: CONVERSATION,
      cwd,
      timestamp: '2026-03-05T10:00:00.000Z',
      message: { role: at % 2 === 0 ? 'user' : 'assistant', content: [{ type: 'text', text }] },
    }),
  )
  writeFileSync(file, `${lines.join('\n')}\n`)
  spawnSync(process.execPath, [program, 'import'], {
    cwd,
    env: { ...env, CLAUDE_CONFIG_DIR: config },
  })
}

function writeRunLog({ cwd }: World) {
  const workspace = new Workspace(cwd)
  try {
    const log = RunLog.create(workspace.paths, mintId(undefined), workspace.config, {
      cwd,
      pid: 1,
      options: {},
    } as never)
    for (const { text } of corpus)
      log.append('task.parked', { task: { id: 'a', name: text }, reason: text } as never)
    log.close()
  } finally {
    workspace.close()
  }
}

/** Every file that Stint wrote, by its path below the project and the state home. */
function written({ cwd, env }: World): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (const folder of [
    join(cwd, '.sessions'),
    join(cwd, '.tasks'),
    join(cwd, '.git', 'stint'),
    env.STINT_STATE_HOME!,
  ]) {
    if (statSync(folder, { throwIfNoEntry: false }) === undefined) continue
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const path = join(folder, name)
      files.set(name, statSync(path).isFile() ? readFileSync(path, 'utf8') : '')
    }
  }
  return files
}
