import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratchFolder } from '../support/scratch.ts'
import { leftDelegate } from './as-delegate.ts'
import { RunWorld, doing } from './run-world.ts'

test('the agent, the set-up and the verify command of a delegate have the same name, ports and variables', async () => {
  const seen = scratchFolder()
  const show = (by: string) => `echo "$STINT_DELEGATE $STINT_PORT $STINT_PORTS $DATABASE $(cat set-up)" > ${seen}/${by}`
  const world = new RunWorld()
  await world.tasks('One')
  world.config(
    [
      'run:',
      '  setup: echo "$DATABASE" > set-up; echo set-up > .gitignore',
      'delegates:',
      '  port_base: 30000',
      '  env: ["DATABASE=app-{slot}-{port+1}"]',
    ].join('\n'),
  )
  const script = world.script({ one: [[{ run: show('agent') }, { run: 'git add -f .gitignore' }, ...doing('one')]] })
  const resume = leftDelegate(world, { script, verify: show('verify') })
  expect((await world.run({ resume })).sessions[0]?.tasks[0]).toMatchObject({ outcome: 'done' })
  const expected = 'one 30020 10 app-2-30021 app-2-30021\n'
  expect([readFileSync(`${seen}/agent`, 'utf8'), readFileSync(`${seen}/verify`, 'utf8')]).toEqual([expected, expected])
})

test('the agent of a delegate is started by the configured command, in its tree, and nothing of it is left', async () => {
  const folder = scratchFolder()
  const wrap = join(folder, 'wrap')
  writeFileSync(
    wrap,
    `#!/bin/sh\nprintf '%s\\n' "$1" "$2" "$PWD" "$STINT_RUN" > ${folder}/words\nshift 2\nWRAPPED=yes exec "$@"\n`,
  )
  chmodSync(wrap, 0o755)
  const world = new RunWorld()
  await world.tasks('One')
  world.config(`delegates:\n  wrap: ${wrap} {tree} "the {name}"\n`)
  const script = world.script({ one: [[{ run: `echo "$WRAPPED" > ${folder}/agent` }, ...doing('one')]] })
  const resume = leftDelegate(world, { script, verify: `echo "[$WRAPPED]" > ${folder}/verify` })
  expect((await world.run({ resume })).sessions[0]?.tasks[0]).toMatchObject({ outcome: 'done' })
  const { tree } = world.logged('run.started')[0]!.data as { tree: string }
  expect(readFileSync(`${folder}/words`, 'utf8')).toBe(`${tree}\nthe one\n${tree}\n${resume}\n`)
  expect(readFileSync(`${folder}/agent`, 'utf8')).toBe('yes\n')
  // What proves the work is the run's own, and not in there.
  expect(readFileSync(`${folder}/verify`, 'utf8')).toBe('[]\n')
})

test('a command around the agent that is not there is said before anything is begun', async () => {
  const world = new RunWorld()
  await world.tasks('One')
  world.config('delegates:\n  wrap: no-such-container run {tree}\n')
  const resume = leftDelegate(world, {})
  await expect(world.run({ resume })).rejects.toMatchObject({
    code: 'HARNESS_MISSING',
    message: 'there is no program no-such-container, which delegates.wrap puts before the agent',
  })
})
