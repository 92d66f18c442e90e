// What a power cut leaves of a checkpoint that was not flushed: references whose objects are empty, missing or unreadable.
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Diagnosis } from '../../src/library.ts'
import { type World, gitProject } from '../support/project.ts'

async function savedTwice() {
  const world = gitProject()
  await world.run((project) => project.init({ name: 'work' }))
  const save = async (text: string) => {
    world.write('new.txt', text)
    const { checkpoint } = await world.run((project) => project.checkpoint())
    return checkpoint.code!
  }
  return { world, whole: await save('one\n'), broken: await save('two\n') }
}

function objectPath(world: World, object: string): string {
  const id = world.git('rev-parse', object).trim()
  const path = world.path('.git', 'objects', id.slice(0, 2), id.slice(2))
  // git writes objects read-only.
  const content = readFileSync(path)
  rmSync(path)
  writeFileSync(path, content)
  return path
}

const savedCode = ({ checks }: Diagnosis) => checks.find(({ check }) => check === 'saved code')!

test.each<[string, (world: World, code: { ref: string; commit: string }) => void]>([
  ['a missing file', (world, { ref }) => rmSync(objectPath(world, `${ref}:new.txt`))],
  ['an empty file', (world, { ref }) => truncateSync(objectPath(world, `${ref}:new.txt`))],
  ['an empty tree', (world, { ref }) => truncateSync(objectPath(world, `${ref}^{tree}`))],
  ['a missing commit', (world, { ref }) => rmSync(objectPath(world, ref))],
  ['an empty commit', (world, { ref }) => truncateSync(objectPath(world, ref))],
  ['an empty reference', (world, { ref }) => truncateSync(world.path('.git', ref))],
])(
  'doctor reports saved code with %s, and --repair removes its reference only',
  async (_name, damage) => {
    const { world, whole, broken } = await savedTwice()
    damage(world, broken)
    const before = savedCode(await world.run((project) => project.doctor()))
    expect(before).toMatchObject({ status: 'problem', summary: '1 reference of 2 without objects' })
    expect(before.details[0]).toBe(
      `${broken.ref}: its objects are gone; stint doctor --repair removes it`,
    )
    const repaired = savedCode(await world.run((project) => project.doctor({ repair: true })))
    expect(repaired.details).toEqual([`${broken.ref}: its objects were gone; removed`])
    expect(world.git('for-each-ref', '--format=%(refname)', 'refs/stint').trim()).toBe(whole.ref)
    world.git('gc', '--quiet')
    expect(world.git('show', `${whole.ref}:new.txt`)).toBe('one\n')
    expect(savedCode(await world.run((project) => project.doctor())).status).toBe('ok')
  },
)

test('doctor removes no saved code when the user’s own branches are damaged', async () => {
  const { world, whole, broken } = await savedTwice()
  rmSync(objectPath(world, 'HEAD'))
  const check = savedCode(await world.run((project) => project.doctor({ repair: true })))
  expect(check).toMatchObject({ status: 'note', summary: 'not checked' })
  for (const { ref, commit } of [whole, broken])
    expect(readFileSync(world.path('.git', ref), 'utf8').trim()).toBe(commit)
})
