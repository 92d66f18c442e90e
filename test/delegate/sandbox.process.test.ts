// An agent that may write its worktree and git's files, but not the journal. Uses real mounts where allowed.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, expect, test } from 'vitest'
import { doing } from '../run/run-world.ts'
import { scratchFolder } from '../support/scratch.ts'
import { WorkingWorld } from './working-world.ts'

/** A wrap command that mounts the project's journals read-only. */
function sandbox(context: TestContext, root: string): string {
  const folder = scratchFolder()
  try {
    execFileSync('unshare', ['-m', 'mount', '--bind', folder, folder], { stdio: 'ignore' })
  } catch {
    context.skip('mounting is not permitted here')
  }
  mkdirSync(join(folder, 'memory'))
  writeFileSync(
    join(folder, 'inside'),
    [
      '#!/bin/sh',
      'set -e',
      // The scripted agent stores its turns here.
      `memory="${root}/.sessions/runs/$STINT_RUN/rehearsal"`,
      'mkdir -p "$memory"',
      `for place in "${root}/.sessions" "${root}/.git/stint"; do`,
      '  mount --bind "$place" "$place"',
      '  mount -o remount,ro,bind "$place"',
      'done',
      `mount --bind "${folder}/memory" "$memory"`,
      'exec "$@"',
    ].join('\n'),
  )
  chmodSync(join(folder, 'inside'), 0o755)
  return `unshare -m ${folder}/inside`
}

test('records what a sandboxed agent reports in the journal it cannot write, once', async (context) => {
  const world = new WorkingWorld()
  await world.tasks({ title: 'One', checklist: [{ item: 'Say so', done: false }] })
  world.config(`delegates:\n  wrap: ${sandbox(context, world.project.root)}\n`)
  const script = {
    one: [
      [
        { run: `! touch ${world.project.root}/.sessions/x 2> /dev/null` },
        {
          run: 'stint log --step "Look around" --discovery "from in there, API_KEY=sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"',
        },
        { run: 'stint log --done "Look around" && stint task check one 1' },
        { run: 'ls .stint-outbox/*/*.json | wc -l > left.txt' },
        ...doing('one'),
      ],
    ],
  }
  const state = await world.delegate(script, { task: 'one', what: '', verify: 'test -f one.txt' })
  expect([state.status, state.run.attempts.length]).toEqual(['ready', 1])
  expect(world.journalled('task.reported').map(({ data }) => data['status'])).toEqual(['completed'])
  expect(world.journalled('task.checked').map(({ data }) => data['item'])).toEqual(['Say so'])
  const step = world.journalled('step.added').find(({ data }) => data['text'] === 'Look around')
  expect(world.journalled('step.done').map(({ data }) => data['step'])).toContain(step!.id)
  const [found, ...others] = world
    .journalled('discovery.made')
    .map(({ data }) => String(data['text']))
  expect(found).toMatch(/^from in there, API_KEY=\[redacted/)
  expect(others).toEqual([])
  // The outbox existed, is not committed, and did not keep the worktree from being removed.
  expect(Number(world.project.git('show', `${state.run.started.branch}:left.txt`))).toBeGreaterThan(
    3,
  )
  expect(world.project.git('ls-tree', '-r', '--name-only', state.run.started.branch)).not.toContain(
    'outbox',
  )
  expect(
    world
      .of('message')
      .map(({ text }) => text)
      .filter((text) => /is left, as it holds|set aside|not taken in/.test(text)),
  ).toEqual([])
})
