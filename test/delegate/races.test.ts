import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type MockInstance, describe, expect, onTestFinished, test, vi } from 'vitest'
import { startInBackground } from '../../src/run/delegate/start-delegate.ts'
import { discardDelegate, stopDelegate } from '../../src/run/control/delegate-operations.ts'
import { delegateClaim, withClaim } from '../../src/run/delegate/delegates.ts'
import { processStartTime } from '../../src/harness/process/spawn-guarded.ts'
import { RunLog } from '../../src/run/run-log.ts'
import { Claims } from '../../src/run/loop/claims.ts'
import { thisProcess } from '../../src/run/loop/start-run.ts'
import { type Delegate, DelegateWorld } from './delegate-world.ts'

/** Runs a command while another process restarts the delegate just before its turn. */
async function whileRestarted<T>(
  world: DelegateWorld,
  delegate: Delegate,
  work: () => Promise<T>,
): Promise<T> {
  const { paths, config } = world.workspace()
  const log = new RunLog(paths, delegate.id, config)
  const claim = vi.spyOn(Claims.prototype, 'claim')
  onTestFinished(() => claim.mockRestore())
  let worked!: Promise<T>
  await withClaim(paths, delegateClaim(delegate.id), async () => {
    worked = work()
    worked.catch(() => undefined)
    // By now it has read the state, and waits.
    await expect.poll(() => isRefused(claim, delegateClaim(delegate.id))).toBe(true)
    log.append('run.resumed', { runner: thisProcess() })
  })
  log.close()
  return worked
}

function isRefused({ mock }: MockInstance<Claims['claim']>, what: string): boolean {
  return mock.calls.some(([task], i) => task === what && mock.results[i]?.value === false)
}

describe('a delegate restarted at the last moment', () => {
  test('is not discarded and keeps its worktree', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    const discard = () => discardDelegate(world.workspace(), one.state())
    await expect(whileRestarted(world, one, discard)).rejects.toMatchObject({
      code: 'DELEGATE_BUSY',
    })
    expect(one.state().status).toBe('running')
    expect(world.worktrees()).toEqual([one.tree])
  })

  test('is not merged', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    const before = world.commitOf('main')
    const outcome = await whileRestarted(world, one, () => world.mergeOne(one))
    expect(outcome).toMatchObject({ how: 'not ready', because: 'it is still running' })
    expect(world.commitOf('main')).toBe(before)
    expect(one.steps()).not.toContain('merge.begun')
  })
})

test('does not move a checkout while a delegate works in it', async () => {
  const world = new DelegateWorld()
  const under = world.delegate('under', { status: 'running' })
  const one = world.delegate('one', { order: { target: under.branch } })
  under.append('run.resumed', { runner: thisProcess() })
  const tip = under.tip()
  expect(await world.mergeOne(one)).toMatchObject({
    how: 'waiting',
    because: expect.stringContaining('under is at work in') as unknown,
  })
  expect(under.tip()).toBe(tip)
  under.move({ to: 'failed', because: 'stopped' })
  expect(await world.mergeOne(one)).toMatchObject({ how: 'merged' })
})

test("ends a delegate's process even if the delegate was marked failed meanwhile", async () => {
  const world = new DelegateWorld()
  const one = world.delegate('one', { status: 'running' })
  const child = spawn('sleep', ['600'], { stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  const { paths, config } = world.workspace()
  const log = new RunLog(paths, one.id, config)
  log.append('run.resumed', {
    runner: { pid: child.pid!, startedAt: processStartTime(child.pid!), mark: '' },
  })
  log.append('delegate.moved', { to: 'failed', because: 'it was never begun' })
  log.close()
  await stopDelegate(world.workspace(), one.state())
  expect((await exited)[1]).toBe('SIGTERM')
})

test('restarts no more delegates than may run at once', async () => {
  const world = new DelegateWorld()
  world.config('delegates: { most: 1 }\n')
  const busy = world.delegate('busy', { status: 'running' })
  const one = world.delegate('one', { status: 'failed' })
  const { paths, config } = world.workspace()
  const log = new RunLog(paths, busy.id, config)
  log.append('run.resumed', { runner: thisProcess() })
  log.close()
  await expect(startInBackground(world.workspace(), one.id)).rejects.toMatchObject({
    code: 'TOO_MANY_DELEGATES',
  })
  expect(one.state().status).toBe('failed')
})

test('keeps the open rejection when a retried merge has to wait', async () => {
  const world = new DelegateWorld()
  const one = world.delegate('one', { commits: [{ 'a.txt': 'ours\n' }] })
  world.project.commit('theirs', { 'a.txt': 'theirs\n' })
  expect(await world.mergeOne(one)).toMatchObject({ how: 'conflicted' })
  const { openRejection } = one.state()
  // The merge no longer conflicts, but cannot land.
  world.project.git('revert', '--no-edit', 'HEAD')
  world.project.write('a.txt', 'not committed\n')
  expect(await world.mergeOne(one)).toMatchObject({ how: 'waiting' })
  expect(one.state()).toMatchObject({ status: 'ready', openRejection })
})

test('verifies a merge with the same name, ports and variables as the proof', async () => {
  const world = new DelegateWorld()
  world.config(
    'verify: test "$STINT_DELEGATE:$DATABASE" = one:app_3\ndelegates:\n  env: ["DATABASE=app_{slot}"]\n',
  )
  const one = world.delegate('one', { order: { slot: 3 } })
  expect(await world.mergeOne(one)).toMatchObject({ how: 'merged' })
})
