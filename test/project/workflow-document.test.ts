import { rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { projectOf } from '../support/project.ts'
import { SESSION_ID, Story } from '../support/worlds.ts'

function story(): Story {
  const notices = new Story()
  const phases = [
    { id: '1', name: 'Plan' },
    { id: '2', name: 'Build' },
  ]
  notices.add('workflow.begun', {
    workflow: 'wf-001',
    name: 'x',
    template: { name: 'short', phases },
  })
  return notices
}
const LINE = '**Workflow**: Phase 1 - Plan (0% complete)'

test("a workflow's document shows its phase, and reading it back is no edit", async () => {
  const world = await projectOf(story())
  expect(world.document()).toContain(`**Blocker**: None\n${LINE}\n`)
  const before = world.journal()
  await world.view(SESSION_ID)
  expect(world.journal()).toEqual(before)
  expect(world.messages).toEqual([])
})

test('a session without a template shows no phase', async () => {
  const world = await projectOf(new Story())
  expect(world.document()).not.toContain('**Workflow**')
})

test('editing the phase changes nothing, and the notice names the command for it', async () => {
  const world = await projectOf(story())
  world.edit(LINE, '**Workflow**: Phase 2 - Build (50% complete)')
  await world.view(SESSION_ID)
  expect(world.messages.join('\n')).toContain('stint workflow phase enters another phase')
  expect(world.document()).toContain(LINE)
})

test('text that the user writes about the workflow is kept', async () => {
  const world = await projectOf(story())
  world.edit(LINE, `${LINE}\n\n**Workflow**: ask Ann before phase 2`)
  await world.view(SESSION_ID)
  expect(world.document()).toContain(`${LINE}\n\n**Workflow**: ask Ann before phase 2\n`)
})

test('the state files show the phase', async () => {
  const world = await projectOf(story())
  expect(world.read('.sessions', 'journal', SESSION_ID, 'state.toon')).toContain(
    'workflow:\n  phase: "1"\n  name: Plan\n',
  )
  expect(JSON.parse(world.read('.sessions', 'journal', SESSION_ID, 'state.json'))).toMatchObject({
    workflow: { current: '1', percent: 0 },
  })
})

test('a deliverable from a foreign journal is not searched outside the project', async () => {
  const notices = story()
  for (const path of ['../outside.txt', '/etc/passwd', 'inside.txt'])
    notices.add('deliverable.set', { path })
  const world = await projectOf(notices)
  const outside = join(dirname(world.root), 'outside.txt')
  writeFileSync(outside, '')
  onTestFinished(() => rmSync(outside))
  world.write('inside.txt', '')
  const { deliverables } = await world.run(async (project) =>
    (await project.workflows()).status(SESSION_ID),
  )
  expect(deliverables.map(({ path, exists }) => [path, exists])).toEqual([
    ['../outside.txt', false],
    ['/etc/passwd', false],
    ['inside.txt', true],
  ])
})
