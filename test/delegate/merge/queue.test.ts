import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { MergeProposal } from '../../../src/run/delegate/delegate-row.ts'
import { integrationTree } from '../../../src/run/merge/target-branch.ts'
import { mergeWithContext } from '../../../src/run/merge/merge-queue.ts'
import { QUEUE_CLAIM, claimQueue } from '../../../src/run/delegate/delegates.ts'
import { recoverMerge } from '../../../src/run/merge/reconcile.ts'
import type { MergeStep } from '../../../src/run/merge/merge-context.ts'
import { processStartTime } from '../../../src/harness/process/spawn-guarded.ts'
import { StintError } from '../../../src/journal/errors.ts'
import { Claims } from '../../../src/run/loop/claims.ts'
import { git } from '../../support/scratch.ts'
import { type Delegate, DelegateWorld, NOBODY } from '../delegate-world.ts'

const SELF = { pid: process.pid, startedAt: processStartTime(process.pid), mark: '' }

/** A process that lives until the test ends. */
function somebody() {
  const child = spawn('sleep', ['600'], { stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { pid: child.pid!, startedAt: processStartTime(child.pid!), mark: '' }
}

describe('the queue', () => {
  test('has one holder at a time, even within one process: the other waits, reports it once, and follows', async () => {
    const world = new DelegateWorld()
    const isAwaited = world.project.path('.sessions', 'is-awaited')
    const one = world.delegate('one', {
      verify: `until [ -e ${isAwaited} ]; do sleep 0.02; done`,
    })
    const two = world.delegate('two', { verify: 'true' })
    const merging = Promise.all([world.merge([one]), world.merge([two])])
    const waits = () =>
      world.mergeMessages().filter((text) => text.includes('somebody else merges'))
    await expect.poll(waits).toHaveLength(1)
    world.project.write('.sessions/is-awaited', '')
    await merging
    expect(waits()).toHaveLength(1)
    const spans = world.events.flatMap((event) =>
      event.kind === 'verify.started' || event.kind === 'verify.ended'
        ? [`${event.delegate} ${event.kind}`]
        : [],
    )
    expect(spans).toEqual([
      'one verify.started',
      'one verify.ended',
      'two verify.started',
      'two verify.ended',
    ])
    expect([one, two].map((delegate) => delegate.state().status)).toEqual(['merged', 'merged'])
  })

  test('is waited for until stopped', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    const { paths } = world.workspace()
    const other = new Claims(paths, 'other', somebody())
    expect(other.claim(QUEUE_CLAIM)).toBe(true)
    const stopping = new AbortController()
    const merging = world.merge([one], { isStopped: stopping.signal })
    stopping.abort()
    expect(await merging).toMatchObject([{ how: 'waiting', because: 'stopped before its turn' }])
    expect(one.steps()).toEqual(['ready'])
  })

  test('is not held up by a holder that died', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    const letGo = await claimQueue(world.workspace().paths, NOBODY, {
      isStopped: new AbortController().signal,
      waiting: () => undefined,
    })
    expect(letGo).toBeDefined()
    expect((await world.mergeOne(one)).how).toBe('merged')
  })

  test('refuses an agent in a run', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    process.env['STINT_RUN'] = one.id
    onTestFinished(() => void delete process.env['STINT_RUN'])
    await expect(world.merge([one])).rejects.toMatchObject({ code: 'IN_RUN' })
  })

  test('continues with the others when git fails for one, which stays ready', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    const two = world.delegate('two')
    // Unrelated histories.
    const foreign = world.project.git('commit-tree', '-m', 'foreign', 'HEAD^{tree}').trim()
    git(one.tree, 'reset', '--quiet', '--hard', foreign)
    const outcomes = await world.merge([one, two])
    expect(outcomes.map(({ how }) => how)).toEqual(['waiting', 'merged'])
    expect(outcomes[0]!.because).toContain('unrelated histories')
    expect(one.state()).toMatchObject({
      status: 'ready',
      ready: { commit: foreign, summary: 'one is written' },
    })
  })

  test('continues with the others after a defect, and throws it at the end', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    const two = world.delegate('two')
    const review = async ({ name }: MergeProposal) => {
      if (name === 'one') throw new TypeError('a mistake')
      return true
    }
    await expect(world.merge([one, two], { review })).rejects.toThrow('a mistake')
    expect([one, two].map((delegate) => delegate.state().status)).toEqual(['ready', 'merged'])
  })
})

describe('a delegate that is not ready', () => {
  test.each([
    ['running', 'nobody runs it any more, and it is not finished', 'stint delegate retry one'],
    ['failed', 'it failed', 'stint delegate retry one'],
    ['discarded', 'it is discarded already', undefined],
    ['merged', 'it is merged already', undefined],
  ] as const)(
    'because it is %s is not touched, with the reason and the next command',
    async (status, because, next) => {
      const world = new DelegateWorld()
      const one = world.delegate('one', { status })
      const steps = one.steps()
      expect(await world.mergeOne(one)).toEqual({
        delegate: one.id,
        name: 'one',
        target: 'main',
        how: 'not ready',
        because,
        ...(next === undefined ? {} : { next }),
      })
      expect(one.steps()).toEqual(steps)
      expect(existsSync(one.tree)).toBe(true)
      expect(world.project.names()).not.toContain('one.txt')
    },
  )

  test('because it is read-only has a report and no merge', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one', { order: { isReadOnly: true } })
    expect(await world.mergeOne(one)).toMatchObject({
      how: 'not ready',
      because: 'it only reads; stint delegate show one has its report',
    })
  })

  test('because a live process merges it is left to that process', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    const merger = somebody()
    one.append('merge.begun', {
      target: 'main',
      onto: world.commitOf('main'),
      tip: one.tip(),
      merger,
      tree: '/nowhere',
    })
    expect(await world.mergeOne(one)).toMatchObject({
      how: 'not ready',
      because: `process ${merger.pid} merges it`,
    })
    expect((await recoverMerge(world.workspace(), one.state())).status).toBe('merging')
    expect(one.steps()).toEqual(['ready', 'merge.begun'])
  })

  test('because its branch is empty closes nothing, even if it was parked', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one', { commits: [], status: 'parked' })
    expect(await world.mergeOne(one)).toMatchObject({
      how: 'not ready',
      because: 'it has nothing that could be merged',
    })
    expect(one.steps()).toEqual(['parked'])
  })

  test('because its branch and commit are gone is reported', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one', { status: 'parked' })
    world.project.git('worktree', 'remove', one.tree)
    world.project.git('branch', '-D', one.branch)
    expect(await world.mergeOne(one)).toMatchObject({
      how: 'not ready',
      because: 'its branch stint/one is gone',
    })
  })
})

describe('merged work', () => {
  test('is the current branch, with a message when it differs from the proved commit', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    one.commit({ 'more.txt': 'more\n' })
    expect((await world.mergeOne(one)).how).toBe('merged')
    expect(world.project.read('more.txt')).toBe('more\n')
    expect(world.mergeMessages().join('\n')).toContain(
      'stint/one is not where it was proved any more',
    )
  })

  test('is the proved commit when the branch is missing', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    world.project.git('worktree', 'remove', one.tree)
    world.project.git('branch', '-D', one.branch)
    expect((await world.mergeOne(one)).how).toBe('merged')
    expect(world.project.read('one.txt')).toBe('one\n')
  })

  test('merged by hand counts as merged', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one', { verify: 'false' })
    world.project.git('merge', '--quiet', '--no-ff', '-m', 'by hand', one.branch)
    expect(await world.mergeOne(one)).toMatchObject({
      how: 'merged',
      commit: world.commitOf('main'),
    })
    expect(one.steps()).toEqual(['ready', 'merge.begun', 'merged'])
    expect(world.worktrees()).toEqual([])
  })

  test('merged by hand after a rebase counts as merged', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    world.project.commit('meanwhile', { 'b.txt': '' })
    git(one.tree, 'rebase', '--quiet', 'main')
    world.project.git('merge', '--quiet', '--ff-only', one.branch)
    expect(await world.mergeOne(one)).toMatchObject({
      how: 'merged',
      commit: world.commitOf('main'),
    })
  })

  test('keeps worktree and branch that hold uncommitted files, and reports it', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    one.write('loose.txt', 'loose\n')
    expect((await world.mergeOne(one)).how).toBe('merged')
    expect(world.worktrees()).toEqual([one.tree])
    expect(world.references('refs/heads/stint')).toEqual(['refs/heads/stint/one'])
    expect(world.mergeMessages().join('\n')).toContain('loose.txt')
  })

  test('keeps a branch that is checked out elsewhere', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    git(one.tree, 'checkout', '--quiet', '--detach')
    const linked = join(one.tree, '..', 'mine')
    world.project.git('worktree', 'add', '--quiet', linked, one.branch)
    expect((await world.mergeOne(one)).how).toBe('merged')
    expect(world.worktrees()).toEqual([linked])
    expect(world.references('refs/heads/stint')).toEqual(['refs/heads/stint/one'])
  })

  test('keeps a branch that got new commits during verify', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one', {
      verify: `git -C $TREE commit --quiet --allow-empty -m more`,
    })
    process.env['TREE'] = one.tree
    onTestFinished(() => void delete process.env['TREE'])
    expect((await world.mergeOne(one)).how).toBe('merged')
    expect(world.project.git('log', '-1', '--format=%s', one.branch).trim()).toBe('more')
    expect(world.mergeMessages().join('\n')).toContain('it has gone on from what was merged')
  })

  test('keeps a branch that the user named', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one', { options: { branch: 'stint/one' } })
    expect((await world.mergeOne(one)).how).toBe('merged')
    expect(world.references('refs/heads/stint')).toEqual(['refs/heads/stint/one'])
  })
})

describe('a review', () => {
  test('shows what the target would gain, and a refusal leaves everything unchanged', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    const main = world.commitOf('main')
    const seen: MergeProposal[] = []
    const ask = (answer: boolean) => async (proposal: MergeProposal) => {
      seen.push(proposal)
      return answer
    }
    expect(await world.mergeOne(one, { review: ask(false) })).toMatchObject({
      how: 'refused',
      because: 'refused in review',
    })
    expect(seen).toEqual([
      {
        delegate: one.id,
        name: 'one',
        target: 'main',
        from: main,
        to: expect.any(String) as string,
        stat: expect.stringContaining('one.txt | 1 +') as string,
        summary: 'one is written',
        contradictions: [],
      },
    ])
    expect([world.commitOf(`${seen[0]!.to}^`), world.commitOf(`${seen[0]!.to}^2`)]).toEqual([
      main,
      one.tip(),
    ])
    expect(world.commitOf('main')).toBe(main)
    expect(one.state()).toMatchObject({
      status: 'ready',
      ready: { because: 'refused in review', summary: 'one is written' },
    })
    expect((await world.mergeOne(one, { review: ask(true) })).how).toBe('merged')
  })
})

describe('a stopped merge', () => {
  test('during the verify command leaves the delegate ready and the target unchanged', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one', { verify: 'sleep 987' })
    const two = world.delegate('two')
    const stopping = new AbortController()
    const { paths } = world.workspace()
    const merging = world.merge([one, two], { isStopped: stopping.signal })
    while (!world.events.some(({ kind }) => kind === 'verify.started'))
      await new Promise((resolve) => setTimeout(resolve, 10))
    stopping.abort()
    const outcomes = await merging
    expect(outcomes.map(({ how, because }) => `${how}: ${because}`)).toEqual([
      'waiting: the merge was stopped',
      'waiting: stopped before its turn',
    ])
    expect(one.state()).toMatchObject({
      status: 'ready',
      ready: { because: 'the merge was stopped', commit: one.tip() },
    })
    expect(existsSync(integrationTree(paths, one.id))).toBe(false)
    expect((await world.mergeOne(two)).how).toBe('merged')
  })

  test('during the review does not land, even if the user then approves', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    const main = world.commitOf('main')
    const stopping = new AbortController()
    const review = async () => {
      stopping.abort()
      return true
    }
    expect((await world.mergeOne(one, { review, isStopped: stopping.signal })).how).toBe('waiting')
    expect(world.commitOf('main')).toBe(main)
    expect(one.state().status).toBe('ready')
  })

  test('does not undo a discard or retry made during the merge', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    const review = async () => {
      one.move({ to: 'discarded' })
      return true
    }
    expect((await world.mergeOne(one, { review })).how).toBe('not ready')
    expect(one.state().status).toBe('discarded')
    expect(world.project.names()).not.toContain('one.txt')
    const two = world.delegate('two')
    const refuse = async () => {
      two.append('run.resumed', { runner: NOBODY })
      return false
    }
    await world.mergeOne(two, { review: refuse })
    expect(two.state().status).toBe('running')
  })
})

describe('a dry run', () => {
  test('reports what each would become, and changes nothing', async () => {
    const world = new DelegateWorld()
    world.config('verify: test ! -e red.txt\n')
    const green = world.delegate('green')
    const red = world.delegate('red')
    const clash = world.delegate('clash', { commits: [{ 'a.txt': 'ours\n' }] })
    world.project.commit('theirs', { 'a.txt': 'theirs\n' })
    const before = [
      world.project.git('for-each-ref'),
      world.worktrees(),
      world.project.names('.sessions', 'runs'),
    ]
    const objects = [green, red, clash].map((delegate) => delegate.steps())
    const outcomes = await world.merge([green, red, clash], { isDryRun: true })
    expect(outcomes).toMatchObject([
      { how: 'would merge' },
      { how: 'red', because: 'test ! -e red.txt ended with 1' },
      { how: 'conflicted', files: ['a.txt'] },
    ])
    expect([
      world.project.git('for-each-ref'),
      world.worktrees(),
      world.project.names('.sessions', 'runs'),
    ]).toEqual(before)
    expect([green, red, clash].map((delegate) => delegate.steps())).toEqual(objects)
    world.project.write('a.txt', 'dirty\n')
    expect((await world.mergeOne(green, { isDryRun: true })).how).toBe('waiting')
  })
})

describe('an error after the landing', () => {
  /** Merges with an error after a step. */
  const failingAt = (world: DelegateWorld, delegate: Delegate, step: MergeStep) => {
    const at = async (now: MergeStep) => {
      if (now === step) throw new StintError('SOME', 'the disk is full')
    }
    const isStopped = new AbortController().signal
    const scene = {
      workspace: world.workspace(),
      options: {},
      merger: SELF,
      isStopped,
      emit: () => undefined,
      afterStep: at,
      emittedMessages: new Set<string>(),
    }
    return mergeWithContext(scene, [delegate.id])
  }

  test('does not undo the merge; the next merge adds the missing records', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    const tip = one.tip()
    expect(await failingAt(world, one, 'landed')).toMatchObject([
      { how: 'waiting', next: 'stint merge one' },
    ])
    expect(world.commitOf('main^2')).toBe(tip)
    expect(one.state().status).toBe('merging')
    await world.merge([one])
    expect(one.steps()).toEqual(['ready', 'merge.begun', 'merge.landing', 'merged'])
    expect(world.worktrees()).toEqual([])
  })

  test('or just before it leaves the target unchanged and the delegate ready', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    const main = world.commitOf('main')
    expect(await failingAt(world, one, 'kept')).toMatchObject([
      { how: 'waiting', because: 'the disk is full' },
    ])
    expect(world.commitOf('main')).toBe(main)
    expect(one.state().status).toBe('ready')
  })

  test('during cleanup is reported, and the work stays merged', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    const main = world.commitOf('main')
    const gone = 'f'.repeat(40)
    one.append('merge.begun', {
      target: 'main',
      onto: main,
      tip: gone,
      merger: NOBODY,
      tree: '/nowhere',
    })
    one.append('merge.landing', { target: 'main', from: main, to: main })
    expect((await recoverMerge(world.workspace(), one.state())).status).toBe('merged')
    expect(world.messages.join('\n')).toContain('could be put away')
  })
})

describe('a merge whose process died', () => {
  test('is ready again when its commit is missing', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    const main = world.commitOf('main')
    one.append('merge.begun', {
      target: 'main',
      onto: main,
      tip: one.tip(),
      merger: NOBODY,
      tree: '/nowhere',
    })
    one.append('merge.landing', { target: 'main', from: main, to: 'f'.repeat(40) })
    expect((await recoverMerge(world.workspace(), one.state())).status).toBe('ready')
  })

  test('is ready again when the target never got it, and its remains are removed', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    const { paths } = world.workspace()
    const tree = integrationTree(paths, one.id)
    world.project.git('worktree', 'add', '--quiet', '--detach', tree)
    one.append('merge.begun', {
      target: 'main',
      onto: world.commitOf('main'),
      tip: one.tip(),
      merger: NOBODY,
      tree,
    })
    one.append('merge.landing', { target: 'main', from: world.commitOf('main'), to: one.tip() })
    const { status, ready } = await recoverMerge(world.workspace(), one.state())
    expect({ status, ready }).toMatchObject({
      status: 'ready',
      ready: { because: 'the merge was cut off', commit: one.tip(), summary: 'one is written' },
    })
    expect(world.worktrees()).toEqual([one.tree])
  })

  test('does not block the next with a worktree whose folder is missing', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    const tree = integrationTree(world.workspace().paths, one.id)
    world.project.git('worktree', 'add', '--quiet', '--detach', tree)
    rmSync(tree, { recursive: true })
    expect((await world.mergeOne(one)).how).toBe('merged')
    expect(world.worktrees()).toEqual([])
  })

  test('does not block the next with a folder unknown to git', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    mkdirSync(join(integrationTree(world.workspace().paths, one.id), 'x'), { recursive: true })
    expect((await world.mergeOne(one)).how).toBe('merged')
  })

  test('leaves no worktree once another is merged', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    const tree = integrationTree(world.workspace().paths, one.id)
    world.project.git('worktree', 'add', '--quiet', '--detach', tree)
    await world.merge([])
    expect(world.worktrees()).toEqual([one.tree])
  })

  test('in this same process is recovered by its next merge', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    one.append('merge.begun', {
      target: 'main',
      onto: world.commitOf('main'),
      tip: one.tip(),
      merger: SELF,
      tree: '/nowhere',
    })
    expect((await world.mergeOne(one)).how).toBe('merged')
    expect(one.steps()).toEqual([
      'ready',
      'merge.begun',
      'ready',
      'merge.begun',
      'merge.landing',
      'merged',
    ])
  })

  test('is recovered when any other delegate is merged', async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one')
    const two = world.delegate('two')
    one.append('merge.begun', {
      target: 'main',
      onto: world.commitOf('main'),
      tip: one.tip(),
      merger: NOBODY,
      tree: '/nowhere',
    })
    await world.merge([two])
    expect(one.state().status).toBe('ready')
  })
})
