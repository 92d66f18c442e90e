import { expect, test } from 'vitest'
import { WorkingWorld } from './working-world.ts'

async function saidWith(first: object, second: object): Promise<string> {
  const world = new WorkingWorld()
  world.project.commit('sources', {
    'src/parse.ts': 'x\n',
    'src/print.ts': 'x\n',
    'docs/guide.md': 'x\n',
  })
  await world.made({ what: 'one', ...first })
  world.project.messages.length = 0
  await world.made({ what: 'two', ...second })
  return world.project.messages.join('\n')
}

test.each([
  [
    'both say so',
    { files: ['src/**'] },
    { files: ['src/parse.ts'] },
    'one, which is running, is to change the same files: src/parse.ts',
  ],
  [
    'a prompt names a file of another',
    { files: ['src/parse.ts'] },
    { what: 'mend `src/parse.ts`' },
    'one, which is running, may change the same files: src/parse.ts',
  ],
])('warns that delegates change the same files when %s', async (_, first, second, line) => {
  expect(await saidWith(first, second)).toContain(line)
})

test.each([
  ['others', { files: ['src/**'] }, { files: ['docs/**'] }],
  ['none that are known', {}, {}],
  ['the same, and it is read-only', { files: ['src/**'] }, { files: ['src/**'], as: 'review' }],
])('does not warn when it has %s', async (_, first, second) => {
  expect(await saidWith(first, second)).not.toContain('same files')
})

test('counts what a delegate has changed already, committed or not', async () => {
  const world = new WorkingWorld()
  const { run } = await world.made({ what: 'one' })
  const { writeFileSync } = await import('node:fs')
  writeFileSync(`${run.started.tree}/a.txt`, 'changed\n')
  await world.made({ what: 'two', files: ['a.txt'] })
  expect(world.project.messages.join('\n')).toContain('may change the same files: a.txt')
})
