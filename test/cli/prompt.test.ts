import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { terminal } from '../support/cli.ts'

/** A project whose agent follows a script. */
function scriptedProject(...turns: readonly (readonly object[])[]) {
  const world = terminal()
  const script = join(world.folder, 'script.json')
  writeFileSync(script, JSON.stringify({ default: turns }))
  const prompt = (...args: string[]) =>
    world.stint('prompt', '--harness', 'rehearsal', '--script', script, ...args)
  return { ...world, prompt, script }
}

describe('prompt', () => {
  test('prints only the answer on stdout; tool calls and refusals go to stderr', async () => {
    const world = scriptedProject([
      { say: 'I look.\nTwo lines.' },
      { run: 'false' },
      { ask: 'touch asked.txt' },
      { say: 'Done.' },
    ])
    const ran = await world.prompt('Look', 'at', 'it')
    expect(ran).toMatchObject({ exitCode: 0, stdout: 'I look.\nTwo lines.\nDone.\n' })
    expect(ran.stderr).toContain('· new session look-at-it, rehearsal, a fresh conversation')
    expect(ran.stderr).toContain('· execute: false failed')
    expect(ran.stderr).toContain(
      'stint: refused touch asked.txt; nobody is here to ask: --permissions edits',
    )
    const next = await world.run(
      ['prompt', '-', '--harness', 'rehearsal', '--script', world.script, '--json'],
      {
        readStdin: async () => 'From a file\n',
      },
    )
    const events = next.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(events.map(({ number }) => number)).toEqual(events.map((_, index) => index + 1))
    expect(events[0]).toMatchObject({
      kind: 'prompt.started',
      data: { name: 'look-at-it', isNewSession: false, isFresh: false },
    })
    expect(events.at(-1)).toMatchObject({
      kind: 'prompt.ended',
      data: { how: 'completed', said: 'Done.' },
    })
  })

  test('exits with 1 and the reason when the agent fails', async () => {
    const world = scriptedProject([{ fail: 'the model is overloaded' }])
    const ran = await world.prompt('Try')
    expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ran.stderr).toContain('stint: failed: the model is overloaded')
  })

  test('refuses invalid combinations and prints the right form', async () => {
    const { stint } = terminal({ git: false })
    const refused: readonly (readonly [args: readonly string[], message: string])[] = [
      [[], 'say what to ask'],
      [['--new', '--session', 'x', 'y'], '--new is a session of its own'],
      [['--fresh', '--conversation', 'x', 'y'], '--fresh begins another conversation'],
      [['--permissions', 'root', 'y'], 'one of ask, edits, all'],
      [['--harness', 'cursor', 'y'], 'there is no harness "cursor"'],
      [
        ['--harness', 'claude', '--script', 's', 'y'],
        'only the rehearsal harness follows a script',
      ],
    ]
    for (const [args, message] of refused) {
      const ran = await stint('prompt', ...args)
      expect(ran).toMatchObject({ exitCode: 2, stdout: '' })
      expect(ran.stderr).toContain(message)
    }
  })
})
