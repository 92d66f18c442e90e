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

function served(
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

function eventIn(
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

describe('the hook program is silent and succeeds', () => {
  test.each([
    ['nothing', ''],
    ['no JSON', 'hello'],
    ['half of it', '{"session_id":"c-1","cwd":"/tmp"'],
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
      'a folder that is not there',
      JSON.stringify({
        session_id: 'c-1',
        cwd: '/nowhere/at/all',
        hook_event_name: 'SessionStart',
      }),
    ],
    [
      'a prototype',
      '{"__proto__":{"a":1},"session_id":"c-1","cwd":"/","hook_event_name":"constructor"}',
    ],
  ])('when it is given %s', (_what, input) => {
    expect(served(project(), input)).toEqual(SILENT)
  })

  test.each(Object.keys(EVENTS))(
    'at %s in a folder that is none of ours, and writes nothing there',
    (name) => {
      const world = project({ git: false })
      expect(served(world, eventIn(world.cwd, name))).toEqual(SILENT)
      expect(existsSync(world.path('.sessions'))).toBe(false)
    },
  )

  test.each(Object.keys(EVENTS))('at %s where there is no session', (name) => {
    const world = project()
    expect(served(world, eventIn(world.cwd, name))).toEqual(SILENT)
    expect(existsSync(world.path('.sessions'))).toBe(false)
  })

  test(
    'when its input never ends, by the command that is registered',
    { timeout: 10_000 },
    async () => {
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
    },
  )

  test('when it is turned off', async () => {
    const world = project()
    await world.stint('init', '--name', 'there')
    expect(served(world, eventIn(world.cwd, 'SessionStart'), { STINT_HOOKS: 'off' })).toEqual(
      SILENT,
    )
  })

  test('in a run, whose runner sees everything itself, and it records nothing', async () => {
    const world = project()
    await world.stint('init', '--name', 'there')
    const before = world.entries()
    for (const name of Object.keys(EVENTS)) {
      expect(
        served(world, eventIn(world.cwd, name), {
          STINT_RUN: '0190a000-0000-7000-8000-000000000001',
        }),
      ).toEqual(SILENT)
    }
    await world.stint('view')
    expect(world.entries()).toEqual(before)
    expect(existsSync(world.notes)).toBe(false)
    expect(served(world, eventIn(world.cwd, 'SessionStart'), { STINT_RUN: '' }).stdout).toContain(
      'there',
    )
  })
})

/** Transcripts that no one should wait for or fail at. */
const TRANSCRIPTS: Readonly<Record<string, (path: string) => void>> = {
  missing: () => undefined,
  'a folder': (path) => mkdirSync(path),
  'a pipe that nobody writes to': (path) => execFileSync('mkfifo', [path]),
  'a device that never ends': (path) => symlinkSync('/dev/zero', path),
  'a link to itself': (path) => symlinkSync(path, path),
  empty: (path) => writeFileSync(path, ''),
  binary: (path) => writeFileSync(path, Buffer.alloc(3_000_000, 0xfe)),
  'one endless line': (path) =>
    writeFileSync(path, `{"type":"user","message":{"content":"${'x'.repeat(4_000_000)}`),
  'of nothing but zeroes': (path) => {
    writeFileSync(path, '')
    truncateSync(path, 100_000_000)
  },
}

describe('a transcript', () => {
  test.each(Object.keys(TRANSCRIPTS))('that is %s keeps no hook from its work', async (kind) => {
    const world = project()
    await world.stint('init', '--name', 'there', '--goal', 'Be there')
    const transcript = join(world.folder, 'transcript.jsonl')
    TRANSCRIPTS[kind]!(transcript)
    for (const name of Object.keys(EVENTS)) {
      const { status, stderr } = served(
        world,
        eventIn(world.cwd, name, { transcript_path: transcript }),
      )
      expect({ name, status, stderr }).toEqual({ name, status: 0, stderr: '' })
    }
    expect(world.ofKind('turn.ended')).toHaveLength(1)
    expect(world.troubles()).toBe('')
  })
})

describe('a session whose files are gone or broken', () => {
  const breakages: Readonly<Record<string, (world: ReturnType<typeof project>) => void>> = {
    'its whole folder': (world) => rmSync(world.path('.sessions'), { recursive: true }),
    'everything of it': (world) => {
      rmSync(world.path('.sessions'), { recursive: true })
      rmSync(world.path('.git', 'stint'), { recursive: true })
    },
    'its log, which is a folder': (world) => {
      const log = world.path('.sessions', 'journal', world.sessions()[0]!, 'log.jsonl')
      rmSync(log)
      mkdirSync(log)
    },
    'its snapshot': (world) =>
      writeFileSync(
        world.path('.sessions', 'journal', world.sessions()[0]!, 'snapshot.json'),
        '{"half',
      ),
    'its configuration': (world) =>
      writeFileSync(world.path('.sessions', 'config.yaml'), 'redact: [unclosed'),
    'the notes of hooks': (world) => {
      rmSync(world.path('.git', 'stint', 'conversations'), { recursive: true, force: true })
      writeFileSync(world.path('.git', 'stint', 'conversations'), 'no folder')
    },
  }
  test.each(Object.keys(breakages))('keeps no hook from ending well: %s', async (what) => {
    const world = project()
    await world.stint('init', '--name', 'there', '--goal', 'Be there')
    served(world, eventIn(world.cwd, 'SessionStart'))
    breakages[what]!(world)
    for (const name of Object.keys(EVENTS)) {
      const { status, stderr } = served(world, eventIn(world.cwd, name))
      expect({ name, status, stderr }).toEqual({ name, status: 0, stderr: '' })
    }
  })

  test('with an invalid configuration nothing is recorded, since it may be about secrets, and doctor says why', async () => {
    const world = project()
    await world.stint('init', '--name', 'there')
    const before = world.entries().length
    writeFileSync(
      world.path('.sessions', 'config.yaml'),
      'redact:\n  pattern: typo\n  patterns: ["("]\n',
    )
    served(
      world,
      eventIn(world.cwd, 'UserPromptSubmit', { prompt: 'the password is hunter2 in this project' }),
    )
    expect(world.entries()).toHaveLength(before)
    expect(served(world, eventIn(world.cwd, 'SessionStart')).stdout).toContain(
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
    expect(served(world, eventIn(world.cwd, 'SessionStart')).stdout).toContain('Be there')
  })
})

/** Modules of Node that cost more to load than a hook has time. */
const SLOW = /^(?:child_process|crypto|zlib|perf_hooks|net|https?|sqlite|stream|readline)$/
/** Loaded where the configuration changed, or nobody waits. */
const READS_ALL = /^hook-(?:load-read-config|after)/

describe('the hook program', () => {
  test('loads neither the database nor a YAML reader nor the command line, nor a module of Node that is slow to load', async () => {
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
      const { status, stderr } = served(world, input, { NODE_OPTIONS: `--require=${preload}` })
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      return JSON.parse(readFileSync(list, 'utf8')) as { builtins: string[]; files: string[] }
    }
    // What Node has loaded by itself is no cost of ours.
    const { builtins: always } = loadedAt('')
    const tool = (file: string) =>
      eventIn(world.cwd, 'PostToolUse', { tool_input: { file_path: world.path(file) } })
    served(world, tool('known.ts'))
    const before = world.entries().length
    for (const input of [
      eventIn(world.cwd, 'SessionStart'),
      eventIn(world.cwd, 'UserPromptSubmit', {
        prompt: 'move the handlers behind the new interface',
      }),
      tool('known.ts'),
      eventIn(world.cwd, 'Stop'),
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

  test('keeps its settings as they were read, and reads them again when the file changes', async () => {
    const world = project()
    mkdirSync(world.path('.sessions'))
    writeFileSync(world.path('.sessions', 'config.yaml'), 'auto: off\n')
    const edit = eventIn(world.cwd, 'PostToolUse', {
      tool_input: { file_path: world.path('a.ts') },
    })
    served(world, edit)
    served(world, edit)
    expect(world.sessions()).toEqual([])
    writeFileSync(world.path('.sessions', 'config.yaml'), 'auto: "on"  # now\n')
    served(world, edit)
    expect(world.sessions()).toHaveLength(1)
  })
})

describe('the program that renders what nobody waits for', () => {
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

describe('what was said in long conversations', () => {
  test('is copied a few megabytes at a time, of all of them together, until all of it is there', async () => {
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
  test('shows session, progress, blockers and how full the context is, and leaves that for hooks', async () => {
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
