import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { terminal } from '../support/cli.ts'

describe('init', () => {
  test('lists the flags it needs when run without flags off a terminal', async () => {
    const { stint } = terminal()
    const ran = await stint('init')
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' })
    expect(ran.stderr).toContain('--name NAME, --goal TEXT or --task ID')
  })

  test('creates a session and prints its id, branch and document', async () => {
    const { stint, cwd } = terminal()
    const ran = await stint('init', '--name', 'fix-auth', '--goal', 'Stop the login loop')
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
    expect(ran.stdout).toMatch(
      /📋 Session Initialized: fix-auth\n {3}ID: [0-9a-f-]{36}\n {3}Branch: main\n/,
    )
    expect(readdirSync(join(cwd, '.sessions', 'active'))).toHaveLength(1)
  })

  test('accepts --flag=value and --tasks with commas', async () => {
    const { stint } = terminal()
    await stint('task', 'add', 'First thing')
    await stint('task', 'add', 'Second thing')
    const ran = await stint('init', '--tasks=first-thing,second-thing', '--name=both', '--json')
    expect(ran.json()).toMatchObject({ name: 'both', status: 'active' })
    expect(ran.json<{ tasks: string[] }>().tasks).toHaveLength(2)
    expect((await stint('task', 'list')).stdout).toContain('(in_progress)')
  })

  test('reports the document and the closed session with --json', async () => {
    const { stint } = terminal()
    const first = (await stint('init', '--name', 'one', '--json')).json<{ document: string }>()
    expect(existsSync(first.document)).toBe(true)
    expect(first).not.toHaveProperty('closed')
    expect((await stint('init', '--name', 'two', '--force', '--json')).json()).toMatchObject({
      closed: 'one',
    })
  })

  test('turns any name into one that cannot escape its folder', async () => {
    const { stint, cwd } = terminal()
    await stint('init', '--name', '../../etc/passwd')
    expect(readdirSync(join(cwd, '.sessions', 'active'))[0]).toMatch(/^etc-passwd-[0-9a-f]{6}\.md$/)
  })
})

describe('resume', () => {
  test('prints everything needed to continue with --json', async () => {
    const { stint } = terminal()
    await stint('init', '--name', 'r', '--goal', 'G')
    const message = [
      '--key',
      'K',
      '--decision',
      'D',
      '--choice',
      'C',
      '--rationale',
      'R',
      '--discovery',
      'Found',
      '--next',
      'N',
    ]
    await stint('log', ...message, '--gotcha', 'Trap', '--command', 'make')
    expect((await stint('resume', '--json')).json()).toMatchObject({
      goal: 'G',
      key: { items: [{ text: 'K' }] },
      decisions: { items: [{ text: 'D', choice: 'C', rationale: 'R' }] },
      discoveries: {
        items: [
          { text: 'Found', gotcha: false },
          { text: 'Trap', gotcha: true },
        ],
      },
      next: { items: [{ text: 'N' }] },
      commands: { items: [{ text: 'make' }] },
    })
  })
})

describe('log', () => {
  test('records every kind of entry in one call', async () => {
    const { stint } = terminal()
    await stint('init', '--name', 'all')
    const line =
      'log --step One --step Two --done One --progress P --decision D --context C --options a --options b --choice a --rationale R ' +
      '--discovery Disc --gotcha G --next N --key K --file src/a.ts --description A --command make --note Note --goal Goal --tldr T --json'
    const ran = await stint(...line.split(' '))
    const kinds = ran.json<{ entries: { kind: string }[] }>().entries.map((entry) => entry.kind)
    expect(kinds).toEqual(
      expect.arrayContaining([
        'step.added',
        'step.done',
        'step.started',
        'progress.made',
        'decision.made',
        'discovery.made',
        'gotcha.found',
        'next.added',
        'key.added',
        'file.noted',
        'command.kept',
        'note.added',
        'goal.set',
        'tldr.written',
      ]),
    )
    const document = (await stint('view')).stdout
    expect(document).toContain('**Options**: (1) a, (2) b')
    expect(document).toContain('- `src/a.ts` - A')
    expect(document).toContain('**Current**: Two (step 2)')
  })

  test('resolves a blocker by part of its text', async () => {
    const { stint } = terminal()
    await stint('init', '--name', 'b')
    await stint('log', '--blocker', 'Waiting on API docs')
    expect((await stint('view', '--blockers')).stdout).toContain('- Waiting on API docs')
    await stint('log', '--blocker', 'api docs', '--resolved', '--resolution', 'They came')
    expect((await stint('view', '--blockers')).stdout).toMatch(
      /- \[x\] Waiting on API docs \(resolved .*\): They came/,
    )
  })

  test('lists the open blockers when none matches', async () => {
    const { stint } = terminal()
    await stint('init', '--name', 'b')
    await stint('log', '--blocker', 'Waiting on API docs')
    const ran = await stint('log', '--blocker', 'nothing like it', '--resolved')
    expect(ran.exitCode).toBe(1)
    expect(ran.stderr).toContain('1. Waiting on API docs')
  })

  test('amends and retracts an entry by its short id', async () => {
    const { stint } = terminal()
    await stint('init', '--name', 'a')
    const { entries } = (await stint('log', '--progress', 'Halfway', '--json')).json<{
      entries: { id: string }[]
    }>()
    const short = entries[0]!.id.slice(-6)
    const amended = await stint('log', '--amend', short, '--progress', 'Two thirds')
    expect(amended.stdout).toContain('Two thirds')
    expect(amended.stdout).not.toContain('Halfway')
    expect((await stint('view', '--progress')).stdout).toContain('- Two thirds (')
    await stint('log', '--retract', short, '--reason', 'wrong')
    expect((await stint('view', '--progress')).stdout).not.toContain('Two thirds')
    expect((await stint('view', '--entries')).stdout).toMatch(/entry\.retracted {5}/)
  })

  test('amends the note of a checkpoint as it amends a note', async () => {
    const { stint } = terminal()
    await stint('init', '--name', 'a')
    const { checkpoint } = (await stint('checkpoint', '--note', 'Befor', '--json')).json<{
      checkpoint: { id: string }
    }>()
    const { entries } = (await stint('log', '--note', 'Remembr', '--json')).json<{
      entries: { id: string }[]
    }>()
    for (const id of [checkpoint.id, entries[0]!.id]) {
      const ran = await stint('log', '--amend', id.slice(-6), '--note', 'Better words')
      expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
      expect(ran.stdout).toContain('Better words')
    }
    expect((await stint('checkpoint', 'list')).stdout).toContain('Better words')
  })

  test('refuses to amend a field the entry lacks, and lists its fields', async () => {
    const { stint } = terminal()
    await stint('init', '--name', 'a')
    const { entries } = (await stint('log', '--decision', 'D', '--rationale', 'R', '--json')).json<{
      entries: { id: string }[]
    }>()
    const ran = await stint('log', '--amend', entries[0]!.id, '--note', 'x')
    expect(ran.exitCode).toBe(1)
    expect(ran.stderr).toContain('it has title, context, options, choice, rationale')
  })

  test.each([
    ['--done', '1'],
    ['--retract', 'abcdef'],
    ['--current', '1'],
    ['--resolved'],
    ['--reason', 'because'],
  ])('refuses --amend with %s and writes nothing', async (flag, ...value) => {
    const { stint } = terminal()
    await stint('init', '--name', 'a')
    const { entries } = (await stint('log', '--progress', 'Halfway', '--json')).json<{
      entries: { id: string }[]
    }>()
    const ran = await stint(
      'log',
      '--amend',
      entries[0]!.id,
      '--progress',
      'Two thirds',
      flag,
      ...value,
    )
    expect(ran.exitCode).toBe(2)
    expect(ran.stderr).toContain(`${flag} cannot go with it`)
    expect((await stint('view', '--progress')).stdout).toContain('Halfway')
  })

  test('refuses an empty log, an unknown entry or a rationale without a decision, and writes nothing', async () => {
    const { stint } = terminal()
    await stint('init', '--name', 'a')
    const before = (await stint('view', '--entries')).stdout
    expect((await stint('log')).exitCode).toBe(2)
    expect((await stint('log', '--rationale', 'because')).exitCode).toBe(2)
    expect((await stint('log', '--progress', '  ')).exitCode).toBe(2)
    expect((await stint('log', '--retract', 'zzzzzz')).exitCode).toBe(1)
    expect((await stint('log', '--done', '7')).exitCode).toBe(1)
    expect((await stint('view', '--entries')).stdout).toBe(before)
  })

  test('asks for a rationale on stderr and prints only the result on stdout', async () => {
    const { stint } = terminal()
    await stint('init', '--name', 'a')
    const ran = await stint('log', '--decision', 'Use it', '--json')
    expect(ran.stderr).toContain('--rationale')
    expect(ran.json()).toBeDefined()
  })
})

describe('close', () => {
  test('prints duration, compactions, progress, decisions and discoveries, and warns about open steps', async () => {
    const { stint, cwd } = terminal()
    await stint('init', '--name', 'c')
    await stint(
      'log',
      '--step',
      'Left open',
      '--decision',
      'D',
      '--rationale',
      'R',
      '--discovery',
      'X',
    )
    await stint('checkpoint', '--pre-compact')
    const ran = await stint('close', '--complete')
    expect(ran.stdout).toMatch(
      /^✅ Session Completed: c\n {3}Duration: less than a minute\n {3}Compactions: 1\n {3}Progress: 0\/1 steps\n\n {3}## Summary\n[\s\S]*## Decisions Made\n {3}1 decision recorded\n\n {3}## Discoveries\n {3}1 discovery logged\n/,
    )
    expect(ran.stderr).toContain('1 step left open: Left open')
    expect(existsSync(join(cwd, '.sessions', 'archive'))).toBe(true)
    expect(readdirSync(join(cwd, '.sessions', 'active'))).toEqual([])
  })

  test('requires --complete or --abandon', async () => {
    const { stint } = terminal()
    await stint('init', '--name', 'c')
    expect((await stint('close')).exitCode).toBe(2)
    expect((await stint('close', '--complete', '--abandon')).exitCode).toBe(2)
  })
})

describe('pause', () => {
  test('refuses to switch to the session being paused, and pauses nothing', async () => {
    const { stint } = terminal()
    await stint('init', '--name', 'p')
    for (const line of ['pause --switch-to p', 'pause --session p --switch-to p']) {
      const ran = await stint(...line.split(' '))
      expect(ran).toMatchObject({ exitCode: 2, stdout: '' })
      expect(ran.stderr).toContain('p is the session to be paused')
    }
    expect((await stint('list', '--json')).json()).toMatchObject([{ name: 'p', status: 'active' }])
  })
})

describe('list --task', () => {
  test('finds sessions linked to a task that is not in the backlog', async () => {
    const { stint } = terminal()
    await stint('init', '--name', 'l', '--task', 'TICKET-7')
    expect((await stint('list', '--task', 'TICKET-7', '--json')).json()).toMatchObject([
      { name: 'l' },
    ])
  })

  test('lists the tasks that an ambiguous name may mean', async () => {
    const { stint } = terminal()
    await stint('task', 'add', 'First thing')
    const { id } = (await stint('task', 'add', 'Second thing', '--json')).json<{ id: string }>()
    const ran = await stint('list', '--task', id.slice(0, 4))
    expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ran.stderr).toContain('may mean any of 2 tasks')
  })
})

describe('task list', () => {
  test('lists the valid statuses when given an unknown one', async () => {
    const { stint } = terminal()
    await stint('task', 'add', 'First thing')
    const ran = await stint('task', 'list', '--status', 'bogus')
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' })
    expect(ran.stderr).toContain('ready, in_progress, blocked, completed, failed')
    expect((await stint('task', 'list', '--status', 'ready,blocked')).stdout).toContain(
      'first-thing',
    )
  })
})

describe('every command', () => {
  const commands = [
    ['init'],
    ['resume'],
    ['log'],
    ['checkpoint'],
    ['checkpoint', 'list'],
    ['checkpoint', 'diff'],
    ['checkpoint', 'restore'],
    ['view'],
    ['pause'],
    ['close'],
    ['reopen'],
    ['list'],
    ['search'],
    ['setup'],
    ['doctor'],
    ['purge'],
    ['task', 'add'],
    ['task', 'change'],
    ['task', 'list'],
    ['task', 'tree'],
    ['task', 'next'],
    ['task', 'show'],
    ['task', 'check'],
    ['task', 'start'],
    ['task', 'done'],
    ['task', 'blocked'],
    ['task', 'failed'],
  ]
  test.each(commands)(
    '%s %s prints help that starts with its usage and offers --json',
    async (...command) => {
      const { stint } = terminal()
      const ran = await stint(...command.filter((word) => word !== undefined), '--help')
      expect(ran.exitCode).toBe(0)
      expect(ran.stdout).toContain(`stint ${command.join(' ')}`)
      expect(ran.stdout).toContain('--json')
    },
  )

  test('suggests the nearest name for a typo and exits with 2', async () => {
    const { stint } = terminal()
    const command = await stint('resme')
    expect(command).toMatchObject({ exitCode: 2, stdout: '' })
    expect(command.stderr).toContain('resume')
    const flag = await stint('log', '--progess', 'x')
    expect(flag.exitCode).toBe(2)
    expect(flag.stderr).toContain('--progress')
  })

  test('prints an error as JSON with --json, and nothing on stderr', async () => {
    const { stint } = terminal()
    const ran = await stint('log', '--progress', 'x', '--json')
    expect(ran).toMatchObject({ exitCode: 1, stderr: '' })
    expect(ran.json()).toEqual({
      error: {
        code: 'NO_SESSION',
        message: 'no session is active here',
        hint: expect.stringContaining('stint init'),
      },
    })
  })

  test.each([
    ['init'],
    ['log'],
    ['log --rationale because'],
    ['close'],
    ['close --complete --abandon'],
    ['checkpoint restore --branch a --worktree b'],
    ['list --status bogus'],
    ['list --since someday'],
    ['search'],
    ['setup'],
    ['purge x'],
    ['task add A --priority P9'],
    ['view --toon'],
  ])('prints a usage error as JSON with --json: %s', async (line) => {
    const { stint } = terminal()
    const ran = await stint(...line.split(' '), '--json')
    expect(ran).toMatchObject({ exitCode: 2, stderr: '' })
    expect(ran.json()).toMatchObject({ error: { code: 'MISUSE' } })
  })

  test.each([[['init', '--name', '']], [['log', '--progress', '']], [['task', 'add']]])(
    'exits with 2 when given an empty text: %j',
    async (args) => {
      const { stint } = terminal()
      if (args[0] === 'log') await stint('init', '--name', 'a')
      expect(await stint(...args)).toMatchObject({ exitCode: 2, stdout: '' })
    },
  )

  test('prints valid JSON with --json', async () => {
    const { stint } = terminal()
    await stint('task', 'add', 'A task')
    const lines = [
      ['init', '--name', 'j'],
      ['log', '--progress', 'p'],
      ['checkpoint'],
      ['checkpoint', 'list'],
      ['checkpoint', 'diff'],
      ['view'],
      ['view', '--decisions'],
      ['list'],
      ['search', 'p'],
      ['resume'],
      ['resume', '--list'],
      ['view', 'list'],
      ['task', 'change', 'a-task', '--size', 'S'],
      ['task', 'list'],
      ['task', 'tree'],
      ['task', 'next'],
      ['task', 'show', 'a-task'],
      ['task', 'start', 'a-task'],
      ['doctor'],
      ['pause'],
      ['resume'],
      ['close', '--complete'],
      ['reopen', 'j'],
    ]
    for (const line of lines) {
      const ran = await stint(...line, '--json')
      expect(`${line.join(' ')}: ${ran.exitCode} ${ran.stderr}`).toBe(`${line.join(' ')}: 0 `)
      expect(() => ran.json()).not.toThrow()
    }
  })

  test('prints colours only on a terminal', async () => {
    const { run } = terminal()
    const plain = await run(['init', '--name', 'c'], {})
    const coloured = await run(['resume'], { hasColour: true })
    expect(plain.stdout).not.toContain('\u001B[')
    expect(coloured.stdout).toContain('\u001B[1m')
  })

  test('works outside git', async () => {
    const { stint, cwd } = terminal({ git: false })
    await stint('init', '--name', 'no-git', '--goal', 'G')
    await stint('log', '--progress', 'p')
    expect((await stint('checkpoint')).exitCode).toBe(0)
    expect((await stint('checkpoint', 'diff')).exitCode).toBe(1)
    expect((await stint('close', '--complete')).exitCode).toBe(0)
    expect(existsSync(join(cwd, '.sessions', '.gitignore'))).toBe(true)
  })
})

describe('an unknown name', () => {
  test('is answered with the nearest session names', async () => {
    const { stint, git } = terminal()
    for (const name of ['fix-auth', 'fix-auto', 'write-docs']) {
      await stint('init', '--name', name)
      git('switch', '-q', '-c', `after-${name}`)
    }
    const ran = await stint('view', 'fix-auht')
    expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ran.stderr).toContain(
      'there is no session "fix-auht"; did you mean fix-auth or fix-auto?',
    )
    expect((await stint('log', '--session', 'docs', '--progress', 'x')).stderr).toContain(
      'did you mean write-docs?',
    )
    expect((await stint('view', 'nothing-like-it')).stderr).not.toContain('did you mean')
    expect((await stint('view', 'fix-auht', '--json')).json()).toMatchObject({
      error: { code: 'NO_SESSION' },
    })
  })

  test('is answered with the nearest task names', async () => {
    const { stint } = terminal()
    await stint('task', 'add', 'First thing')
    const ran = await stint('task', 'done', 'frist-thing')
    expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ran.stderr).toContain('there is no task "frist-thing"; did you mean first-thing?')
  })

  test('creates nothing in a folder without sessions', async () => {
    const { stint, cwd } = terminal()
    expect((await stint('view', 'fix-auth')).stderr).toContain('there is no session "fix-auth"\n')
    expect(existsSync(join(cwd, '.sessions'))).toBe(false)
  })
})

describe('completion', () => {
  test('proposes sessions, open ones first', async () => {
    const { stint } = terminal()
    await stint('init', '--name', 'fix-auth')
    await stint('close', '--complete')
    await stint('init', '--name', 'fix-sweep')
    const proposed = async (...words: string[]) =>
      (await stint('__complete', ...words)).stdout.trim().split('\n')
    for (const command of [
      ['resume'],
      ['view'],
      ['log', '--session'],
      ['pause', '--switch-to'],
      ['search', 'x', '--session'],
    ]) {
      expect(await proposed(...command, 'fix')).toEqual(['fix-sweep', 'fix-auth'])
    }
    expect(await proposed('reopen', 'fix')).toEqual(['fix-auth'])
    expect(await proposed('resume', '')).toEqual(expect.arrayContaining(['--last', 'fix-sweep']))
  })

  test('proposes tasks by short name', async () => {
    const { stint } = terminal()
    await stint('task', 'add', 'First thing')
    await stint('task', 'add', 'Second thing')
    await stint('task', 'done', 'second-thing')
    const proposed = async (...words: string[]) =>
      (await stint('__complete', ...words)).stdout.trim().split('\n')
    for (const command of [
      'change',
      'tree',
      'show',
      'check',
      'start',
      'done',
      'blocked',
      'failed',
    ]) {
      expect(await proposed('task', command, 'f')).toEqual(['first-thing'])
    }
    expect(await proposed('init', '--task', '')).toEqual(['first-thing', 'second-thing'])
  })

  test.each([
    [['resume', 'f']],
    [['task', 'show', 'f']],
    [['init', '--task', '']],
    [['log', '--session', 'f']],
  ])('proposes nothing and creates nothing without sessions: %j', async (words) => {
    const { stint, cwd } = terminal()
    expect(await stint('__complete', ...words)).toMatchObject({
      exitCode: 0,
      stdout: '',
      stderr: '',
    })
    expect(existsSync(join(cwd, '.sessions')) || existsSync(join(cwd, '.tasks'))).toBe(false)
  })
})

describe('help', () => {
  test('is the same for the word and the flag', async () => {
    const { stint } = terminal()
    expect(await stint('help')).toMatchObject({
      exitCode: 0,
      stdout: (await stint('--help')).stdout,
    })
    expect((await stint('help', 'task', 'add')).stdout).toBe(
      (await stint('task', 'add', '--help')).stdout,
    )
  })

  test('lists the flags that checkpoint takes without a subcommand', async () => {
    const { stint } = terminal()
    expect((await stint('checkpoint', '--help')).stdout).toMatch(
      /--note .*\n.*--tldr .*\n.*--pre-compact .*\n.*--no-code /,
    )
  })
})

describe('an invalid configuration', () => {
  test.each([
    ['share: maybe', 'share'],
    ['redact:\n  patterns: ["("]', 'not a regular expression'],
    ['unknown: 1', 'there is no setting "unknown"'],
    ['a: [', 'config.yaml'],
  ])('%j stops the command with an error that names it', async (text, message) => {
    const { stint, cwd } = terminal()
    await stint('init', '--name', 'c')
    writeFileSync(join(cwd, '.sessions', 'config.yaml'), text)
    const ran = await stint('log', '--progress', 'p')
    expect(ran.exitCode).toBe(1)
    expect(ran.stderr).toContain(message)
  })
})

describe('the reference page', () => {
  test('matches the help that the program prints', async () => {
    const { helpForAllCommands } = await import('../../src/cli/app.ts')
    await expect(await helpForAllCommands()).toMatchFileSnapshot('../../docs/commands.md')
  })
})
