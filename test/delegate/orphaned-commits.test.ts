import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { discardDelegate } from '../../src/run/control/delegate-operations.ts'
import { git } from '../support/scratch.ts'
import { type Delegate, DelegateWorld } from './delegate-world.ts'
import { WorkingWorld } from './working-world.ts'

const head = ({ tree }: Delegate) => git(tree, 'rev-parse', 'HEAD').trim()

function commitIn(one: Delegate, message: string, ...how: readonly string[]): string {
  git(one.tree, 'commit', '--quiet', '--allow-empty', '-m', message, ...how)
  return head(one)
}

/** Ways in which an agent can orphan its commits. */
const LEAVING: Readonly<Record<string, (one: Delegate) => readonly string[]>> = {
  'amends away': (one) => {
    const made = commitIn(one, 'first try')
    commitIn(one, 'second try', '--amend')
    return [made]
  },
  'makes on no branch and comes back from': (one) => {
    git(one.tree, 'checkout', '--quiet', '--detach')
    const made = [commitIn(one, 'aside'), commitIn(one, 'further aside')]
    git(one.tree, 'checkout', '--quiet', one.branch)
    return made
  },
  'makes on no branch and stays at': (one) => {
    git(one.tree, 'checkout', '--quiet', '--detach')
    return [commitIn(one, 'aside')]
  },
  'resets its branch from': (one) => {
    const made = [commitIn(one, 'gone'), commitIn(one, 'gone too')]
    git(one.tree, 'reset', '--quiet', '--hard', 'HEAD~2')
    return made
  },
}

for (const [how, leave] of Object.entries(LEAVING)) {
  test(`keeps commits that an agent ${how} when its work is merged`, async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one', { status: 'running' })
    const made = leave(one)
    one.move({ to: 'ready', commit: one.tip() })
    expect(await world.mergeOne(one)).toMatchObject({ how: 'merged' })
    expect(existsSync(one.tree)).toBe(false)
    for (const commit of made) expect(world.reachable()).toContain(commit)
    expect(world.references('refs/stint')).toEqual([`refs/stint/runs/${one.id}/lost-1`])
    expect(world.mergeMessages().join('\n')).toContain(`git log refs/stint/runs/${one.id}/lost-1`)
  })

  test(`keeps commits that an agent ${how} when it is discarded`, async () => {
    const world = new DelegateWorld()
    const one = world.delegate('one', { status: 'failed' })
    const made = leave(one)
    await discardDelegate(world.workspace(), one.state())
    expect(existsSync(one.tree)).toBe(false)
    for (const commit of made) expect(world.reachable()).toContain(commit)
  })
}

test('keeps commits of a read-only delegate when its worktree is removed', async () => {
  const world = new WorkingWorld()
  const aside =
    'git checkout -q --detach && git commit -q --allow-empty -m aside && git checkout -q -'
  const script = {
    review: [
      [
        { run: aside },
        { write: { path: 'REPORT.md', text: 'All is well.\n' } },
        { done: 'looked' },
      ],
    ],
  }
  const state = await world.delegate(script, { what: 'look around', as: 'review' })
  expect(state).toMatchObject({ status: 'ready', order: { isReadOnly: true } })
  expect(existsSync(state.run.started.tree)).toBe(false)
  expect(
    world.project.git('log', '-1', '--format=%s', `refs/stint/runs/${state.id}/lost-1`).trim(),
  ).toBe('aside')
})

test('keeps the newest of very many, and reports that there were more', async () => {
  const world = new DelegateWorld()
  const one = world.delegate('one', { status: 'running' })
  const from = one.tip()
  const commits = Array.from({ length: 53 }, (_, number) =>
    [
      `commit refs/heads/${one.branch}`,
      `committer Test <test@example.invalid> ${1_700_000_000 + number} +0000`,
      `data 2\n${number + 10}`,
      `from ${from}`,
      '\ncheckpoint\n',
    ].join('\n'),
  )
  execFileSync('git', ['fast-import', '--quiet', '--force'], {
    cwd: one.tree,
    input: commits.join(''),
  })
  one.move({ to: 'ready', commit: one.tip() })
  await world.mergeOne(one)
  const kept = world.project
    .git('for-each-ref', '--format=%(subject)', 'refs/stint')
    .trim()
    .split('\n')
    .toSorted()
  expect(kept).toEqual(Array.from({ length: 50 }, (_, number) => `${number + 12}`))
  expect(world.mergeMessages().join('\n')).toContain(
    '52 times commits were left on no branch; the newest 50 are kept',
  )
})
