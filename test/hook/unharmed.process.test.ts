import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { HOOK_COMMAND } from '../../src/harness/setup/hook-command.ts'
import { program } from '../support/cli.ts'
import { project } from './agent.ts'

const hook = join(dirname(program), 'hook.cjs')

const EVENTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  SessionStart: { source: 'startup' },
  UserPromptSubmit: { prompt: 'continue' },
  PreCompact: { trigger: 'auto' },
  PostToolUse: { tool_name: 'Edit', tool_input: { file_path: '/tmp/x.ts' }, tool_response: {} },
  Stop: { last_assistant_message: 'done' },
  SubagentStop: { agent_id: 'a', agent_type: 'reviewer', last_assistant_message: 'done' },
  SessionEnd: { reason: 'other' },
  Notification: { message: 'waiting' },
}

function runHook(
  world: ReturnType<typeof project>,
  input: string | Buffer,
  env: NodeJS.ProcessEnv = {},
) {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [hook], {
    cwd: existsSync(world.cwd) ? world.cwd : '/',
    env: { ...world.env, ...env },
    input,
    encoding: 'utf8',
  })
  return { status, signal, stdout, stderr }
}

const SILENT = { status: 0, signal: null, stdout: '', stderr: '' }

function eventInput(
  cwd: string,
  name: string,
  fields: Readonly<Record<string, unknown>> = {},
): string {
  return JSON.stringify({
    session_id: 'c-1',
    cwd,
    hook_event_name: name,
    ...EVENTS[name],
    ...fields,
  })
}

describe('the hook program exits silently with success', () => {
  test.each([
    ['an empty input', ''],
    ['an input that is not JSON', 'hello'],
    ['a truncated event', '{"session_id":"c-1","cwd":"/tmp"'],
    ['a list', '[1,2,3]'],
    ['null', 'null'],
    ['binary', Buffer.from([0xff, 0xfe, 0, 1, 2, 3])],
    [
      'an unknown event',
      JSON.stringify({ session_id: 'c-1', cwd: '/', hook_event_name: 'NeverHeardOf' }),
    ],
    ['no conversation', JSON.stringify({ cwd: '/', hook_event_name: 'Stop' })],
    [
      'an empty conversation',
      JSON.stringify({ session_id: '', cwd: '/', hook_event_name: 'Stop' }),
    ],
    [
      'a conversation that is a path',
      JSON.stringify({ session_id: '../../etc/passwd', cwd: '/', hook_event_name: 'Stop' }),
    ],
    [
      'a missing folder',
      JSON.stringify({
        session_id: 'c-1',
        cwd: '/nowhere/at/all',
        hook_event_name: 'SessionStart',
      }),
    ],
    [
      'an event with a prototype',
      '{"__proto__":{"a":1},"session_id":"c-1","cwd":"/","hook_event_name":"constructor"}',
    ],
  ])('for %s', (_what, input) => {
    expect(runHook(project(), input)).toEqual(SILENT)
  })

  test.each(Object.keys(EVENTS))('at %s outside any project, and writes nothing there', (name) => {
    const world = project({ git: false })
    expect(runHook(world, eventInput(world.cwd, name))).toEqual(SILENT)
    expect(existsSync(world.path('.sessions'))).toBe(false)
  })

  test.each(Object.keys(EVENTS))('at %s without a session', (name) => {
    const world = project()
    expect(runHook(world, eventInput(world.cwd, name))).toEqual(SILENT)
    expect(existsSync(world.path('.sessions'))).toBe(false)
  })

  test('when its input never ends, through the registered command', async () => {
    const world = project()
    const found = join(world.folder, 'bin')
    mkdirSync(found)
    writeFileSync(join(found, 'stint'), `#!/bin/sh\n"${process.execPath}" "${hook}"\n`, {
      mode: 0o755,
    })
    const env = { ...world.env, PATH: `${found}:${process.env.PATH}` }
    const child = spawn('/bin/sh', ['-c', HOOK_COMMAND], { cwd: world.cwd, env })
    child.stdin.write('{"session_id":')
    const code = await new Promise((resolve) => child.once('exit', resolve))
    expect(code).toBe(0)
  })

  test('when it is turned off', async () => {
    const world = project()
    await world.stint('init', '--name', 'there')
    expect(runHook(world, eventInput(world.cwd, 'SessionStart'), { STINT_HOOKS: 'off' })).toEqual(
      SILENT,
    )
  })

  test('in a run, where the runner records everything itself', async () => {
    const world = project()
    await world.stint('init', '--name', 'there')
    const before = world.entries()
    for (const name of Object.keys(EVENTS)) {
      expect(
        runHook(world, eventInput(world.cwd, name), {
          STINT_RUN: '0190a000-0000-7000-8000-000000000001',
        }),
      ).toEqual(SILENT)
    }
    await world.stint('view')
    expect(world.entries()).toEqual(before)
    expect(existsSync(world.notes)).toBe(false)
    expect(
      runHook(world, eventInput(world.cwd, 'SessionStart'), { STINT_RUN: '' }).stdout,
    ).toContain('there')
  })
})

/** Transcripts that must neither block nor fail a hook. */
const TRANSCRIPTS: Readonly<Record<string, (path: string) => void>> = {
  missing: () => undefined,
  'a folder': (path) => mkdirSync(path),
  'a pipe without a writer': (path) => execFileSync('mkfifo', [path]),
  'a device that never ends': (path) => symlinkSync('/dev/zero', path),
  'a link to itself': (path) => symlinkSync(path, path),
  empty: (path) => writeFileSync(path, ''),
  binary: (path) => writeFileSync(path, Buffer.alloc(3_000_000, 0xfe)),
  'one endless line': (path) =>
    writeFileSync(path, `{"type":"user","message":{"content":"${'x'.repeat(4_000_000)}`),
  'full of zeroes': (path) => {
    writeFileSync(path, '')
    truncateSync(path, 100_000_000)
  },
}

describe('a transcript', () => {
  test.each(Object.keys(TRANSCRIPTS))('that is %s does not disturb any hook', async (kind) => {
    const world = project()
    await world.stint('init', '--name', 'there', '--goal', 'Be there')
    const transcript = join(world.folder, 'transcript.jsonl')
    TRANSCRIPTS[kind]!(transcript)
    for (const name of Object.keys(EVENTS)) {
      const { status, stderr } = runHook(
        world,
        eventInput(world.cwd, name, { transcript_path: transcript }),
      )
      expect({ name, status, stderr }).toEqual({ name, status: 0, stderr: '' })
    }
    expect(world.ofKind('turn.ended')).toHaveLength(1)
    expect(world.hookErrors()).toBe('')
  })
})

describe('a session with missing or broken files', () => {
  const breakages: Readonly<Record<string, (world: ReturnType<typeof project>) => void>> = {
    'without its folder': (world) => rmSync(world.path('.sessions'), { recursive: true }),
    'without any file': (world) => {
      rmSync(world.path('.sessions'), { recursive: true })
      rmSync(world.path('.git', 'stint'), { recursive: true })
    },
    'with a folder as its log': (world) => {
      const log = world.path('.sessions', 'journal', world.sessions()[0]!, 'log.jsonl')
      rmSync(log)
      mkdirSync(log)
    },
    'with a broken snapshot': (world) =>
      writeFileSync(
        world.path('.sessions', 'journal', world.sessions()[0]!, 'snapshot.json'),
        '{"half',
      ),
    'with a broken configuration': (world) =>
      writeFileSync(world.path('.sessions', 'config.yaml'), 'redact: [unclosed'),
    'without the conversation state': (world) => {
      rmSync(world.path('.git', 'stint', 'conversations'), { recursive: true, force: true })
      writeFileSync(world.path('.git', 'stint', 'conversations'), 'no folder')
    },
  }
  test.each(Object.keys(breakages))('does not make any hook fail: %s', async (what) => {
    const world = project()
    await world.stint('init', '--name', 'there', '--goal', 'Be there')
    runHook(world, eventInput(world.cwd, 'SessionStart'))
    breakages[what]!(world)
    for (const name of Object.keys(EVENTS)) {
      const { status, stderr } = runHook(world, eventInput(world.cwd, name))
      expect({ name, status, stderr }).toEqual({ name, status: 0, stderr: '' })
    }
  })

  test('is not recorded with an invalid configuration, which may be about secrets, and doctor says why', async () => {
    const world = project()
    await world.stint('init', '--name', 'there')
    const before = world.entries().length
    writeFileSync(
      world.path('.sessions', 'config.yaml'),
      'redact:\n  pattern: typo\n  patterns: ["("]\n',
    )
    runHook(
      world,
      eventInput(world.cwd, 'UserPromptSubmit', {
        prompt: 'the password is hunter2 in this project',
      }),
    )
    expect(world.entries()).toHaveLength(before)
    expect(runHook(world, eventInput(world.cwd, 'SessionStart')).stdout).toContain(
      'Stint records nothing here',
    )
    rmSync(world.path('.sessions', 'config.yaml'))
    expect((await world.stint('doctor')).stdout).toContain('config.yaml')
  })

  test('is found again by a hook after git clean', async () => {
    const world = project()
    await world.stint('init', '--name', 'there', '--goal', 'Be there')
    world.git('clean', '-fdxq')
    expect(existsSync(world.path('.sessions'))).toBe(false)
    expect(runHook(world, eventInput(world.cwd, 'SessionStart')).stdout).toContain('Be there')
  })
})

/** Node modules that are too slow to load for a hook. */
const SLOW = /^(?:child_process|crypto|zlib|perf_hooks|net|https?|sqlite|stream|readline)$/
/** Loaded only after a config change or in the background. */
const READS_ALL = /^hook-(?:load-read-config|after)/

describe('the hook program', () => {
  test('loads no database, no YAML parser, no command line and no slow Node module', async () => {
    const world = project()
    await world.stint('init', '--name', 'there', '--goal', 'Be there')
    const list = join(world.folder, 'loaded')
    const preload = join(world.folder, 'preload.cjs')
    writeFileSync(
      preload,
      `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(list)}, JSON.stringify({
        builtins: process.moduleLoadList.flatMap((name) => /^NativeModule (.*)$/.exec(name)?.[1] ?? []),
        files: Object.keys(require.cache),
      })))`,
    )
    const loadedAt = (input: string) => {
      rmSync(list, { force: true })
      const { status, stderr } = runHook(world, input, { NODE_OPTIONS: `--require=${preload}` })
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      return JSON.parse(readFileSync(list, 'utf8')) as { builtins: string[]; files: string[] }
    }
    // Modules that Node loads by itself do not count.
    const { builtins: always } = loadedAt('')
    const tool = (file: string) =>
      eventInput(world.cwd, 'PostToolUse', { tool_input: { file_path: world.path(file) } })
    runHook(world, tool('known.ts'))
    const before = world.entries().length
    for (const input of [
      eventInput(world.cwd, 'SessionStart'),
      eventInput(world.cwd, 'UserPromptSubmit', {
        prompt: 'move the handlers behind the new interface',
      }),
      tool('known.ts'),
      eventInput(world.cwd, 'Stop'),
    ]) {
      const { builtins, files } = loadedAt(input)
      expect(builtins.filter((name) => SLOW.test(name) && !always.includes(name))).toEqual([])
      expect(
        files.filter((file) => /hook-load-read-config|hook-after|stint\.js/.test(file)),
      ).toEqual([])
    }
    expect(world.entries().length).toBeGreaterThan(before)
    const programs = readdirSync(dirname(hook)).filter(
      (name) => /^hook.*\.cjs$/.test(name) && !READS_ALL.test(name),
    )
    expect(programs.length).toBeGreaterThan(5)
    for (const name of programs) {
      expect(readFileSync(join(dirname(hook), name), 'utf8')).not.toMatch(
        /require\([`'"](?:node:(?:sqlite|child_process)|@)|stricli|parseDocument/,
      )
    }
  })

  test('caches the parsed settings, and reads them again when the file changes', async () => {
    const world = project()
    mkdirSync(world.path('.sessions'))
    writeFileSync(world.path('.sessions', 'config.yaml'), 'auto: off\n')
    const edit = eventInput(world.cwd, 'PostToolUse', {
      tool_input: { file_path: world.path('a.ts') },
    })
    runHook(world, edit)
    runHook(world, edit)
    expect(world.sessions()).toEqual([])
    writeFileSync(world.path('.sessions', 'config.yaml'), 'auto: "on"  # now\n')
    runHook(world, edit)
    expect(world.sessions()).toHaveLength(1)
  })
})

describe('the background hook program', () => {
  test('writes the document and copies the transcript', async () => {
    const world = project()
    await world.stint('init', '--name', 'there')
    const agent = world.agent()
    await agent.start()
    await agent.edit('src/a.ts')
    agent.answers('word '.repeat(3000))
    const input = JSON.stringify({
      session_id: agent.conversation,
      cwd: world.cwd,
      hook_event_name: 'Stop',
      transcript_path: agent.transcript,
    })
    const { status } = spawnSync(process.execPath, [hook, 'hook', 'after'], {
      cwd: world.cwd,
      env: world.env,
      input,
    })
    expect(status).toBe(0)
    const document = readdirSync(world.path('.sessions', 'active'))[0]!
    expect(readFileSync(world.path('.sessions', 'active', document), 'utf8')).toContain('src/a.ts')
    expect(
      readFileSync(world.path('.sessions', 'conversations', `${agent.conversation}.jsonl`), 'utf8'),
    ).toContain('word word')
  })
})

describe('the transcript of long conversations', () => {
  test('is copied a few megabytes per event over all conversations, until it is complete', async () => {
    const world = project()
    await world.stint('init', '--name', 'there')
    const agents = [world.agent(), world.agent(), world.agent()]
    for (const agent of agents) {
      await agent.start()
      for (let count = 0; count < 150; count += 1) agent.answers('word '.repeat(4000))
      agent.answers('the end')
    }
    const current = agents[2]!
    const copied = () => {
      const input = JSON.stringify({
        session_id: current.conversation,
        cwd: world.cwd,
        hook_event_name: 'Stop',
      })
      expect(
        spawnSync(process.execPath, [hook, 'hook', 'after'], {
          cwd: world.cwd,
          env: world.env,
          input,
        }).status,
      ).toBe(0)
      return agents.map(({ conversation }) => {
        const cursor = join(world.notes, `${conversation}.copied`)
        return existsSync(cursor)
          ? (JSON.parse(readFileSync(cursor, 'utf8')) as { offset: number }).offset
          : 0
      })
    }
    const sizes = agents.map(({ transcript }) => statSync(transcript).size)
    const total = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0)
    expect(total(sizes)).toBeGreaterThan(8_000_000)
    let before = 0
    for (let offsets = copied(); ; offsets = copied()) {
      expect(total(offsets) - before).toBeLessThanOrEqual(4 * 1024 * 1024)
      expect(total(offsets)).toBeGreaterThan(before)
      before = total(offsets)
      if (before === total(sizes)) break
    }
  })
})

describe('the status line', () => {
  test('shows session, progress, blockers and context fill, and stores the fill for hooks', async () => {
    const world = project()
    await world.stint('init', '--name', 'fix-login', '--goal', 'Fix it')
    await world.stint(
      'log',
      '--step',
      'One',
      '--step',
      'Two',
      '--done',
      'One',
      '--blocker',
      'no staging',
    )
    const agent = world.agent()
    await agent.start()
    const input = JSON.stringify({
      session_id: agent.conversation,
      cwd: world.cwd,
      context_window: {
        used_percentage: 81.5,
        context_window_size: 200_000,
        current_usage: {
          input_tokens: 3000,
          cache_creation_input_tokens: 10_000,
          cache_read_input_tokens: 137_000,
          output_tokens: 300,
        },
      },
    })
    const { stdout } = spawnSync(process.execPath, [hook, 'statusline'], {
      cwd: world.cwd,
      env: world.env,
      input,
      encoding: 'utf8',
    })
    expect(stdout).toBe('📋 fix-login · 1/2 · Two · ⛔ 1 · ctx 90% · 150k/~167k\n')
    expect((await agent.prompt('look at the cookie code')).model).toContain('TOKEN WARNING - 90%')
  })
})
