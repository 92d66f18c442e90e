import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { scratchFolder } from '../support/scratch.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const bench = join(root, 'bench')

interface Row {
  readonly name: string
  readonly ok: boolean
  readonly note?: string
  readonly ours?: number
  readonly bare?: number
  readonly ratio?: number
  readonly limit?: string
}
interface Result {
  readonly rows: readonly Row[]
  readonly hasFailed?: boolean
}

const { BENCHES } = (await part('benches')) as { BENCHES: Readonly<Record<string, string>> }
const { askedFor } = (await part('arguments')) as { askedFor(args: readonly string[]): { readonly names: readonly string[] } }
const { sectionIn, sectionOf, withSection } = (await part('table')) as {
  sectionIn(page: string, name: string): string | undefined
  sectionOf(result: Result, options?: { scale?: number; at?: Date }): string
  withSection(page: string, name: string, section: string): string
}
const { runApart } = (await part('apart')) as { runApart(name: string, file: URL, options: { scale: number }): Promise<Result> }

/** The benchmark runner is plain JavaScript, so it is imported by path. */
function part(name: string): Promise<unknown> {
  return import(/* @vite-ignore */ pathToFileURL(join(bench, `${name}.mjs`)).href)
}

describe('npm run bench', () => {
  const typed = (...args: readonly string[]) =>
    spawnSync(process.execPath, [join(bench, 'run.mjs'), ...args], { encoding: 'utf8', timeout: 170_000 })

  test('runs every benchmark', () => {
    const files = readdirSync(bench).filter((name) => name.endsWith('.bench.mjs'))
    expect(Object.keys(BENCHES).map((name) => `${name}.bench.mjs`).sort()).toEqual(files.sort())
    const { stdout, status } = typed('--help')
    expect(status).toBe(0)
    for (const name of Object.keys(BENCHES)) expect(stdout).toMatch(new RegExp(`^ +${name} `, 'm'))
  })

  test('leaves nothing behind when it is interrupted', async () => {
    const folder = scratchFolder()
    const child = spawn(process.execPath, [join(bench, 'run.mjs'), 'loading'], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    const ended = once(child, 'exit')
    // Its own folder, which contains the benchmark's.
    const isBegun = () => readdirSync(folder).some((name) => readdirSync(join(folder, name)).length > 0)
    while (!isBegun() && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 20))
    child.kill('SIGINT')
    expect(await ended).toEqual([130, null])
    expect(readdirSync(folder)).toEqual([])
  })

  test.each([
    [['hooks', 'hoks'], 'there is no benchmark "hoks"; there are journal, hooks,'],
    [['0.05'], '(for a smaller run: --scale 0.05)'],
    [['--scale', '0'], '--scale is a share of the full size'],
    [['--scale', 'small'], '--scale is a share of the full size'],
    [['--write', '--scale', '0.1'], 'the full size: without --scale'],
    [['--wriet'], '--wriet'],
  ])('refuses %j and prints the usage', (args, words) => {
    expect(() => askedFor(args)).toThrow(words)
  })

  test('runs all in order, or the named ones', () => {
    expect(askedFor([])).toEqual({ help: false, write: false, scale: 1, names: Object.keys(BENCHES) })
    expect(askedFor(['serve', '--scale', '0.05', 'hooks']).names).toEqual(['hooks', 'serve'])
  })

  test('exits with 2 on misuse and prints no table', () => {
    const { stderr, stdout, status } = typed('nothing-like-it')
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^bench: there is no benchmark/)
  })

  test('runs the smallest planner benchmark and prints its table', () => {
    const { stdout, status } = typed('--scale', '0.001', 'plan')
    expect(stdout).toMatch(/^## plan\n\n20\d\d.*at 0\.001 of the full size\n\n\| what \|.*\n\|---.*\n\| planner, \d+ backlogs/)
    expect(status).toBe(0)
  })
})

describe('a benchmark that', () => {
  const outcomeOf = (source: string) => {
    const file = join(scratchFolder(), 'made.bench.mjs')
    writeFileSync(file, source)
    return runApart('made', pathToFileURL(file), { scale: 0.5 })
  }

  test('works returns its rows', async () => {
    const { rows, hasFailed } = await outcomeOf(
      "export const run = async ({ scale }) => [{ name: 'a', ratio: scale, ok: true }]\nconsole.log('talk')\n",
    )
    expect([rows, hasFailed]).toEqual([[{ name: 'a', ratio: 0.5, ok: true }], undefined])
  })

  test.each([
    ['throws', "export const run = () => { throw new Error('the disk is full') }", 'failed: the disk is full'],
    ['cannot be loaded', "import './nowhere.mjs'", 'failed: Cannot find module'],
    ['is killed', "export const run = () => process.kill(process.pid, 'SIGKILL')", 'failed: it ended'],
    ['ends in the middle', 'export const run = () => process.exit(0)', 'failed: it ended without an answer'],
    [
      'dies with its answer given',
      "export const run = () => (process.exitCode = 3, [{ name: 'a', ok: true }])",
      'failed: it ended with 3',
    ],
  ])('%s is reported in a row', async (_, source, why) => {
    const { rows, hasFailed } = await outcomeOf(source)
    expect([rows.length, rows[0]!.name, rows[0]!.ok, hasFailed]).toEqual([1, 'made', false, true])
    expect(rows[0]!.note).toContain(why)
    expect(sectionOf({ rows })).toMatch(/^\| made \| failed: .* \| FAILED \|$/m)
  })
})

describe('a table', () => {
  const at = new Date('2026-01-31T12:00:00Z')

  test('marks rows over their limit, with enough digits to show it', () => {
    const rows = [
      { name: 'a', ours: 31.5, bare: 25.1, ratio: 1.2549, limit: 'at most 1.25', ok: false },
      { name: 'b', ours: 2, bare: 4, ratio: 0.5, limit: 'at most 1', ok: true },
    ]
    const section = sectionOf({ rows }, { at, scale: 0.05 })
    expect(section).toContain('2026-01-31, Node ')
    expect(section).toContain(' cores, at 0.05 of the full size\n')
    expect(section).toContain('| a | 32 ms | 25 ms | 1.255 | at most 1.25 | OVER |')
    expect(section).toContain('| b | 2.00 ms | 4.00 ms | 0.50 | at most 1 | ok |')
  })

  test('keeps each row on one line for any text', () => {
    expect(sectionOf({ rows: [{ name: 'a', note: 'one\ntwo | three', ok: true }] })).toContain('| a | one two \\| three |  |  |  | ok |')
  })

  test('replaces its previous version and leaves the other tables on the page', () => {
    const before = '# Page\n\n<!-- bench a -->\nold\n<!-- end of bench a -->\n\nText.\n\n<!-- bench b -->\nkept\n<!-- end of bench b -->\n'
    const after = withSection(before, 'a', 'new $& one')
    expect(after).toBe(before.replace('old', () => 'new $& one'))
    expect(sectionIn(after, 'b')).toBe('kept')
    expect(() => withSection(before, 'c', 'x')).toThrow('no place for c')
  })
})
