import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Workspace } from '../../src/project/store/workspace.ts'
import { startRun } from '../../src/run/loop/start-run.ts'
import { scratchFolder } from '../support/scratch.ts'
import { RunWorld, doing } from './run-world.ts'

test('an agent may verify and report, and cannot start anything else through Stint or git', async () => {
  const folder = scratchFolder()
  const seen = (name: string) => existsSync(`${folder}/${name}`)
  const verify = `test -f one.txt && echo "as $STINT_RUN" >> ${folder}/verified`
  const world = new RunWorld()
  await world.tasks('One')
  const script = world.script({
    one: [
      [
        { ask: `stint digest -- touch ${folder}/by-digest` },
        { ask: `stint run --harness rehearsal --once > ${folder}/by-run` },
        { ask: `git -c alias.x='!touch ${folder}/by-git' x` },
        {
          ask: `git commit --allow-empty -m "$(cat <<'EOF'\none\nEOF\ntouch ${folder}/by-message\ncat <<'EOF'\ntwo\nEOF\n)"`,
        },
        { ask: `git commit --allow-empty -m "$(cat <<'EOF'\nseveral\n\nlines\nEOF\n)"` },
        // It may return to its own branch, but not switch to another.
        { ask: 'git checkout -q --detach && git checkout -q work && git tag back-again' },
        { ask: 'git checkout -q other && git tag gone' },
        { ask: 'stint log --discovery "The agent may record"' },
        ...doing('one').slice(0, -1),
        { ask: verify },
        { ask: 'stint task done one --summary "It is done"' },
      ],
    ],
  })
  world.project.git('branch', 'other')
  const report = await world.run({ script, verify, permissions: 'edits', branch: 'work' })
  expect(report.sessions[0]!.tasks[0]).toMatchObject({ outcome: 'done', attempts: 1 })
  expect(['by-digest', 'by-run', 'by-git', 'by-message'].filter(seen)).toEqual([])
  // Only the agent's environment names the run, not that of commands the run starts.
  expect(readFileSync(`${folder}/verified`, 'utf8')).toContain(`as ${report.run}\n`)
  expect(world.subjects()).toEqual(['several', 'do one'])
  expect(world.project.git('tag').trim()).toBe('back-again')
  expect(world.journalled('discovery.made')).toHaveLength(1)
})

test('refuses to start a run inside a run', async () => {
  const world = new RunWorld()
  await world.tasks('One')
  const workspace = new Workspace(world.project.root, {
    say: () => {},
    env: { ...process.env, STINT_RUN: 'x' },
  })
  const begun = startRun(workspace, { harness: 'rehearsal' }, () => {})
  await expect(begun).rejects.toMatchObject({ code: 'IN_RUN' })
  expect(world.runs()).toEqual([])
})
