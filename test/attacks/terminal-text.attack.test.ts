// A cloned project whose every text holds sequences that write the clipboard, fake links, clear the screen or reverse the line.
// Nothing that any command prints may reach the terminal as such.
import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decodeLine, encodeRecord, withChecksum } from '../../src/journal/record.ts'
import { type Command, GROUPS } from '../frozen/commands.ts'
import { REPLAYED_AT } from '../frozen/normalise.ts'
import {
  buildStage,
  environment,
  home,
  lockStage,
  program,
  project,
  restoreProject,
} from '../frozen/stage.mjs'

const WORD = 'poisoned'
const POISON = [
  '\u001B]52;c;cm0gLXJm\u0007',
  '\u001B]8;;http://bad.invalid\u001B\\link\u001B]8;;\u001B\\',
  '\u001B[2J\u001B[31m',
  '\u001B[1m',
  '\u001BPq\u001B\\',
  '\u001B',
  '\u0007\u0008\u007F',
  '\u009B31m',
  '\u009D52;c;eA==\u009C',
  '\u0090q\u009C',
  '\u202A\u202B\u202C\u202D\u202E',
  '\u2066\u2067\u2068\u2069',
  '\u200E\u200F\u061C',
  '\u200B\u2060\uFEFF\u00AD\u180E',
  '\u{E0041}',
  'a\u200Db',
  '\r',
].join('')
// Lines of Markdown and names of branches cannot hold every byte.
const POISON_IN_LINE = POISON.replaceAll(/[\r\n]/g, '')
const BRANCH = `feature/${WORD}\u009B31m\u202E\u200F`

const OWN_COLOURS = /\u001B\[(?:1|2|22|31|32|33|36|39)m/g
const UNWANTED =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\u{E0000}-\u{E0FFF}]|a\u200Db/u

let unlock: () => void
beforeAll(async () => {
  unlock = await lockStage()
  buildStage()
}, 600_000)
afterAll(() => unlock?.())

const group = (name: string) => GROUPS.find((each) => each.name === name)!.commands
const commandLines = (...names: readonly string[]) =>
  names.flatMap((name) => group(name).filter(({ args }) => args !== undefined))

describe.each([
  { what: 'texts', isPoisoned: (text: string) => /\s/.test(text) },
  {
    what: 'names and texts',
    isPoisoned: (text: string) => !/^(?:[\da-f-]{7,}|[\dT:.Z-]{10,}|[\d.]*)$/.test(text),
  },
])('a clone with hostile $what', ({ what, isPoisoned }) => {
  beforeAll(() => {
    restoreProject()
    poisonProject(isPoisoned)
    if (what === 'texts') return
    git('switch', '-q', '-c', BRANCH)
    writeFileSync(join(project, `${WORD}${POISON_IN_LINE.replaceAll('/', '')}.js`), '')
  })

  test('reaches no command’s output as a control or a bidirectional control', () => {
    const names = what === 'texts' ? ['reading', 'mistakes', 'writing'] : ['reading', 'mistakes']
    const ids = frozenIds()
    const seen = commandLines(...names).map((command) => {
      const { stdout, stderr } = start(command, ids)
      return { name: command.name, stdout, stderr }
    })
    // An export to a file keeps the bytes.
    const dirty = seen.flatMap(({ name, stdout, stderr }) => {
      const output = /^export .*--format/.test(name) ? stderr : stdout + stderr
      const found = UNWANTED.exec(output)
      return found === null
        ? []
        : `${name}: ${JSON.stringify(output.slice(Math.max(0, found.index - 40), found.index + 20))}`
    })
    expect(dirty).toEqual([])
    const reached = seen.filter(({ stdout, stderr }) => `${stdout}${stderr}`.includes(WORD))
    expect(reached.length).toBeGreaterThan(40)
  })

  test.skipIf(spawnSync('script', ['--version']).status !== 0)(
    'reaches a terminal with no sequence but the colours that Stint adds',
    () => {
      const ids = frozenIds()
      let coloured = 0
      let exported = 0
      for (const { name, args = [] } of commandLines('reading')) {
        const words = [process.execPath, program, ...args.map((arg) => ids[arg] ?? arg)]
        const line = words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ')
        const { stdout } = spawnSync('script', ['-qec', line, '/dev/null'], {
          cwd: project,
          env: { ...environment(REPLAYED_AT), PATH: process.env['PATH'], TERM: 'xterm' },
          encoding: 'utf8',
          input: '',
        })
        const plain = stdout
          .replaceAll(OWN_COLOURS, '')
          .replaceAll('\r\n', '\n')
          .replaceAll('^D\b\b', '')
        if (plain !== stdout.replaceAll('\r\n', '\n')) coloured += 1
        if (name.startsWith('export ') && plain.includes(WORD)) exported += 1
        expect(UNWANTED.exec(plain) && plain, name).toBeNull()
        // The colours of the text itself are not ours.
        expect(stdout, name).not.toContain('\u001B[31mlink')
      }
      expect(coloured).toBeGreaterThan(5)
      if (what === 'texts') expect(exported).toBeGreaterThan(2)
    },
  )
})

describe('a hostile argument', () => {
  test('is cleaned in the message that repeats it, as text and as JSON', () => {
    for (const args of [
      [`view`, POISON],
      [`--${POISON}`],
      [POISON],
      ['view', `--${POISON}`],
      ['task', 'show', POISON, '--json'],
      ['log', '--done', POISON, '--json'],
      ['export', '--format', POISON],
      ['help', POISON],
      ['__complete', POISON],
    ]) {
      const { stdout, stderr } = start(
        { name: '', args: args.map((arg) => arg.replaceAll('\0', '')) },
        {},
      )
      expect(UNWANTED.exec(stdout + stderr) && stdout + stderr, JSON.stringify(args)).toBeNull()
    }
  })

  test('is the same value after JSON is parsed', () => {
    const { stdout } = start({ name: '', args: ['view', `x${POISON_IN_LINE}`, '--json'] }, {})
    expect((JSON.parse(stdout) as { error: { message: string } }).error.message).toContain('\u202E')
  })
})

function git(...args: readonly string[]) {
  const { status, stderr } = spawnSync('git', args, {
    cwd: project,
    env: environment(REPLAYED_AT),
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
}

function start({ args = [], stdin = '' }: Command, ids: Readonly<Record<string, string>>) {
  return spawnSync(process.execPath, [program, ...args.map((arg) => ids[arg] ?? arg)], {
    cwd: project,
    env: environment(REPLAYED_AT),
    input: stdin,
    encoding: 'utf8',
    maxBuffer: 1 << 27,
  })
}

/** Written in place, so that the second name of each log holds the same. */
function poisonProject(isPoisoned: (text: string) => boolean) {
  for (const folder of [
    join(project, '.sessions'),
    join(project, '.tasks'),
    join(project, '.agents'),
    join(home, '.claude'),
  ])
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      const path = join(folder, name)
      if (!statSync(path).isFile()) continue
      if (name.endsWith('.jsonl')) poisonLines(path, isPoisoned)
      else if (name.endsWith('.md')) poisonMarkdown(path)
    }
}

function poisonLines(path: string, isPoisoned: (text: string) => boolean) {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  const poisoned = lines.map((line) => {
    const decoded = decodeLine(Buffer.from(line))
    if (decoded.ok) {
      const { record } = decoded
      return encodeRecord({ ...record, data: poison(record.data, isPoisoned) as never })
    }
    try {
      const { sum, ...fields } = JSON.parse(line) as Record<string, unknown>
      const json = JSON.stringify(poison(fields, isPoisoned))
      return sum === undefined ? Buffer.from(`${json}\n`) : withChecksum(json, '\n')
    } catch {
      // A damaged line stays as it is.
      return Buffer.from(`${line}\n`)
    }
  })
  writeFileSync(path, Buffer.concat(poisoned))
}

const FIXED = new Set([
  'kind',
  'type',
  'role',
  'status',
  'id',
  'at',
  'uuid',
  'sessionId',
  'timestamp',
  'cwd',
  'worktree',
  'hash',
  'blob',
])

function poison(value: unknown, isPoisoned: (text: string) => boolean): unknown {
  if (typeof value === 'string') return isPoisoned(value) ? `${value} ${WORD}${POISON}` : value
  if (Array.isArray(value)) return value.map((item) => poison(item, isPoisoned))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      FIXED.has(key) && typeof item === 'string' ? item : poison(item, isPoisoned),
    ]),
  )
}

function poisonMarkdown(path: string) {
  const text = readFileSync(path, 'utf8')
  writeFileSync(
    path,
    text.replaceAll(/^(?:#+ |- \[.\] ).*$/gm, (line) => `${line} ${WORD}${POISON_IN_LINE}`),
  )
}

/** Ids that commands use; text in them is poisoned by now, their folders are not. */
function frozenIds(): Readonly<Record<string, string>> {
  const find = (folder: string, text: string) =>
    readdirSync(join(project, '.sessions', folder)).find((id) => {
      const log = join(project, '.sessions', folder, id, 'log.jsonl')
      return (
        statSync(log, { throwIfNoEntry: false }) !== undefined &&
        readFileSync(log, 'utf8').includes(text)
      )
    })!
  return {
    RUN: find('runs', 'port-to-the-old-kernel'),
    WIDE: find('runs', 'write-the-runbook'),
  }
}
