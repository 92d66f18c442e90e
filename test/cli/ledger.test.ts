import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Ledger } from '../../src/ledger/ledger-types.ts'
import { project } from '../hook/agent.ts'
import { terminal } from '../support/cli.ts'

describe('stint ledger', () => {
  test('prints costs and savings, and marks estimates', async () => {
    const { agent: begin, stint } = project()
    await stint('init', '--name', 'fix-auth', '--goal', 'Be there')
    const agent = begin()
    await agent.start()
    await agent.prompt('Change the known file')
    await agent.stop('Changed.')
    const { stdout } = await stint('ledger')
    expect(stdout).toMatch(/^📒 Ledger of project\n/)
    expect(stdout).toMatch(/^ {2}Given to models {2}\d+ tokens e {2}in 1 text$/m)
    expect(stdout).toMatch(/^ {2}Model calls {6}none /m)
    expect(stdout).toMatch(/^ {2}Hooks {12}3 +[\d.ms ]+ inside their processes, \d+ ms each$/m)
    expect(stdout).toMatch(
      /^ {2}Pointers {2}[+−]\d+ {2}e {2}×1 {2}documents named and not told whole, but for TOON$/m,
    )
    expect(stdout).toMatch(
      /^Net: \d+ tokens more were (?:saved than given|given than saved) \(e estimated\)\.$/m,
    )
    expect(stdout).toMatch(/^ {2}Writes {11}\d+ +by hooks; of commands the entries alone$/m)
    expect(stdout).toMatch(/^SESSION .*\nfix-auth +\d+ /m)
    const { stdout: byDay } = await stint('ledger', 'fix-auth', '--by', 'day', '--since', '7d')
    expect(byDay).toMatch(/^📒 Ledger of session fix-auth since \d{4}-\d\d-\d\d\n/)
    expect(byDay).toMatch(/^DAY .*\n\d{4}-\d\d-\d\d +\d+ /m)
    const ledger = (await stint('ledger', '--json')).json<Ledger & Record<string, unknown>>()
    expect(ledger.whole).toMatchObject({
      kind: 'project',
      name: 'project',
      costs: { modelCalls: 0, hooks: 3 },
    })
    expect((await stint('ledger', '--since', '2999-01-01')).stdout).toBe(
      'Nothing was recorded since 2999-01-01: without --since it is all there is.\n',
    )
  })

  test('suggests a first step when empty, and the nearest name for an unknown one', async () => {
    const { cwd, stint } = terminal()
    expect((await stint('ledger')).stdout).toContain('stint init --name NAME --goal TEXT')
    expect((await stint('ledger', '--maintenance')).stdout).toContain(
      'stint init --name NAME --goal TEXT',
    )
    expect(await stint('ledger', '--maintenance', '--done')).toMatchObject({
      exitCode: 1,
      stderr:
        'stint: there are no sessions here, so nothing was tidied up\n  stint init --name NAME --goal TEXT starts one\n',
    })
    expect(existsSync(join(cwd, '.sessions'))).toBe(false)
    await stint('init', '--name', 'fix-auth', '--goal', 'x')
    await stint('task', 'add', 'Fix the sweep')
    expect((await stint('ledger', 'fix-auth', '--by', 'run')).stdout).toMatch(
      /\n\nThere are no runs in it\.\n$/,
    )
    expect(
      (await stint('ledger', 'fix-auth', '--by', 'day', '--since', '2099-01-01')).stdout,
    ).toMatch(/\n\nThere are no days in it since 2099-01-01\.\n$/)
    const wrong = await stint('ledger', 'fix-uath')
    expect([wrong.exitCode, wrong.stderr]).toEqual([
      1,
      'stint: there is no session, task or run "fix-uath"; did you mean fix-auth?\n  stint ledger --by task, or run, lists them\n',
    ])
    expect((await stint('ledger', 'fix-the-sweep')).stderr).toContain(
      'nothing was spent on task fix-the-sweep yet',
    )
    expect((await stint('ledger', '--done')).exitCode).toBe(2)
    expect((await stint('ledger', 'fix-auth', '--maintenance')).exitCode).toBe(2)
    expect((await stint('ledger', '--since', 'soon')).stderr).toContain('write it like 90d')
  })

  test('distinguishes a task from a session of the same name by id', async () => {
    const { stint } = terminal()
    const task = (await stint('task', 'add', 'Fix auth', '--json')).json<{ id: string }>()
    await stint('init', '--name', 'fix-auth', '--goal', 'x', '--task', 'fix-auth')
    const both = await stint('ledger', 'fix-auth', '--json')
    expect(both.json<{ whole: unknown }>().whole).toMatchObject({ kind: 'session' })
    expect(both.stderr).toContain(`stint ledger ${task.id}`)
    expect(
      (await stint('ledger', task.id, '--json')).json<{ whole: unknown }>().whole,
    ).toMatchObject({
      kind: 'task',
      name: 'fix-auth',
    })
  })
})
