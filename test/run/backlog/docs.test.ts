import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { plainProject } from '../../support/project.ts'
import { read, taskLines } from './world.ts'

const page = readFileSync(
  join(dirname(fileURLToPath(import.meta.url)), '../../../docs/backlogs.md'),
  'utf8',
)

function example(language: string): string {
  return new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page)![1]!
}

test('the JSONL in docs/backlogs.md is a valid backlog', async () => {
  const world = plainProject()
  world.write('plan.jsonl', example('jsonl'))
  expect(taskLines(await read(world, 'plan.jsonl'))).toEqual([
    't1 ready',
    't2 ready <t1',
    't3 ready <t1,t2',
    't4 completed ^t3',
  ])
})

test('the checklist in docs/backlogs.md is a valid backlog', async () => {
  const world = plainProject()
  world.write('TODO.md', example('markdown'))
  const backlog = await read(world, 'TODO.md')
  expect(taskLines(backlog)).toEqual([
    'cache-the-lookup ready',
    'expire-the-cache ready <cache-the-lookup',
    'sign-in ready',
    'choose-a-library completed ^sign-in',
    'write-the-form ready ^sign-in',
  ])
  expect(backlog.tasks.at(-1)).toMatchObject({
    id: 'TODO.md/sign-in/write-the-form',
    labels: ['web-client'],
  })
})
