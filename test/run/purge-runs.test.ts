import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readLog } from '../../src/journal/read-log.ts'
import { findStintProgram } from '../../src/harness/process/find-program.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import { readRunReport } from '../../src/run/runs.ts'
import { scratchFolder } from '../support/scratch.ts'
import { expectNoneLeft } from '../support/processes.ts'
import { RunWorld, doing } from './run-world.ts'

const SECRET = 'Correct Horse "Battery" 17'
const SLUG = 'correct-horse-battery-17'

/** Files outside git's objects that contain one of the texts, also JSON-escaped. */
function filesWith(root: string, ...texts: readonly string[]): readonly string[] {
  const forms = texts
    .flatMap((text) => [text, JSON.stringify(text).slice(1, -1)])
    .flatMap((form) => ['-e', form])
  const found = spawnSync(
    'grep',
    ['-r', '-l', '-a', '-F', '--exclude-dir=objects', ...forms, root],
    { encoding: 'utf8' },
  )
  return found.stdout
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [line.slice(root.length + 1)]))
}

function namesOf(world: RunWorld, run: string) {
  return {
    log: world.project.path('.sessions', 'runs', run, 'log.jsonl'),
    link: world.project.path('.git', 'stint', 'runs', `${run}.jsonl`),
  }
}

const purge = (world: RunWorld, text = SECRET, checkpoints = false) =>
  world.project.run((project) => project.purge({ text, checkpoints }))

test('leaves no byte of a purged secret in run logs, task lists and states', async () => {
  const world = new RunWorld()
  await world.tasks({ title: `Try ${SECRET}`, description: `log in with ${SECRET}` }, 'Other')
  const script = world.script({
    [`try-${SLUG}`]: [[{ say: SECRET }, { failed: `${SECRET} is refused` }]],
  })
  const { run } = await world.run({ script })
  const { log, link } = namesOf(world, run)
  const holding = filesWith(world.project.root, SECRET)
  for (const name of [`runs/${run}/log.jsonl`, `runs/${run}/tasks.json`, `runs/${run}/rehearsal`]) {
    expect(holding.filter((path) => path.startsWith(`.sessions/${name}`))).not.toEqual([])
  }
  expect(holding).toContain(`.git/stint/runs/${run}.jsonl`)
  const before = readLog(log).records

  const purged = await purge(world)

  expect(filesWith(world.project.root, SECRET)).toEqual([])
  expect(purged).toMatchObject({ remaining: [], isComplete: true })
  expect(statSync(link).ino).toBe(statSync(log).ino)
  const { records, damage } = readLog(log)
  expect(damage).toEqual([])
  expect(records.map(({ id, at, kind }) => [id, at, kind])).toEqual(
    before.map(({ id, at, kind }) => [id, at, kind]),
  )
  const report = await readRunReport(new Workspace(world.project.root), run)
  expect(
    report.sessions.flatMap(({ tasks }) => tasks).map(({ task, outcome }) => [task.name, outcome]),
  ).toEqual(
    expect.arrayContaining([
      ['try-purged', 'parked'],
      ['other', 'done'],
    ]),
  )
  expect((await purge(world)).replacements).toBe(0)
})

test("updates the agents' task list with the purged names of the backlog", async () => {
  const world = new RunWorld()
  await world.tasks(`Try ${SECRET}`)
  const { run } = await world.run()
  await purge(world)
  const list = JSON.parse(world.project.read('.sessions', 'runs', run, 'tasks.json')) as {
    tasks: { name: string }[]
  }
  expect(Object.keys(await world.statuses())).toEqual(['try-purged'])
  expect(list.tasks.map(({ name }) => name)).toEqual(['try-purged'])
})

test('keeps the logs of two runs apart, each with its two names', async () => {
  const world = new RunWorld()
  await world.tasks(`One ${SECRET}`)
  await world.run()
  await world.tasks(`Two ${SECRET}`)
  await world.run()
  const before = world
    .runs()
    .map((run) => readLog(namesOf(world, run).log).records.map(({ id }) => id))
  unlinkSync(namesOf(world, world.runs()[0]!).log)
  await purge(world)
  const after = world
    .runs()
    .map((run) => readLog(namesOf(world, run).log).records.map(({ id }) => id))
  expect(after).toEqual(before)
  for (const { log, link } of world.runs().map((run) => namesOf(world, run)))
    expect(statSync(link).ino).toBe(statSync(log).ino)
  expect(filesWith(world.project.root, SECRET)).toEqual([])
})

test('a run purged while it works finishes, loses no entry and warns that it may write the text again', async () => {
  const world = new RunWorld()
  const tasks = await world.tasks(
    { title: 'First', description: `log in with ${SECRET}` },
    'Second',
  )
  const folder = scratchFolder()
  const [isThere, mayGoOn] = [join(folder, 'there'), join(folder, 'go-on')]
  const wait = { run: `touch ${isThere}; while [ ! -e ${mayGoOn} ]; do sleep 0.05; done` }
  const script = world.script({
    first: [[{ failed: `${SECRET} is refused` }], [wait, ...doing('first')]],
  })
  const handle = await world.start({ script })
  await expect.poll(() => existsSync(isThere)).toBe(true)
  const [run] = world.runs()
  const { log, link } = namesOf(world, run!)
  const before = readLog(log).records.map(({ id }) => id)
  const inode = statSync(log).ino

  const program = world.project.path('.sessions', 'runs', run!, 'bin', 'stint')
  const own = readFileSync(program, 'utf8')
  await purge(world)
  expect(statSync(log).ino).not.toBe(inode)
  expect(world.project.messages.join()).toMatch(/is going on and may write down again/)
  // Part of a path without which the agent could not report.
  const partOfPath = await purge(world, findStintProgram())
  expect(readFileSync(program, 'utf8')).toBe(own)
  expect(partOfPath.remaining).toContain(join('.sessions', 'runs', run!, 'bin', 'stint'))

  writeFileSync(mayGoOn, '')
  const report = await handle.ended
  await expectNoneLeft(`STINT_RUN=${run}`)
  expect(report.how).toBe('finished')
  expect(world.closings()).toEqual(Object.fromEntries(tasks.map(({ id }) => [id, 1])))
  const { records, damage } = readLog(log)
  expect(damage).toEqual([])
  expect(records.slice(0, before.length).map(({ id }) => id)).toEqual(before)
  expect(records.at(-1)!.kind).toBe('run.ended')
  expect(statSync(link).ino).toBe(statSync(log).ino)
  await purge(world)
  expect(filesWith(world.project.root, SECRET)).toEqual([])
})

test('reports saved code that contains the secret, also in its commits, and drops it when asked', async () => {
  const world = new RunWorld()
  const token = 'sUp3rs3cr3tValue'
  await world.tasks('Leak', 'Clean')
  const leaked = [{ write: { path: 'env.txt', text: `TOKEN: ${token}\n` } }, { commit: 'keep it' }]
  const taken = [
    { write: { path: 'env.txt', text: 'TOKEN: none\n' } },
    { commit: 'take it out' },
    { failed: 'too hard' },
  ]
  const failing = [
    { write: { path: 'half.txt', text: 'half\n' } },
    { commit: 'half' },
    { failed: 'too hard' },
  ]
  const { run } = await world.run({
    script: world.script({ leak: [[...leaked, ...taken]], clean: [failing] }),
  })
  const refs = () =>
    world.project
      .git('for-each-ref', '--format=%(refname)', 'refs/stint/runs')
      .split('\n')
      .filter(Boolean)
  expect(refs()).toHaveLength(2)
  unlinkSync(world.project.path('.sessions', 'script.json'))

  const named = await purge(world, token)
  // The handoff to the second conversation also saved the code, with the commits before it.
  const ofRun = named.checkpoints.filter((code) => code.run === run)
  expect(ofRun).toMatchObject([{ files: ['env.txt'], isDropped: false, isInHistory: false }])
  expect(refs()).toContain(`refs/stint/runs/${run}/${ofRun[0]!.attempt}`)
  expect(named.checkpoints.filter((code) => code.session !== undefined)).toHaveLength(1)
  expect(named).toMatchObject({
    isComplete: false,
    remainingCode: named.checkpoints.map(({ ref }) => ref),
  })
  const leak = world.project.git('rev-parse', `${ofRun[0]!.ref}~1:env.txt`).trim()
  expect(world.project.git('cat-file', '-p', leak)).toContain(token)

  const dropped = await purge(world, token, true)
  expect(dropped).toMatchObject({ isComplete: true, remainingCode: [] })
  expect(refs()).toHaveLength(1)
  world.project.git('reflog', 'expire', '--expire-unreachable=now', '--all')
  world.project.git('gc', '--quiet', '--prune=now')
  expect(() => world.project.git('cat-file', '-e', leak)).toThrow()
})

test('keeps refs to saved code and process tags that contain the text by chance intact', async () => {
  const world = new RunWorld()
  await world.tasks('Hard')
  const failing = [{ write: { path: 'half.txt', text: 'half\n' } }, { failed: 'too hard' }]
  const { run } = await world.run({ script: world.script({ hard: [failing] }) })
  const kept = () => String((world.logged('task.parked')[0]!.data as { kept?: string }).kept)
  const mark = () =>
    (world.logged('conversation.opened')[0]!.data as { process: { mark: string } }).process.mark
  const [ref, word] = [kept(), mark()]
  await purge(world, run.slice(0, 8))
  await purge(world, word.slice(4, 12))
  expect([kept(), mark()]).toEqual([ref, word])
  expect(world.project.git('rev-parse', '--verify', ref)).not.toBe('')
})
