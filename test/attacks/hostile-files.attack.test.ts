// Files that block, never end or are larger than memory, in the places that hooks and commands read.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { mintId } from '../../src/journal/ids.ts'
import { encodeRecord } from '../../src/journal/record.ts'
import { program, terminal } from '../support/cli.ts'

const hook = join(dirname(program), 'hook.cjs')
const GIGABYTE = 1024 ** 3
// Ends a test that hangs; nothing here is measured.
const DEADLINE = 60_000

const KINDS: Readonly<Record<string, (path: string) => void>> = {
  'a pipe': (path) => void execFileSync('mkfifo', [path]),
  'a link to /dev/zero': (path) => symlinkSync('/dev/zero', path),
  'three gigabytes': (path) => {
    writeFileSync(path, '')
    truncateSync(path, 3 * GIGABYTE)
  },
}

/** A project with an active session and a conversation that is bound to it. */
function world() {
  const { cwd, env } = terminal()
  const run = (args: readonly string[], input = '') => {
    const memory = ['--max-old-space-size=256', ...args]
    const options = { cwd, env, input, encoding: 'utf8', timeout: DEADLINE } as const
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, memory, options)
    return { status, signal, output: `${stdout}${stderr}` }
  }
  const stint = (...args: string[]) => run([program, ...args])
  const fire = (name: string, fields: object = {}, ...args: string[]) => {
    const event = { hook_event_name: name, session_id: 'c-1', cwd, ...fields }
    return run([hook, 'hook', ...args], JSON.stringify(event))
  }
  const fireAll = () => [
    fire('SessionStart', { source: 'startup' }),
    fire('UserPromptSubmit', { prompt: PROMPT }),
    fire('PostToolUse', {
      tool_name: 'Edit',
      tool_input: { file_path: join(cwd, 'edited.ts') },
      tool_response: {},
    }),
    fire('Stop', { last_assistant_message: MESSAGE }),
    fire('Stop', { last_assistant_message: MESSAGE }, 'after'),
  ]
  expect(stint('init', '--name', 'here', '--goal', 'it').status).toBe(0)
  fire('SessionStart', { source: 'startup' })
  fire('UserPromptSubmit', { prompt: 'Begin with the first of the three handlers, please' })
  fire('Stop', { last_assistant_message: 'Begun.' }, 'after')
  const [id] = readdirSync(join(cwd, '.sessions', 'journal'))
  const journal = join(cwd, '.sessions', 'journal', id!)
  return { cwd, id: id!, journal, log: join(journal, 'log.jsonl'), stint, fireAll }
}

const PROMPT = 'Move the handlers of the old server behind the new interface'
const MESSAGE = 'All the handlers are moved.'
const SILENT_END = { status: 0, signal: null }

describe.each(Object.entries(KINDS))('where a file is %s,', (_, make) => {
  test('a hook exits with 0, and a command reports that config.yaml cannot be used', () => {
    const { cwd, stint, fireAll } = world()
    make(join(cwd, '.sessions', 'config.yaml'))
    for (const ended of fireAll()) expect(ended).toMatchObject(SILENT_END)
    expect(stint('log', '--progress', 'x', '--json')).toMatchObject({
      status: 1,
      output: expect.stringMatching(/CONFIG_INVALID|LINK_REFUSED/),
    })
    expect(stint('doctor')).toMatchObject({ status: 1, signal: null })
  })

  test('hooks and commands end, whichever file of Stint or git it is', () => {
    const { cwd, stint, fireAll } = world()
    const roots = ['.sessions', '.git/stint', '.tasks']
    stint('task', 'add', 'A task')
    const files = roots.flatMap((root) =>
      readdirSync(join(cwd, root), { recursive: true, encoding: 'utf8' })
        .map((name) => join(cwd, root, name))
        .filter((path) => statSync(path).isFile() && !path.includes('index.db')),
    )
    const named = [...files, join(cwd, '.git', 'HEAD'), join(cwd, '.git', 'packed-refs')]
    expect(named.length).toBeGreaterThan(10)
    const aside = join(cwd, '..', 'aside')
    for (const path of named) {
      const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined
      if (isThere) renameSync(path, aside)
      mkdirSync(dirname(path), { recursive: true })
      make(path)
      // Git itself waits for a pipe; a hook waits only so long for git.
      const isGits = path === join(cwd, '.git', 'HEAD') || path.endsWith('packed-refs')
      const commands = isGits
        ? []
        : [
            ['view', '--json'],
            ['task', 'list'],
          ]
      const ended = [...fireAll().slice(0, 4), ...commands.map((args) => stint(...args))]
      const report = { path, ended: ended.map(({ status, signal }) => ({ status, signal })) }
      expect(
        report.ended.filter(({ signal }) => signal !== null),
        path,
      ).toEqual([])
      expect(
        report.ended.slice(0, 4).every(({ status }) => status === 0),
        path,
      ).toBe(true)
      expect(
        report.ended.every(({ status }) => status !== 70),
        path,
      ).toBe(true)
      rmSync(path, { force: true })
      if (isThere) renameSync(aside, path)
    }
  }, 600_000)
})

function note(text: string, at: number) {
  const id = mintId(undefined, Date.now() - 3_600_000 + at)
  return encodeRecord({
    id,
    at: new Date().toISOString(),
    kind: 'note.added',
    by: 'cli',
    data: { text },
  })
}

describe.each<[string, (fd: number) => void]>([
  ['one record of 300 MB', (fd) => void writeSync(fd, note('x'.repeat(300_000_000), 0))],
  [
    'a million entries',
    (fd) => {
      const entries = Array.from({ length: 10_000 }, (_, n) => note(`entry number ${n}`, n))
      const block = Buffer.concat(entries)
      for (let times = 0; times < 100; times += 1) writeSync(fd, block)
    },
  ],
])('with %s in the log,', (_, fill) => {
  test('hooks exit with 0 and keep captured entries for the session; commands print the reason', () => {
    const { cwd, id, log, journal, stint, fireAll } = world()
    const fd = openSync(log, 'a')
    fill(fd)
    closeSync(fd)
    for (const name of ['snapshot.json', 'state.kept']) rmSync(join(journal, name), { force: true })
    for (const ended of fireAll()) expect(ended).toMatchObject(SILENT_END)
    for (const args of [['view'], ['log', '--progress', 'x']])
      expect(stint(...args)).toMatchObject({
        status: 1,
        output: expect.stringContaining('too large to be read'),
      })
    expect(stint('list')).toMatchObject(SILENT_END)
    expect(stint('doctor')).toMatchObject({
      status: 1,
      output: expect.stringContaining('too large to be read'),
    })
    // A command may have appended it to the log already.
    const outbox = join(cwd, '.git', 'stint', 'outbox', id)
    const waiting = (readdirSync(dirname(outbox)).includes(id) ? readdirSync(outbox) : [])
      .map((name) => readFileSync(join(outbox, name), 'utf8'))
      .join('\n')
    const kept = waiting + endOf(log)
    for (const captured of [PROMPT, MESSAGE, 'edited.ts']) expect(kept).toContain(captured)
  })
})

test('a hook never reads a 20 MB log; its background half drains the outbox into it', () => {
  const { log, journal, fireAll, stint } = world()
  const fd = openSync(log, 'a')
  const block = Buffer.concat(Array.from({ length: 10_000 }, (_, n) => note(`entry ${n}`, n)))
  for (let times = 0; times < 12; times += 1) writeSync(fd, block)
  closeSync(fd)
  rmSync(join(journal, 'snapshot.json'), { force: true })
  for (const ended of fireAll()) expect(ended).toMatchObject(SILENT_END)
  const lines = endOf(log).split('\n')
  for (const captured of [PROMPT, MESSAGE, 'edited.ts'])
    expect(lines.find((line) => line.includes(captured))).toContain('"once":"outbox:')
  // A command reads it.
  expect(stint('log', '--progress', 'x')).toMatchObject(SILENT_END)
})

function endOf(path: string) {
  const fd = openSync(path, 'r')
  const bytes = Buffer.alloc(64 * 1024)
  readSync(fd, bytes, 0, bytes.length, statSync(path).size - bytes.length)
  closeSync(fd)
  return bytes.toString('utf8')
}
