import { execFile, spawnSync } from 'node:child_process'
import { cpSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readLog } from '../../src/journal/read-log.ts'
import { openProject } from '../../src/core.ts'
import { git, initRepository, temporaryFolder } from '../support/scratch.ts'
import { type Workload, compileShim, sweep } from './sweep.ts'

const execute = promisify(execFile)
const SECRET = 'tr0ub4dor-and-3'
const ROOT = join(import.meta.dirname, '../..')
const tools = temporaryFolder()
// A copy, because the sweep takes long and a build in between would replace the program.
const STINT = join(tools, 'dist', 'stint.js')
const pattern = join(tools, 'pattern')
let ids: readonly string[]

beforeAll(async () => {
  cpSync(join(ROOT, 'dist'), join(tools, 'dist'), { recursive: true })
  cpSync(join(ROOT, 'package.json'), join(tools, 'package.json'))
  symlinkSync(join(ROOT, 'node_modules'), join(tools, 'node_modules'))
  process.env['STINT_STATE_HOME'] = join(tools, 'state')
  initRepository(pattern)
  writeFileSync(join(pattern, 'a.txt'), 'one\n')
  git(pattern, 'add', 'a.txt')
  git(pattern, 'commit', '--quiet', '-m', 'first')
  const project = openProject(pattern, { env: {} })
  await project.init({ name: 'leak', goal: `find ${SECRET} out` })
  await project.log({
    entries: [{ discovery: `there was ${SECRET}` }, { step: 'a step without it' }],
  })
  await project.tasks.add({ title: 'A task', description: `log in with ${SECRET}` })
  project.dispose()
  ids = entriesIn(pattern)
})
afterAll(() => rmSync(tools, { recursive: true, force: true }))

function logsIn(world: string): readonly string[] {
  const journal = join(world, '.sessions', 'journal')
  return [
    ...readdirSync(journal).map((id) => join(journal, id, 'log.jsonl')),
    join(world, '.sessions', 'backlog', 'log.jsonl'),
  ]
}

function entriesIn(world: string): readonly string[] {
  return logsIn(world).flatMap((path) => readLog(path).records.map(({ id }) => id))
}

const PURGE: Workload = {
  prepare: async (world) => {
    const copy = () => execute('cp', ['-a', `${pattern}/.`, world])
    // The index of the pattern may still be closing, and removes its files beside it.
    await copy().catch(copy)
    return ids
  },
  argv: () => [process.execPath, STINT, 'purge', SECRET],
  cwd: (world) => world,
  verify: (world, _finished, stage) => {
    const damage = logsIn(world).flatMap((path) => readLog(path).damage)
    const held = spawnSync(
      'grep',
      ['-r', '-l', '-a', '-F', '--exclude-dir=objects', '-e', SECRET, world],
      { encoding: 'utf8' },
    )
    const left = stage === 'after' ? held.stdout.split('\n').filter((line) => line !== '') : []
    return {
      held: entriesIn(world),
      problems: [...left.map((path) => `left in ${path}`), ...damage.map(({ reason }) => reason)],
    }
  },
}

test('a purge killed at any call loses no entry, and running it again finishes it', async () => {
  const report = await sweep(compileShim(tools), PURGE, ['kill', 'torn'])
  expect(report.falseDone).toEqual([])
  expect(report.acknowledgedLost).toEqual([])
  expect(report.unreadable).toEqual([])
  expect(report.stuck).toEqual([])
  expect(report.runs.length).toBeGreaterThan(60)
})
