// Kills a merge before and after each git call. Afterwards the target has all of it or nothing.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recoverMerge } from '../../../src/run/merge/reconcile.ts'
import { bundleProgram } from '../../support/bundle.ts'
import { temporaryFolder } from '../../support/scratch.ts'
import { type Delegate, DelegateWorld } from '../delegate-world.ts'

const folder = temporaryFolder()
const program = join(folder, 'merge.worker.mjs')
const calls = join(folder, 'calls')

// A git wrapper on the PATH that logs its calls and kills the caller at the nth.
const SHIM = `#!/bin/sh
echo "$*" >> ${calls}
n=$(wc -l < ${calls})
[ "$KILL_BEFORE" = "$n" ] && kill -9 $PPID && exit 1
PATH="\${PATH#*:}" git "$@"
code=$?
[ "$KILL_AFTER" = "$n" ] && kill -9 $PPID
exit $code
`

beforeAll(async () => {
  writeFileSync(join(folder, 'git'), SHIM)
  chmodSync(join(folder, 'git'), 0o755)
  await bundleProgram(fileURLToPath(new URL('merge.worker.ts', import.meta.url)), program)
})
afterAll(() => rmSync(folder, { recursive: true }))

interface Kill {
  readonly before?: number
  readonly after?: number
}

/** Runs it in its own process. Returns its git calls, and whether it was killed. */
function worker(
  { world, id }: Delegate,
  verb: 'merge' | 'recover',
  { before = 0, after = 0 }: Kill = {},
) {
  writeFileSync(calls, '')
  const PATH = [folder, process.env['PATH']].join(delimiter)
  const env = { ...process.env, PATH, KILL_BEFORE: String(before), KILL_AFTER: String(after) }
  const { signal, stdout } = spawnSync(process.execPath, [program, world.project.root, verb, id], {
    env,
    encoding: 'utf8',
  })
  const asked = readFileSync(calls, 'utf8').split('\n').filter(Boolean)
  return { wasKilled: signal === 'SIGKILL', asked, last: stdout.trim().split('\n').at(-1) }
}

/** A delegate whose merge needs a merge commit, into a target that may be checked out. */
function scene(target: string): Delegate {
  const world = new DelegateWorld()
  if (target !== 'main') world.project.git('branch', target)
  const delegate = world.delegate('one', {
    order: { target },
    commits: [{ 'one.txt': '1\n' }, { 'one.txt': '2\n' }],
  })
  if (target !== 'main') world.project.git('switch', '--quiet', target)
  world.project.commit('meanwhile', { 'b.txt': 'b\n' })
  if (target !== 'main') world.project.git('switch', '--quiet', 'main')
  return delegate
}

/** After the recovery: all or nothing, and nothing lost. Then the next merge completes it. */
async function expectWhole(
  delegate: Delegate,
  commits: ReadonlySet<string>,
  from: string,
  target: string,
): Promise<void> {
  const { world } = delegate
  const { status } = await recoverMerge(world.workspace(), delegate.state())
  const now = world.commitOf(target)
  if (status === 'merged') expect(world.project.git('show', `${target}:one.txt`)).toBe('2\n')
  else expect({ status, now }).toEqual({ status: 'ready', now: from })
  for (const commit of commits) expect(world.reachable()).toContain(commit)
  expect(world.project.git('status', '--porcelain', '--', 'a.txt', 'b.txt', 'one.txt')).toBe('')
  const again = await recoverMerge(world.workspace(), delegate.state())
  expect(again.status).toBe(status)
  await world.merge([delegate])
  expect(delegate.state().status).toBe('merged')
  expect(delegate.steps().filter((step) => step === 'merged')).toHaveLength(1)
  expect(world.project.git('rev-list', '--count', `${from}..${target}`).trim()).toBe('3')
  expect(world.worktrees()).toEqual([])
  expect(existsSync(delegate.tree)).toBe(false)
  expect(world.references('refs/heads/stint')).toEqual([])
  expect(world.references('refs/stint')).toEqual([])
}

/** Calls that change something, so that a kill after differs from a kill before. */
const CHANGES = /worktree (?:add|remove)|update-ref|(?:^| )merge --/

describe.each(['main', 'side'])('a killed merge into %s', (target) => {
  test(
    'before or after any git call has done all or nothing, and loses nothing',
    { timeout: 300_000 },
    async () => {
      const { asked, wasKilled, last } = worker(scene(target), 'merge')
      expect({ wasKilled, last }).toEqual({ wasKilled: false, last: 'merged' })
      expect(asked.filter((call) => CHANGES.test(call)).length).toBeGreaterThanOrEqual(6)
      // For a target that is not checked out, only the calls that differ are tested.
      const isOther = (call: string) => target === 'main' || /update-ref/.test(call)
      const kills = asked.flatMap((call, index): Kill[] => [
        ...(isOther(call) ? [{ before: index + 1 }] : []),
        ...(isOther(call) && CHANGES.test(call) ? [{ after: index + 1 }] : []),
      ])
      for (const kill of kills) {
        const delegate = scene(target)
        const { world } = delegate
        const from = world.commitOf(target)
        const commits = world.reachable()
        const killed = worker(delegate, 'merge', kill)
        expect({ kill, wasKilled: killed.wasKilled }).toEqual({ kill, wasKilled: true })
        await expectWhole(delegate, commits, from, target)
      }
    },
  )
})

test('repeats a recovery that is killed itself', { timeout: 300_000 }, async () => {
  const landing = /(?:^| )merge .*--ff-only/
  const { asked } = worker(scene('main'), 'merge')
  const at = asked.findIndex((call) => landing.test(call)) + 1
  for (const kill of [{ before: at }, { after: at }] as const) {
    const first = scene('main')
    worker(first, 'merge', kill)
    const steps = worker(first, 'recover').asked.flatMap((call, index) =>
      CHANGES.test(call) ? [index + 1] : [],
    )
    expect(steps.length).toBeGreaterThan(0)
    for (const step of steps) {
      const delegate = scene('main')
      const from = delegate.world.commitOf('main')
      const commits = delegate.world.reachable()
      worker(delegate, 'merge', kill)
      expect(worker(delegate, 'recover', { before: step }).wasKilled).toBe(true)
      await expectWhole(delegate, commits, from, 'main')
    }
  }
})
