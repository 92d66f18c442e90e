// Delegates on the command line: real background processes, with a script instead of a model.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { DelegateDetail, DelegateRow } from '../../src/run/delegate/delegate-row.ts'
import { program, terminal } from '../support/cli.ts'
import { carriersOf, expectNoneLeft } from '../support/processes.ts'
import { Screen } from '../support/screen.ts'

type Acts = readonly Readonly<Record<string, unknown>>[]

const DOES: Acts = [
  { write: { path: 'made.txt', text: 'made\n' } },
  { commit: 'Make it' },
  { done: 'It is made' },
]
const HANGS: Acts = [{ write: { path: 'begun.txt', text: 'begun\n' } }, { hang: true }]

/** A project whose delegates follow a script and do not outlive the test. */
function world() {
  const base = terminal()
  const { cwd, env, folder, stint } = base
  onTestFinished(async () => {
    await stint('delegate', 'stop')
    await expectNoneLeft(`STINT_STATE_HOME=${join(folder, 'state')}`)
  })
  const script = (...turns: readonly Acts[]) => {
    const path = join(folder, 'script.json')
    writeFileSync(path, JSON.stringify({ tasks: {}, default: turns }))
    return path
  }
  const start = async (
    what: string,
    turns: readonly Acts[],
    ...flags: string[]
  ): Promise<DelegateRow> => {
    const ran = await stint(
      'delegate',
      what,
      '--harness',
      'rehearsal',
      '--script',
      script(...turns),
      '--json',
      ...flags,
    )
    expect(`${ran.exitCode} ${ran.stdout}`).toMatch(/^0 /)
    return ran.json<DelegateRow>()
  }
  const shown = async (name: string) =>
    (await stint('delegate', 'show', name, '--json')).json<DelegateDetail>()
  /** Resolves when the delegate hangs. */
  const untilHanging = async ({ tree }: DelegateRow) => {
    await expect.poll(() => existsSync(join(tree, 'begun.txt'))).toBe(true)
  }
  return { ...base, cwd, env, folder, script, start, shown, untilHanging }
}

describe('stint delegate', () => {
  test('returns at once, waits until the delegate is ready, and shows its details', async () => {
    const { stint, script, cwd, git } = world()
    const flags = [
      '--as',
      'tests',
      '--files',
      '*.txt',
      '--harness',
      'rehearsal',
      '--script',
      script(DOES),
    ]
    const started = await stint('delegate', 'Make the thing', ...flags)
    expect(started).toMatchObject({ exitCode: 0, stderr: '' })
    expect(started.stdout).toContain('Delegate Started: tests')
    expect(started.stdout).toContain('stint merge tests')
    const waited = await stint('delegate', 'wait')
    expect(waited).toMatchObject({
      exitCode: 0,
      stdout: '✓ tests ready: It is made\n   stint merge tests\n',
    })
    expect(waited.stderr).toMatch(
      /^\d\d:\d\d:\d\d {2}▶ tests running\n\d\d:\d\d:\d\d {2}✓ tests ready: It is made\n$/,
    )
    const { stdout } = await stint('delegate', 'show', 'tests')
    const branch = git('branch', '--list', '--format=%(refname:short)', 'stint/*').trim()
    for (const printed of [
      '✓ tests ready: It is made',
      'Order: Make the thing',
      `Branch: ${branch} (1 commit since`,
      'Files: *.txt',
      'Target: main',
      '1. live conversation, done after',
      'Make it',
      'made.txt | 1 +',
      'Next: stint merge tests',
    ])
      expect(stdout).toContain(printed)
    expect((await stint('delegates')).stdout).toMatch(/^NAME +STATUS .*\ntests +ready +tests /)
    expect(existsSync(join(cwd, 'made.txt'))).toBe(false)
  })

  test('waits with --wait and exits by the outcome', async () => {
    const { stint, script } = world()
    const good = ['--harness', 'rehearsal', '--script', script(DOES), '--wait']
    expect(await stint('delegate', 'Make the thing', ...good, '--json')).toMatchObject({
      exitCode: 0,
    })
    const bad = [
      '--harness',
      'rehearsal',
      '--script',
      script([{ failed: 'It cannot be made' }]),
      '--wait',
    ]
    const ran = await stint('delegate', 'Make another', ...bad)
    expect(ran.exitCode).toBe(1)
    expect(ran.stdout).toContain('Delegate Started: make-another')
    expect(ran.stdout).toMatch(
      /\n✗ make-another failed: .*It cannot be made.*\n {3}stint delegate retry make-another\n$/,
    )
    expect((await stint('delegate', 'wait', 'make-another')).exitCode).toBe(1)
    expect((await stint('delegate', 'wait', 'make-the-thing', 'make-another')).exitCode).toBe(1)
    expect((await stint('delegate', 'wait', 'make-the-thing')).exitCode).toBe(0)
  })

  test('reads the prompt from stdin', async () => {
    const { run, script, stint } = world()
    const line = ['delegate', '-', '--harness', 'rehearsal', '--script', script(DOES), '--wait']
    const ran = await run(line, { readStdin: async () => 'Make the thing\n\nwith all its parts\n' })
    expect(ran).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('Order: Make the thing with all its parts'),
    })
    expect((await stint('delegates', '--json')).json()).toMatchObject([
      { what: 'Make the thing\n\nwith all its parts' },
    ])
  })

  test.each([
    [
      'late',
      '(echo "Make the thing"; sleep 1; echo "with all its parts")',
      /^Make the thing\nwith all its parts$/,
    ],
    [
      'after 300,000 characters',
      "(echo Make; head -c 300000 /dev/zero | tr '\\0' 'x'; sleep 1; echo; echo end)",
      /^Make\nx{300000}\nend$/,
    ],
  ])('reads a prompt whose end comes %s', async (_how, producer, expectedPrompt) => {
    const { cwd, env, script, stint } = world()
    const line = `${producer} | "$0" "$1" delegate - --harness rehearsal --script "$2" --wait`
    const ran = spawnSync('bash', ['-c', line, process.execPath, program, script(DOES)], {
      cwd,
      env,
      encoding: 'utf8',
    })
    expect(ran).toMatchObject({ status: 0 })
    expect((await stint('delegates', '--json')).json()).toMatchObject([
      { what: expect.stringMatching(expectedPrompt) },
    ])
  })

  test('shows the report of a read-only delegate', async () => {
    const { stint, start } = world()
    const reads = [
      { write: { path: 'REPORT.md', text: '# Slow\n\nAll of them\n' } },
      { done: 'Looked' },
    ]
    const { name } = await start('Which queries are slow?', [reads], '--as', 'research', '--wait')
    const { stdout } = await stint('delegate', 'show', name)
    expect(stdout).toContain('As: research, it only reads')
    expect(stdout).toContain('   Report\n   # Slow\n\n   All of them')
    expect((await stint('merge', '--all')).stdout).toContain('No delegate is ready to be merged')
  })

  test('shows no secret, even one configured later', async () => {
    const { stint, start, cwd } = world()
    const acts = [
      { write: { path: 'a.txt', text: 'x' } },
      { commit: 'Use opal-1234' },
      { done: 'Uses opal-1234' },
    ]
    const { name } = await start('Make the whole module work with opal-1234', [acts], '--wait')
    expect((await stint('delegate', 'show', name)).stdout).toContain('Uses opal-1234')
    writeFileSync(join(cwd, '.sessions', 'config.yaml'), 'redact:\n  patterns: ["opal-[0-9]+"]\n')
    for (const line of [
      ['delegate', 'show', name],
      ['delegates'],
      ['delegate', 'show'],
      ['delegate', 'wait', name],
    ]) {
      for (const form of [[], ['--json']]) {
        const ran = await stint(...line, ...form)
        expect(ran.exitCode).toBe(0)
        expect(ran.stdout + ran.stderr).not.toContain('opal-1234')
      }
    }
  })
})

describe('hanging delegates', () => {
  test('are stopped with all their processes, and their work is kept', async () => {
    const { stint, start, untilHanging, git } = world()
    const rows = [await start('Hang here', [HANGS]), await start('Hang there', [HANGS])]
    for (const row of rows) await untilHanging(row)
    const ran = await stint('delegate', 'stop')
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
    expect(ran.stdout).toMatch(
      /✗ hang-here failed: .*\n {3}stint delegate retry hang-here\n✗ hang-there failed/,
    )
    for (const { id, branch } of rows) {
      expect(carriersOf(`STINT_RUN=${id}`)).toEqual([])
      expect(git('show', `${branch}:begun.txt`)).toBe('begun\n')
    }
  })

  test('keep running when the waiting command is interrupted', async () => {
    const { start, untilHanging, cwd, env, stint } = world()
    const row = await start('Hang here', [HANGS])
    await untilHanging(row)
    const waiting = spawn(process.execPath, [program, 'delegate', 'wait'], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => void waiting.kill('SIGKILL'))
    let printed = ''
    waiting.stderr.setEncoding('utf8').on('data', (text: string) => (printed += text))
    await expect.poll(() => printed).toContain('▶ hang-here running')
    waiting.kill('SIGINT')
    expect(await new Promise((resolve) => waiting.on('close', resolve))).toBe(130)
    expect((await stint('delegates', '--json')).json()).toMatchObject([
      { name: 'hang-here', status: 'running', isOrphaned: false },
    ])
  })

  test('receive the note when they are retried', async () => {
    const { stint, untilHanging, shown, folder } = world()
    const prompts = join(folder, 'prompts.jsonl')
    const script = join(folder, 'hangs.json')
    writeFileSync(script, JSON.stringify({ tasks: {}, default: [HANGS] }))
    const agent = join(folder, 'agent.sh')
    writeFileSync(
      agent,
      `#!/bin/sh\ntee -a '${prompts}' | '${process.execPath}' '${program}' rehearsal --script '${script}'\n`,
      {
        mode: 0o755,
      },
    )
    const row = (
      await stint('delegate', 'Hang here', '--harness', `acp:${agent}`, '--json')
    ).json<DelegateRow>()
    await untilHanging(row)
    await stint('delegate', 'stop', row.name)
    expect(readFileSync(prompts, 'utf8')).not.toContain('Leave the cookie alone')
    const again = await stint('delegate', 'retry', '--note', 'Leave the cookie alone')
    expect(again).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('▶ hang-here running'),
    })
    await expect.poll(() => readFileSync(prompts, 'utf8')).toContain('Leave the cookie alone')
    expect(await shown(row.name)).toMatchObject({
      notes: ['Leave the cookie alone'],
      status: 'running',
    })
  })

  test('are drawn live on a terminal, which is left clean', async () => {
    const { start, run, cwd } = world()
    const isDrawn = join(cwd, '.sessions', 'is-drawn')
    const untilDrawn = { run: `until [ -e ${isDrawn} ]; do sleep 0.02; done` }
    await start('Make the thing', [[untilDrawn, ...DOES]])
    const screen = Object.assign(new Screen(100, 20), { isTTY: true })
    const seen: string[] = []
    const write = screen.write.bind(screen)
    screen.write = (text: string) => {
      write(text)
      seen.push(screen.text())
      if (screen.text().includes('running')) writeFileSync(isDrawn, '')
    }
    const written: string[] = []
    const stdout = { write: (text: string) => void written.push(text) }
    const process_ = { stdout, stderr: screen, env: {} }
    expect(await run(['delegate', 'wait'], { process: process_ })).toMatchObject({ exitCode: 0 })
    expect(
      seen.some((text) =>
        /^NAME +STATUS.*\nmake-the-thing +running.*\nCtrl-C ends the waiting; they go on$/.test(
          text,
        ),
      ),
    ).toBe(true)
    expect(screen.text()).toBe('')
    expect(screen.isCursorShown).toBe(true)
    expect(written.join('')).toContain('✓ make-the-thing ready: It is made')
  })
})

describe('a delegate that waits for a usage limit', () => {
  test('is shown with its reset time and makes no model call before it', async () => {
    const { stint, start, shown, cwd, env } = world()
    const until = '2999-01-31T12:00:00.000Z'
    const { name } = await start('Make the thing', [[{ limit: until }], DOES])
    await expect.poll(async () => (await shown(name)).waitsUntil).toBe(until)
    expect((await stint('delegates')).stdout).toContain('running, limit until 2999-01-31T12:00')
    const printed = `▶ ${name} running: waits for a usage limit until 2999-01-31T12:00`
    expect((await stint('delegate', 'show', name)).stdout).toContain(printed)
    const waiting = spawn(process.execPath, [program, 'delegate', 'wait', name], {
      cwd,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let stderr = ''
    waiting.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    await expect.poll(() => stderr).toContain(printed)
    waiting.kill('SIGINT')
    await stint('delegate', 'stop', name)
    const { waitsUntil, logPath } = await shown(name)
    expect(waitsUntil).toBeUndefined()
    expect(readFileSync(logPath, 'utf8').match(/"limit\.reached"/g)).toHaveLength(1)
  })
})

describe('stint delegate discard', () => {
  test('requires --yes for several and prints how to restore each', async () => {
    const { stint, start, git } = world()
    const one = await start('Make the thing', [DOES], '--wait')
    const two = await start('Make another', [DOES], '--wait')
    const refused = await stint('delegate', 'discard')
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
    expect(refused.stderr).toContain('this would discard 2 delegates: make-the-thing, make-another')
    expect((await stint('delegate', 'discard', one.name, two.name)).exitCode).toBe(2)
    expect((await stint('delegates', '--json')).json()).toMatchObject([
      { status: 'ready' },
      { status: 'ready' },
    ])
    const ran = await stint('delegate', 'discard', '--yes')
    expect(ran.exitCode).toBe(0)
    const back = [...ran.stdout.matchAll(/get it back: (git branch .*)/g)].map((match) => match[1]!)
    expect(back).toHaveLength(2)
    for (const command of back) git(...command.split(' ').slice(1))
    expect(git('show', `${one.branch}:made.txt`)).toBe('made\n')
    expect(git('show', `${two.branch}:made.txt`)).toBe('made\n')
  })

  test('asks nothing for one named delegate', async () => {
    const { stint, start } = world()
    const { name } = await start('Make the thing', [DOES], '--wait')
    expect((await stint('delegate', 'discard', name)).stdout).toContain(
      '○ make-the-thing discarded',
    )
    expect((await stint('delegates')).stdout).toMatch(/make-the-thing +discarded/)
    expect((await stint('delegate', 'show')).stdout).toContain('No delegate has work to be settled')
  })

  test('requires the full name and prints the matches for a partial one', async () => {
    const { stint, start } = world()
    const { name, id } = await start('Make the thing', [DOES], '--wait')
    for (const part of ['thing', 'make', id.slice(0, 8), id.slice(-4)]) {
      const ran = await stint('delegate', 'discard', part, '--yes')
      expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
      expect(ran.stderr).toContain(`"${part}" is only a part of what a delegate is called`)
      expect(ran.stderr).toContain(`it fits ${name} (${id.slice(-6)})`)
    }
    expect((await stint('delegates', '--json')).json()).toMatchObject([{ status: 'ready' }])
    expect((await stint('delegate', 'discard', id.slice(-6))).stdout).toContain(
      '○ make-the-thing discarded',
    )
    expect((await stint('delegate', 'discard', id)).stderr).not.toContain('is only a part')
  })
})

describe('delegate names', () => {
  test('are completed, unfinished ones first, and suggested for a typo', async () => {
    const { stint, start } = world()
    await start('Make the thing', [DOES], '--wait')
    await start('Make another', [DOES], '--wait', '--group', 'release')
    await stint('delegate', 'discard', 'make-another')
    const proposed = async (...words: string[]) =>
      (await stint('__complete', ...words)).stdout.trim().split('\n')
    for (const line of [
      ['delegate', 'show'],
      ['delegate', 'wait'],
      ['delegate', 'stop'],
      ['delegate', 'retry'],
      ['merge'],
    ])
      expect(await proposed(...line, 'm')).toEqual(['make-the-thing', 'make-another'])
    const ran = await stint('delegate', 'show', 'make-teh-thing')
    expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ran.stderr).toContain('did you mean make-the-thing?')
    expect((await stint('delegates', '--group', 'release', '--json')).json()).toMatchObject([
      { name: 'make-another' },
    ])
  })
})

const hasScript = spawnSync('script', ['--version']).status === 0

describe.skipIf(!hasScript)('stint delegates --watch', () => {
  test('draws on a real terminal until q is pressed, and the delegates keep running', async () => {
    const { start, untilHanging, cwd, env, stint } = world()
    const row = await start('Hang here', [HANGS])
    await untilHanging(row)
    const line = `stty cols 100 rows 20; '${process.execPath}' '${program}' delegates --watch`
    const child = spawn('script', ['-qec', line, '/dev/null'], {
      cwd,
      env: { ...env, TERM: 'xterm' },
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const screen = new Screen(100, 20)
    child.stdout.setEncoding('utf8').on('data', (text: string) => screen.write(text))
    await expect.poll(() => screen.text()).toContain('q ends the watching; they go on')
    expect(screen.text()).toMatch(/hang-here +running/)
    child.stdin.write('q')
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0)
    expect(screen.text()).toMatch(/^\S*NAME.*\nhang-here +running/)
    expect(screen.text()).not.toContain('q ends the watching')
    expect((await stint('delegates', '--json')).json()).toMatchObject([{ status: 'running' }])
  })
})
