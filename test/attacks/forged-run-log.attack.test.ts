// A clone brings the log of a "dead delegate" that names a folder, a process and a branch of the attacker's choice.
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { mintId } from '../../src/journal/ids.ts'
import { encodeRecord } from '../../src/journal/record.ts'
import { program, terminal } from '../support/cli.ts'
import { freePort, serve } from '../support/serve.ts'

const MARK = randomBytes(16).toString('hex')
/** Too short for a tag. An empty one would fit every process of whoever runs this test without the guard. */
const PART = MARK.slice(0, 12)

interface Forgery {
  /** The tag of the agent's process. */
  readonly mark: string
  readonly tree: string
  readonly isInPlace?: boolean
}

/** A clone with a forged log, an unrelated process of the user, and a trap that a filter would spring. */
async function clonedProject(forge: (place: { root: string; bare: string }) => Forgery) {
  const { cwd: root, env, folder, git } = terminal()
  const trap = join(folder, 'sprung')
  const bare = join(root, 'fixtures', 'repository')
  const evil = join(folder, 'evil.sh')
  writeFileSync(evil, `#!/bin/sh\n: > '${trap}'\ncat\n`)
  chmodSync(evil, 0o755)
  git('init', '-q', '--bare', '-b', 'stint/forged', bare)
  const inBare = (...args: string[]) => git('-C', bare, ...args)
  inBare('config', 'core.bare', 'false')
  inBare('config', 'core.worktree', root)
  inBare('config', 'filter.evil.clean', evil)
  inBare('config', 'core.fsmonitor', evil)
  mkdirSync(join(bare, 'info'), { recursive: true })
  writeFileSync(join(bare, 'info', 'attributes'), '* filter=evil\n')
  writeFileSync(join(root, 'private.txt'), 'untracked, and nobody may commit it\n')
  git('branch', 'stint/forged')

  const id = mintId(undefined)
  const { mark, tree, isInPlace = false } = forge({ root, bare })
  const nobody = { pid: 2 ** 22 - 1, startedAt: '1', mark: '' }
  const order = {
    name: 'forged',
    what: 'x',
    target: 'main',
    isReadOnly: false,
    files: [],
    slot: 0,
    brief: '',
  }
  const base = git('rev-parse', 'HEAD').trim()
  const entries = [
    [
      'run.started',
      {
        options: { harness: 'rehearsal', verify: `: > '${trap}'` },
        harness: 'rehearsal',
        source: '.tasks',
        tree,
        branch: isInPlace ? 'main' : 'stint/forged',
        base,
        isInPlace,
        runner: nobody,
        delegate: order,
      },
    ],
    ['run.resumed', { runner: nobody }],
    [
      'conversation.opened',
      { number: 1, session: id, setup: 0, process: { pid: process.pid, startedAt: '1', mark } },
    ],
  ] as const
  const records = entries.map(([kind, data]) => {
    const at = new Date().toISOString()
    return encodeRecord({ id: mintId(undefined), at, kind, by: 'run', data })
  })
  const log = join(root, '.sessions', 'runs', id)
  mkdirSync(log, { recursive: true })
  writeFileSync(join(log, 'log.jsonl'), Buffer.concat(records))

  const victim = spawn('sleep', ['600'], { env: { ...env, MARKED: MARK }, stdio: 'ignore' })
  await once(victim, 'spawn')
  onTestFinished(() => void victim.kill('SIGKILL'))
  const before = git('for-each-ref') + git('status', '--porcelain', '--untracked-files=all')
  return {
    root,
    env,
    id,
    git,
    stint(...args: string[]) {
      const { stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
        cwd: root,
        env,
        encoding: 'utf8',
      })
      return stdout + stderr
    },
    expectNothingDone() {
      expect(existsSync(trap)).toBe(false)
      expect([victim.exitCode, victim.signalCode]).toEqual([null, null])
      const status = git('status', '--porcelain', '--untracked-files=all')
      const now = git('for-each-ref') + status.replaceAll(/^.*\.(?:sessions|tasks)\/.*\n/gm, '')
      expect(now).toBe(before.replaceAll(/^.*\.(?:sessions|tasks)\/.*\n/gm, ''))
      expect(readFileSync(join(root, 'private.txt'), 'utf8')).toContain('untracked')
    },
  }
}

const COMMANDS = [
  ['delegates'],
  ['delegates', '--all', '--json'],
  ['delegate', 'show', 'forged'],
  ['delegate', 'show'],
  ['delegate', 'wait'],
  ['delegate', 'stop'],
  ['delegate', 'stop', 'forged'],
  ['delegate', 'retry', 'forged'],
  ['delegate', 'discard', '--yes'],
  ['merge', '--all'],
  ['merge', 'forged'],
  ['runs'],
  ['run', '--resume'],
  ['task', 'tree'],
  ['list'],
  ['ledger'],
  ['doctor'],
  ['doctor', '--repair'],
]

test.each<[string, (place: { root: string; bare: string }) => Forgery]>([
  ['a bare repository among its files', ({ bare }) => ({ tree: bare, mark: MARK })],
  ['the user’s checkout', ({ root }) => ({ tree: root, mark: MARK, isInPlace: true })],
  [
    'a process by a part of its environment',
    ({ root }) => ({ tree: root, mark: PART, isInPlace: true }),
  ],
])(
  'no command acts on a run log of a clone that names %s',
  async (_name, forge) => {
    const world = await clonedProject(forge)
    for (const args of COMMANDS) {
      const printed = world.stint(...args)
      world.expectNothingDone()
      if (args[0] === 'delegates') expect(printed).not.toContain('forged')
    }
    world.stint('delegate', 'work', world.id)
    world.stint('run', '--resume', world.id)
    world.expectNothingDone()
  },
  240_000,
)

test('the page and its API act on no run log of a clone', async () => {
  const world = await clonedProject(({ bare }) => ({ tree: bare, mark: MARK }))
  const served = await serve(world.root, world.env, '--port', await freePort())
  onTestFinished(() => served.stop())
  const token = new URL(served.url).searchParams.get('token')!
  const headers = { cookie: `stint-${new URL(served.url).port}=${token}` }
  for (const path of ['delegates', `delegates/${world.id}`, 'runs', `runs/${world.id}`, 'usage']) {
    const response = await fetch(`${served.origin}/api/${path}`, { headers })
    const body = await response.text()
    if (path === 'delegates' || path === 'runs')
      expect([response.status, body]).toEqual([200, '[]'])
  }
  world.expectNothingDone()
})

test('doctor counts the run logs that it ignores', async () => {
  const world = await clonedProject(({ bare }) => ({ tree: bare, mark: MARK }))
  expect(world.stint('doctor')).toContain(
    '1 run log in .sessions/runs/ not written on this machine, and ignored',
  )
})

test('claims that came with a clone hold no task back and end no process', async () => {
  const world = await clonedProject(({ bare }) => ({ tree: bare, mark: MARK }))
  const claim = { task: 'merge queue', run: '', runner: { pid: 1, startedAt: '', mark: '' } }
  const at = new Date().toISOString()
  const record = { id: mintId(undefined), at, kind: 'task.claimed', by: 'run', data: claim }
  writeFileSync(join(world.root, '.sessions', 'runs', 'claims.jsonl'), encodeRecord(record))
  expect(world.stint('merge', '--all')).toContain('No delegate is ready')
  world.expectNothingDone()
})
