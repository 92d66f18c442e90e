import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { HarnessEvent } from '../../src/harness/contract/drive.ts'
import { codexHarness } from '../../src/harness/codex/drive.ts'
import { carriersOf } from '../support/processes.ts'
import { scratchFolder } from '../support/scratch.ts'

test('events of a resumed thread that arrive before the response are not lost', async () => {
  const cwd = scratchFolder()
  const program = join(import.meta.dirname, 'codex-replay.cjs')
  const env = { PATH: process.env['PATH'], STINT_CODEX: program }
  const conversation = await codexHarness.open({
    cwd,
    env,
    permissions: 'all',
    allow: [],
    resume: 'any',
  })
  onTestFinished(() => conversation.close())
  const events: HarnessEvent[] = []
  for await (const event of conversation.prompt('go')) events.push(event)
  expect(events).toMatchObject([
    { type: 'started', conversation: '01a1e083-1bc2-7602-b5ec-a7e906c774c3', model: 'stub-model' },
    { type: 'usage', context: 120, window: 190_000 },
    { type: 'usage', spent: { input: 300, output: 50 }, context: 350 },
    { type: 'turn ended', how: 'completed' },
  ])
})

describe('a program that is not Codex', () => {
  function world(script: string) {
    const cwd = scratchFolder()
    const program = join(cwd, 'program')
    writeFileSync(program, script)
    chmodSync(program, 0o755)
    const env = { PATH: process.env['PATH'], STINT_CODEX: program, WORD: cwd }
    return { cwd, env, open: { cwd, env, permissions: 'all', allow: [] } as const }
  }

  test.each([
    [
      'ends at once',
      '#!/bin/sh\necho "unrecognized subcommand" >&2\nexit 2\n',
      'unrecognized subcommand',
    ],
    ['says what it hears', '#!/bin/sh\nexec cat\n', 'refused initialize'],
    ['talks nonsense', '#!/bin/sh\nprintf "\\377\\n[]\\n7\\n{\\"id\\":9}\\n{}\\n"\n', 'it ended'],
  ])('is reported when it %s, and leaves no process', async (_, script, reason) => {
    const { cwd, open } = world(script)
    await expect(codexHarness.open(open)).rejects.toMatchObject({
      code: 'HARNESS_NOT_OPENED',
      message: expect.stringContaining(reason),
      hint: expect.stringMatching(/codex/),
    })
    expect(carriersOf(`WORD=${cwd}`)).toEqual([])
  })

  test('fails the check', async () => {
    const { env } = world('#!/bin/sh\necho hello\n')
    expect(await codexHarness.check(env)).toMatchObject({
      isThere: false,
      hint: expect.stringContaining('STINT_CODEX'),
    })
  })

  test('is named when it is missing', async () => {
    const { open, env } = world('')
    const nowhere = { ...env, STINT_CODEX: '/nowhere/codex' }
    expect(await codexHarness.check(nowhere)).toMatchObject({
      isThere: false,
      problem: expect.stringContaining('/nowhere/codex'),
    })
    await expect(codexHarness.open({ ...open, env: nowhere })).rejects.toMatchObject({
      code: 'PROGRAM_MISSING',
    })
  })
})
