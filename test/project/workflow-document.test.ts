import { rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { projectOf } from '../support/project.ts'
import { SESSION_ID, Story } from '../support/worlds.ts'

function story(): Story {
  const told = new Story()
  const phases = [
    { id: '1', name: 'Plan' },
    { id: '2', name: 'Build' },
  ]
  told.add('workflow.begun', { workflow: 'wf-001', name: 'x', template: { name: 'short', phases } })
  return told
}
const LINE = '**Workflow**: Phase 1 - Plan (0% complete)'

test('the document of a workflow says its phase, and reading that back is no edit', async () => {
  const world = await projectOf(story())
  expect(world.document()).toContain(`**Blocker**: None\n${LINE}\n`)
  const before = world.journal()
  await world.view(SESSION_ID)
  expect(world.journal()).toEqual(before)
  expect(world.said).toEqual([])
})

test('a session without a template has no such line', async () => {
  const world = await projectOf(new Story())
  expect(world.document()).not.toContain('**Workflow**')
})

test('an edit of the phase is not taken for one, and says which command enters it', async () => {
  const world = await projectOf(story())
  world.edit(LINE, '**Workflow**: Phase 2 - Build (50% complete)')
  await world.view(SESSION_ID)
  expect(world.said.join('\n')).toContain('stint workflow phase enters another phase')
  expect(world.document()).toContain(LINE)
})

test('what a person writes about the workflow is kept as their own', async () => {
  const world = await projectOf(story())
  world.edit(LINE, `${LINE}\n\n**Workflow**: ask Ann before phase 2`)
  await world.view(SESSION_ID)
  expect(world.document()).toContain(`${LINE}\n\n**Workflow**: ask Ann before phase 2\n`)
})

test('the state files say the phase', async () => {
  const world = await projectOf(story())
  expect(world.read('.sessions', 'journal', SESSION_ID, 'state.toon')).toContain(
    'workflow:\n  phase: "1"\n  name: Plan\n',
  )
  expect(JSON.parse(world.read('.sessions', 'journal', SESSION_ID, 'state.json'))).toMatchObject({
    workflow: { current: '1', percent: 0 },
  })
})

test('a deliverable of a journal from elsewhere is not looked for outside of the project', async () => {
  const told = story()
  for (const path of ['../outside.txt', '/etc/passwd', 'inside.txt'])
    told.add('deliverable.set', { path })
  const world = await projectOf(told)
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
