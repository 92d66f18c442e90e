import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { doing } from '../run/run-world.ts'
import { scratchFolder } from '../support/scratch.ts'
import { WorkingWorld } from './working-world.ts'

test("runs a delegate's agent, set-up and verify command with the same name, ports and variables", async () => {
  const seen = scratchFolder()
  const show = (by: string) =>
    `echo "$STINT_DELEGATE $STINT_PORT $STINT_PORTS $DATABASE $(cat set-up)" > ${seen}/${by}`
  const world = new WorkingWorld()
  world.config(
    [
      'delegates:',
      '  setup: echo "$DATABASE" > set-up; echo set-up > .gitignore',
      '  port_base: 30000',
      '  env: ["DATABASE=app-{slot}-{port+1}"]',
    ].join('\n'),
  )
  // The first slot is taken.
  await world.made({ as: 'tests' })
  const script = {
    docs: [[{ run: show('agent') }, { run: 'git add -f .gitignore' }, ...doing('docs')]],
  }
  const { status } = await world.delegate(script, { as: 'docs', verify: show('verify') })
  expect(status).toBe('ready')
  const expected = 'docs 30010 10 app-1-30011 app-1-30011\n'
  expect([readFileSync(`${seen}/agent`, 'utf8'), readFileSync(`${seen}/verify`, 'utf8')]).toEqual([
    expected,
    expected,
  ])
})

test("starts a delegate's agent with the configured wrap command, in its worktree", async () => {
  const folder = scratchFolder()
  const wrap = join(folder, 'wrap')
  writeFileSync(
    wrap,
    `#!/bin/sh\nprintf '%s\\n' "$1" "$2" "$PWD" "$STINT_RUN" > ${folder}/words\nshift 2\nWRAPPED=yes exec "$@"\n`,
  )
  chmodSync(wrap, 0o755)
  const world = new WorkingWorld()
  world.config(`delegates:\n  wrap: ${wrap} {tree} "the {name}"\n`)
  const script = { docs: [[{ run: `echo "$WRAPPED" > ${folder}/agent` }, ...doing('docs')]] }
  const state = await world.delegate(script, {
    as: 'docs',
    verify: `echo "[$WRAPPED]" > ${folder}/verify`,
  })
  expect(state.status).toBe('ready')
  const { tree } = state.run.started
  expect(readFileSync(`${folder}/words`, 'utf8')).toBe(`${tree}\nthe docs\n${tree}\n${state.id}\n`)
  expect(readFileSync(`${folder}/agent`, 'utf8')).toBe('yes\n')
  // The proof runs outside the wrap command.
  expect(readFileSync(`${folder}/verify`, 'utf8')).toBe('[]\n')
})

test.each([
  [
    'wrap: no-such-container run {tree}',
    { code: 'HARNESS_MISSING', message: expect.stringContaining('delegates.wrap') },
  ],
  ['wrap: sh {treee}', { code: 'CONFIG_INVALID', message: expect.stringContaining('{treee}') }],
  ['env: ["PORT={prot}"]', { code: 'CONFIG_INVALID', message: expect.stringContaining('{prot}') }],
])('refuses %s before anything is created', async (setting, error) => {
  const world = new WorkingWorld()
  world.config(`delegates:\n  ${setting}\n`)
  await expect(world.made()).rejects.toMatchObject(error)
  expect(world.runs()).toEqual([])
  expect(world.project.git('branch', '--list').trim()).toBe('* main')
})

test('reports when an agent with all permissions moved its target branch', async () => {
  const world = new WorkingWorld()
  const moving = [
    ...doing('docs').slice(0, -1),
    { run: 'git update-ref refs/heads/main HEAD' },
    { done: 'moved' },
  ]
  await world.delegate({ docs: [moving] }, { as: 'docs', permissions: 'all' })
  const messages = () => world.of('message').map(({ text }) => text)
  expect(messages()).toContainEqual(
    expect.stringMatching(/^main was moved from \w{10} to \w{10}, a commit of docs, /),
  )
  expect(world.journalled('gotcha.found').map(({ data }) => data['text'])).toEqual([
    expect.stringContaining('main was moved from'),
  ])
  world.events.length = 0
  // Someone else moves it, and the agent merges it.
  const somebody = `cd ${world.project.root} && git reset -q --hard && git commit -q --allow-empty -m else`
  const taking = [
    ...doing('tests').slice(0, -1),
    { run: `(${somebody}) && git merge -q main -m taken` },
    { done: 'taken in' },
  ]
  await world.delegate({ tests: [taking] }, { as: 'tests', permissions: 'all' })
  expect(messages().filter((text) => text.includes('was moved from'))).toEqual([])
})
