import { type SpawnSyncOptions, execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { program, terminal } from '../support/cli.ts'
import { KILL_AT_WRITE } from '../support/processes.ts'

const root = dirname(dirname(program))

function runProgram(
  world: { cwd: string; env: NodeJS.ProcessEnv },
  args: readonly string[],
  options: SpawnSyncOptions = {},
) {
  return spawnSync(process.execPath, [program, ...args], {
    cwd: world.cwd,
    env: world.env,
    ...options,
    encoding: 'utf8',
  })
}

describe('the program', () => {
  test('prints results on stdout and messages on stderr, and sets the exit code', () => {
    const world = terminal()
    expect(runProgram(world, ['init', '--name', 'p', '--json'])).toMatchObject({
      status: 0,
      stderr: '',
    })
    expect(runProgram(world, ['view', 'nothing-like-it'])).toMatchObject({ status: 1, stdout: '' })
    expect(runProgram(world, ['no-such-command'])).toMatchObject({ status: 2, stdout: '' })
    expect(runProgram(world, ['--version']).stdout.trim()).toMatch(/^\d+\.\d+\.\d+/)
  })

  test('works from a subfolder and from a linked worktree', () => {
    const world = terminal()
    runProgram(world, ['init', '--name', 'p'])
    const below = join(world.cwd, 'a', 'b')
    mkdirSync(below, { recursive: true })
    expect(runProgram({ ...world, cwd: below }, ['log', '--progress', 'from below']).status).toBe(0)
    const beside = join(world.folder, 'beside')
    world.git('worktree', 'add', '-q', beside, '-b', 'beside')
    expect(runProgram({ ...world, cwd: beside }, ['view', '--progress']).stdout).toContain(
      'from below',
    )
    expect(existsSync(join(beside, '.sessions'))).toBe(false)
  })

  test('reports a deleted folder without a stack trace, and still prints help', () => {
    const world = terminal()
    const inDeleted = (...args: string[]) =>
      spawnSync(
        'bash',
        [
          '-c',
          'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"',
          process.execPath,
          program,
          ...args,
        ],
        {
          cwd: world.folder,
          env: world.env,
          encoding: 'utf8',
        },
      )
    const ran = inDeleted('list')
    expect(ran).toMatchObject({ status: 1, stdout: '' })
    expect(ran.stderr).toMatch(/^stint: this folder no longer exists\n {2}\S.*\n$/)
    expect(JSON.parse(inDeleted('list', '--json').stdout)).toMatchObject({
      error: { code: 'NO_FOLDER' },
    })
    expect(inDeleted('--help')).toMatchObject({ status: 0, stderr: '' })
  })

  test('exits quietly when its reader closes the pipe', () => {
    const world = terminal()
    runProgram(world, ['init', '--name', 'p'])
    for (let count = 0; count < 3; count += 1)
      runProgram(world, ['log', '--progress', 'x'.repeat(2000)])
    const piped = spawnSync(
      'bash',
      ['-c', `set -o pipefail; "${process.execPath}" "${program}" view --entries --json | head -1`],
      {
        cwd: world.cwd,
        env: world.env,
        encoding: 'utf8',
      },
    )
    expect(piped.stderr).toBe('')
  })

  test('leaves a usable session when killed mid-write', async () => {
    const world = terminal()
    runProgram(world, ['init', '--name', 'p'])
    const signals = [1, 2, 3, 5, 7, 9].map((killAt) => {
      const args = ['--require', KILL_AT_WRITE, program, 'log', '--progress', `killed at ${killAt}`]
      const env = { ...world.env, KILL_AT_WRITE: String(killAt) }
      return spawnSync(process.execPath, args, { cwd: world.cwd, env }).signal
    })
    expect(new Set(signals)).toEqual(new Set(['SIGKILL']))
    expect(runProgram(world, ['log', '--progress', 'and on'])).toMatchObject({ status: 0 })
    expect(runProgram(world, ['view', '--progress']).stdout).toContain('and on')
    const folder = join(world.cwd, '.sessions', 'journal')
    const [id] = readdirSync(folder)
    expect(readdirSync(join(folder, id!)).filter((name) => name.startsWith('taken-'))).toEqual([])
  })

  test('reports on a read-only folder that nothing was saved, and still reads', () => {
    const world = terminal()
    runProgram(world, ['init', '--name', 'p'])
    runProgram(world, ['log', '--progress', 'before'])
    // A file in place of a folder stops every writer, even root.
    const blocked = spawnSync(
      'bash',
      [
        '-c',
        'ulimit -f 0; exec "$0" "$@"',
        process.execPath,
        program,
        'log',
        '--progress',
        'after',
      ],
      {
        cwd: world.cwd,
        env: world.env,
        encoding: 'utf8',
      },
    )
    expect(blocked.status).not.toBe(0)
    expect(runProgram(world, ['view', '--progress']).stdout).toContain('before')
  })

  test('completes commands and flags in the shell', () => {
    const world = terminal()
    const complete = (...words: string[]) =>
      runProgram(world, ['__complete', ...words]).stdout.split('\n')
    expect(complete('re')).toEqual(expect.arrayContaining(['resume', 'reopen']))
    expect(complete('log', '--prog')).toContain('--progress')
    const inBash = spawnSync(
      'bash',
      [
        '-c',
        'eval "$("$0" "$1" completion bash)"; stint() { "$NODE" "$PROGRAM" "$@"; }; COMP_WORDS=(stint re); COMP_CWORD=1; _stint; echo "${COMPREPLY[@]}"',
        process.execPath,
        program,
      ],
      {
        cwd: world.cwd,
        env: { ...world.env, NODE: process.execPath, PROGRAM: program },
        encoding: 'utf8',
      },
    )
    expect(inBash.stdout).toContain('resume')
  })
})

const hasScript = spawnSync('script', ['--version']).status === 0

describe.skipIf(!hasScript)('on a terminal', () => {
  /** Types lines into the program running in a real pseudo-terminal. */
  async function typed(
    world: ReturnType<typeof terminal>,
    args: readonly string[],
    keys: readonly string[],
  ): Promise<string> {
    const child = spawn(
      'script',
      [
        '-qec',
        `stty cols 100 rows 40; ${[process.execPath, program, ...args].map((part) => `'${part}'`).join(' ')}`,
        '/dev/null',
      ],
      {
        cwd: world.cwd,
        env: { ...world.env, TERM: 'xterm' },
      },
    )
    onTestFinished(() => void child.kill('SIGKILL'))
    // A program that has ended takes no more keys; only its output matters.
    child.stdin.on('error', () => undefined)
    let screen = ''
    child.stdout.on('data', (chunk: Buffer) => (screen += chunk.toString()))
    const ended = new Promise((resolve) => child.on('close', resolve))
    let seen = 0
    for (const key of keys) {
      await until(() => screen.length > seen && /[?›◆]/.test(screen.slice(seen)), child)
      seen = screen.length
      if (key !== '') {
        child.stdin.write(key)
        await until(() => screen.length > seen, child)
        seen = screen.length
      }
      child.stdin.write('\r')
    }
    await ended
    return screen
  }

  async function until(isTrue: () => boolean, child: { exitCode: number | null }): Promise<void> {
    while (!isTrue() && child.exitCode === null)
      await new Promise((resolve) => setTimeout(resolve, 20))
  }

  test('init without flags asks its questions', async () => {
    const world = terminal()
    const screen = await typed(world, ['init'], ['Stop the login loop', 'fix-auth', ' '])
    expect(screen).toContain('What is this session to achieve?')
    expect(runProgram(world, ['list', '--json']).stdout).toContain('"name":"fix-auth"')
  })

  test('asks the user which of several sessions is meant', async () => {
    const world = terminal()
    runProgram(world, ['init', '--name', 'one'])
    world.git('switch', '-q', '-c', 'other')
    runProgram(world, ['init', '--name', 'two'])
    world.git('switch', '-q', '-c', 'third')
    const screen = await typed(world, ['view', '--progress'], [''])
    expect(screen).toContain('Which session?')
    expect(screen).toContain('## Progress')
  })

  const down = '\u001B[B'

  /** Three sessions, each active on its own branch, and a fourth branch without one. */
  function threeActive() {
    const world = terminal()
    for (const name of ['one', 'two', 'three']) {
      runProgram(world, ['init', '--name', name])
      world.git('switch', '-q', '-c', `after-${name}`)
    }
    return world
  }

  test('asks the user what an ambiguous name means, and uses the choice', async () => {
    const world = threeActive()
    const first = await typed(world, ['log', '--session', '0', '--progress', 'To the first'], [''])
    const second = await typed(
      world,
      ['log', '--session', '0', '--progress', 'To the second'],
      [down],
    )
    const third = await typed(world, ['resume', '0'], [`${down}${down}`])
    const named = [
      /^.*(one|two|three): 0\/0 steps/m.exec(first)?.[1],
      /^.*(one|two|three): 0\/0 steps/m.exec(second)?.[1],
    ]
    expect(named).not.toContain(undefined)
    expect(named[0]).not.toBe(named[1])
    expect(third).toContain('Resuming Session: ')
    expect(runProgram(world, ['view', named[0]!, '--progress']).stdout).toContain('To the first')
    expect(runProgram(world, ['view', named[1]!, '--progress']).stdout).toContain('To the second')
  })

  test('a cancelled question is not repeated, and nothing happens', async () => {
    const world = threeActive()
    const screen = await typed(
      world,
      ['log', '--session', '0', '--progress', 'To none'],
      ['\u0003'],
    )
    expect(screen).toContain('"0" fits several sessions')
    expect(runProgram(world, ['search', 'none', '--json']).stdout).toBe('[\n]\n')
  })

  test('pause asks which session to pause and switches to the named one', async () => {
    const world = threeActive()
    const screen = await typed(world, ['pause', '--switch-to', 'one'], [''])
    expect(screen).toContain('Session Paused: three')
    expect(screen).toContain('Resuming Session: one')
  })
})

describe('npm pack', () => {
  test('installs a working stint and an importable library into an empty prefix', () => {
    const world = terminal()
    const packed = execFileSync(
      'npm',
      ['pack', '--silent', '--ignore-scripts', '--pack-destination', world.folder],
      {
        cwd: root,
        encoding: 'utf8',
        env: { ...process.env },
      },
    )
    const prefix = join(world.folder, 'prefix')
    mkdirSync(prefix)
    const tarball = join(world.folder, packed.trim().split('\n').at(-1)!)
    execFileSync(
      'npm',
      ['install', '--silent', '--no-audit', '--no-fund', '--prefix', prefix, tarball],
      {
        cwd: world.folder,
        encoding: 'utf8',
        env: { ...process.env },
      },
    )
    const stint = join(prefix, 'node_modules', '.bin', 'stint')
    const ran = spawnSync(stint, ['init', '--name', 'packed'], {
      cwd: world.cwd,
      env: world.env,
      encoding: 'utf8',
    })
    expect(ran).toMatchObject({ status: 0 })
    expect(
      spawnSync(stint, ['list'], { cwd: world.cwd, env: world.env, encoding: 'utf8' }).stdout,
    ).toContain('packed')
    writeFileSync(
      join(prefix, 'use.mjs'),
      "import { openProject } from 'stint'\nconst p = openProject(process.argv[2])\nconsole.log((await p.view()).name)\np.dispose()\n",
    )
    const used = spawnSync(process.execPath, [join(prefix, 'use.mjs'), world.cwd], {
      env: world.env,
      encoding: 'utf8',
    })
    expect(used.stdout).toBe('packed\n')
  }, 180_000)
})
