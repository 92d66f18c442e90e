// An agent that may only edit files puts settings on its branch, which would take effect once they are merged.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BackgroundWorld } from '../delegate/background-world.ts'

const write = (path: string, text: string) => ({ write: { path, text } })

test('settings on a delegate’s branch are neither proved nor merged until the user agrees to each', async () => {
  const world = new BackgroundWorld()
  const evil = [
    write('.sessions/config.yaml', `verify: ": > '${world.folder}/ran'"\n`),
    write('.claude/settings.json', '{"hooks":{}}\n'),
    write('work.txt', 'work\n'),
    { commit: 'work' },
    { done: 'done' },
  ]
  const script = world.script({}, [evil, evil, evil, evil])
  const { name } = await world.begin(script, 'Do some work', '--wait').catch(async () => ({
    name: Object.keys(await world.rows())[0]!,
  }))
  const before = world.commitOf('main')
  const row = (await world.rows())[name]!
  expect(row.status).toBe('failed')
  expect(row.because).toContain(
    'it changes protected paths: .claude/settings.json, .sessions/config.yaml',
  )
  expect(world.git('show', `${row.branch}:work.txt`)).toBe('work\n')

  const allow = (...paths: string[]) => paths.flatMap((path) => ['--allow-protected', path])
  await world.stint('merge', name)
  const one = await world.outcomes(name, ...allow('.claude/settings.json'))
  expect(one[name]).toMatchObject({ how: 'waiting' })
  expect(one[name]!.because).toContain('.sessions/config.yaml')
  expect(one[name]!.next).toBe(`stint merge ${name} --allow-protected .sessions/config.yaml`)
  const all = allow('.claude/settings.json', '.sessions/config.yaml')
  for (const env of [{ CLAUDECODE: '1' }, { STINT_RUN: 'x' }, { STINT_CONVERSATION: 'x' }])
    expect((await world.run(world.program, ['merge', name, ...all], env)).exitCode).not.toBe(0)
  expect(world.commitOf('main')).toBe(before)
  expect(existsSync(join(world.cwd, '.claude'))).toBe(false)

  expect((await world.outcomes(name, ...all))[name]).toMatchObject({ how: 'merged' })
  expect(world.read('.claude/settings.json')).toContain('hooks')
  expect(existsSync(join(world.folder, 'ran'))).toBe(false)
})

test('a run asks its agent to revert such a change, and finishes once it is reverted', async () => {
  const world = new BackgroundWorld()
  await world.stint('task', 'add', 'Write it')
  const script = world.script({
    'write-it': [
      [write('.mcp.json', '{}\n'), write('a.txt', 'a\n'), { commit: 'a' }, { done: 'a' }],
      [{ run: 'git rm -q .mcp.json' }, { commit: 'back' }, { done: 'a' }],
    ],
  })
  const { stdout, stderr } = await world.stint('run', '--harness', 'rehearsal', '--script', script)
  expect(stdout + stderr).toContain(
    'it changes protected paths: .mcp.json; take these changes back',
  )
  const [branch] = world.lines('for-each-ref', '--format=%(refname)', 'refs/heads/stint')
  expect(world.git('ls-tree', '-r', '--name-only', branch!)).toBe('a.txt\nreadme.txt\n')
})
