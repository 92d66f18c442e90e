import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { terminal } from '../support/cli.ts'

describe('delegate, delegates and merge', () => {
  test.each([
    [['delegate'], 'say what is to be done'],
    [['delegate', '-'], 'nothing came on standard input'],
    [['delegate', '-', '--task', 't'], 'nothing came on standard input'],
    [['delegate', 'shwo', 'fix-login'], 'there is no stint delegate shwo; did you mean show?'],
    [['delegate', 'Stop', 'the', 'loop'], 'did you mean stop?'],
    [['delegate', 'status'], '"status" is a name, and no order'],
    [['delegate', 'fix-login'], 'stint delegate show fix-login'],
    [
      ['delegate', 'do it', '--harness', 'cursor'],
      'one of claude, codex, api, rehearsal, api:NAME for a model of the configuration, or acp:COMMAND',
    ],
    [['delegate', 'do it', '--permissions', 'ask'], 'one of edits, all'],
    [['delegate', 'do it', '--budget-tokens', 'lots'], 'write it like 500000, 500k or 2M'],
    [['delegate', 'do it', '--budget-usd', '0'], '--budget-usd is a number above 0'],
    [['delegate', 'do it', '--max-minutes', 'x'], '--max-minutes is a number above 0'],
    [['delegate', 'do it', '--files', ' '], '--files is empty'],
    [['delegate', 'do it', '--as', ''], '--as is empty'],
    [
      ['delegate', 'do it', '--harness', 'claude', '--script', 's.yml'],
      'only the rehearsal harness follows a script',
    ],
    [['delegate', 'retry', '--note', ' '], '--note is empty'],
    [['delegates', '--watch'], 'stint delegate wait'],
    [['merge', 'a', '--all'], 'leave the names out, or --all'],
    [['merge', 'a', '--group', 'g'], 'leave the names out, or --group'],
    [['merge', '--all', '--dry-run', '--review', '--pr'], '--review and --pr cannot go with it'],
    [['merge', '--all', '--pr', '--wait'], '--wait cannot go with it'],
    [['merge', '--all', '--wait', '--no-send-back'], '--no-send-back sends nothing back'],
    [['merge', '--all', '--review'], '--review needs a terminal to ask on'],
  ])('%j is refused with the right form, and starts nothing', async (line, message) => {
    const { stint, cwd } = terminal()
    const ran = await stint(...line)
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' })
    expect(ran.stderr).toContain(message)
    const asJson = await stint(...line, '--json')
    expect(asJson).toMatchObject({ exitCode: 2, stderr: '' })
    expect(asJson.json()).toMatchObject({ error: { code: 'MISUSE' } })
    expect(existsSync(join(cwd, '.sessions', 'runs'))).toBe(false)
  })

  test.each([['show me the slow queries'], ['write', 'the tests']])(
    '%s… is a prompt, because it is no subcommand',
    async (...words) => {
      const { stint, cwd } = terminal()
      const ran = await stint(
        'delegate',
        ...words,
        '--base',
        'no-such-branch',
        '--harness',
        'rehearsal',
      )
      expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
      expect(ran.stderr).toContain('there is no branch or commit "no-such-branch"')
      expect(existsSync(join(cwd, '.sessions', 'runs'))).toBe(false)
    },
  )

  test.each([
    [['delegate', 'do it']],
    [['delegate', 'stop', 'a']],
    [['delegate', 'retry', 'a']],
    [['delegate', 'discard', 'a']],
    [['merge', '--all']],
  ])('%j is refused to an agent in a run', async (line) => {
    const { run, env } = terminal()
    const ran = await run(line, { env: { ...env, STINT_RUN: 'some-run' } })
    expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ran.stderr).toContain('is not for an agent in a run')
  })

  test.each([
    [['delegates'], 'No delegates: stint delegate "What is to be done" starts one.'],
    [['delegate', 'show'], 'No delegate has work to be settled'],
    [['delegate', 'wait'], 'No delegate is at work.'],
    [['delegate', 'stop'], 'No delegate is at work.'],
    [['delegate', 'retry'], 'No delegate has failed, conflicted or is parked.'],
    [['delegate', 'discard'], 'There is no delegate to discard.'],
    [['merge', '--all'], 'No delegate is ready to be merged'],
  ])('%j reports that there are no delegates, and creates nothing', async (line, message) => {
    const { stint, cwd } = terminal()
    expect(await stint(...line)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining(message),
      stderr: '',
    })
    expect(await stint(...line, '--json')).toMatchObject({ exitCode: 0, stderr: '' })
    expect(existsSync(join(cwd, '.sessions'))).toBe(false)
  })

  test.each([
    [['delegate', 'show', 'nobody'], 'NO_DELEGATE'],
    [['delegate', 'wait', '--group', 'nobody'], 'NO_GROUP'],
    [['merge', 'nobody'], 'NO_DELEGATE'],
  ])('%j reports an unknown delegate and the command that lists them', async (line, code) => {
    const { stint } = terminal()
    const ran = await stint(...line)
    expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ran.stderr).toContain('stint delegates')
    expect((await stint(...line, '--json')).json()).toMatchObject({ error: { code } })
  })

  test.each([
    ['delegate start', 5],
    ['delegate show', 2],
    ['delegate wait', 3],
    ['delegate stop', 2],
    ['delegate retry', 3],
    ['delegate discard', 2],
    ['delegates', 3],
    ['merge', 5],
  ])('%s has help with examples', async (command, examples) => {
    const { stint } = terminal()
    const ran = await stint(...command.split(' '), '--help')
    expect(ran.exitCode).toBe(0)
    expect(ran.stdout).toContain('--json')
    expect(
      ran.stdout.match(new RegExp(`^ {2}stint ${command}`, 'gm'))!.length,
    ).toBeGreaterThanOrEqual(examples)
  })

  test('the help of delegate lists the flags of start and hides the background command', async () => {
    const { stint } = terminal()
    const { stdout } = await stint('delegate', '--help')
    expect(stdout).toMatch(/--as .*\n.*--task .*\n.*--group /)
    expect(stdout).not.toMatch(/\bwork {2}/)
  })

  test('completion offers the subcommands as well as the flags of start', async () => {
    const { stint } = terminal()
    const proposed = async (...words: string[]) =>
      (await stint('__complete', ...words)).stdout.trim().split('\n')
    expect(await proposed('delegate', '')).toEqual(
      expect.arrayContaining(['start', 'show', 'wait', 'stop', 'retry', 'discard', '--as']),
    )
    expect(await proposed('delegate', '')).not.toContain('work')
    expect(await proposed('delegate', 's')).toEqual(['start', 'show', 'stop'])
    expect(await proposed('checkpoint', 'r')).toEqual(['restore'])
    expect(await proposed('delegate', 'show', 'x')).toEqual([''])
    expect(await proposed('delegate', 'some words', 's')).toEqual([''])
  })
})
