import { type SpawnSyncOptions, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { estimateTokens } from '../../src/text/tokens.ts'
import { readLog } from '../../src/journal/read-log.ts'
import { program, terminal } from '../support/cli.ts'
import { agreeTo } from '../support/trust.ts'

type World = ReturnType<typeof terminal>

function stint(world: World, args: readonly string[], options: SpawnSyncOptions = {}) {
  return spawnSync(process.execPath, [program, ...args], {
    cwd: world.cwd,
    env: world.env,
    ...options,
    encoding: 'utf8',
  })
}

function digest(world: World, script: string, options: SpawnSyncOptions = {}) {
  return stint(world, ['digest', '--', 'sh', '-c', script], options)
}

/** The stored outputs of a project, by name. */
function storedOutputs(folder: string): readonly string[] {
  const artifacts = join(folder, 'artifacts')
  return existsSync(artifacts) ? readdirSync(artifacts).filter((name) => name.endsWith('.txt')) : []
}

function withSession(): World & {
  entries: () => readonly { kind: string; data: Record<string, unknown> }[]
  sessions: string
} {
  const world = terminal()
  stint(world, ['init', '--name', 'work'])
  const sessions = join(world.cwd, '.sessions')
  const [id] = readdirSync(join(sessions, 'journal'))
  return {
    ...world,
    sessions,
    entries: () => readLog(join(sessions, 'journal', id!, 'log.jsonl')).records,
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    // The process is gone.
    return false
  }
}

describe('the exit code', () => {
  test.each([0, 1, 2, 42, 255])('of the command (%i) is passed on', (code) => {
    const ran = digest(terminal(), `echo said; exit ${code}`)
    expect(ran.status).toBe(code)
    expect(ran.stdout).toMatch(
      new RegExp(`^sh -c .*: exit ${code} after [\\d.]+ s; 1 line, 5 B\nsaid\nall of it: `),
    )
  })

  test('is 128 plus the signal number for a killed command', () => {
    const ran = digest(terminal(), 'echo before; kill -KILL $$')
    expect(ran.status).toBe(137)
    expect(ran.stdout).toContain('ended by SIGKILL (exit 137)')
    expect(ran.stdout).toContain('before')
  })

  test('is 127 for a missing command and 126 for one that cannot run, with a hint', () => {
    const world = terminal()
    const missing = stint(world, ['digest', '--', 'no-such-program', 'x'])
    expect(missing).toMatchObject({ status: 127, stdout: '' })
    expect(missing.stderr).toMatch(/^stint: command not found: no-such-program\n {2}\S/)
    expect(stint(world, ['digest', '--', 'npm test']).stderr).toContain('stint digest -- npm test')
    const script = join(world.cwd, 'script.sh')
    writeFileSync(script, 'echo hi\n')
    chmodSync(script, 0o644)
    expect(stint(world, ['digest', '--', './script.sh'])).toMatchObject({ status: 126, stdout: '' })
    const json = stint(world, ['digest', '--json', '--', 'no-such-program'])
    expect(json.status).toBe(127)
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { code: 'COMMAND_NOT_FOUND' } })
    expect(storedOutputs(join(world.folder, 'state'))).toEqual([])
    expect(
      readdirSync(join(world.folder, 'state', 'artifacts'), { encoding: 'utf8' }).filter((name) =>
        name.endsWith('.part'),
      ),
    ).toEqual([])
  })

  test('is passed on within the token limit, whatever bytes the command prints', () => {
    const world = terminal()
    const file = join(world.cwd, 'bytes')
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 20_000, size: 'max' }),
        fc.nat({ max: 255 }),
        (bytes, code) => {
          writeFileSync(file, bytes)
          const ran = digest(world, `cat bytes; exit ${code}`)
          expect(ran.stderr).not.toContain('defect')
          expect(ran.status).toBe(code)
          expect(estimateTokens(ran.stdout)).toBeLessThanOrEqual(400)
        },
      ),
      { numRuns: 12 },
    )
  })
})

describe('the command', () => {
  test('gets its arguments unchanged, without a shell', () => {
    const words = ['$HOME', '*', 'a b', '--json', '; echo no', '--']
    const ran = stint(terminal(), [
      'digest',
      '--',
      process.execPath,
      '-e',
      'console.log(JSON.stringify(process.argv.slice(1)))',
      '--',
      ...words,
    ])
    expect(ran.stdout).toContain(JSON.stringify(words))
  })

  test("reads stdin and runs in the caller's folder", () => {
    const world = terminal()
    mkdirSync(join(world.cwd, 'below'))
    const ran = digest(world, 'pwd; cat', {
      input: 'typed by a person\n',
      cwd: join(world.cwd, 'below'),
    })
    expect(ran.stdout).toContain('/project/below\ntyped by a person\n')
  })

  test.each(['SIGTERM', 'SIGHUP', 'SIGINT'] as const)(
    'ends with all its processes when the digest gets %s, and the output is digested',
    async (signal) => {
      const world = terminal()
      const child = spawn(
        process.execPath,
        [program, 'digest', '--', 'sh', '-c', 'echo started; sleep 300 & wait'],
        {
          cwd: world.cwd,
          env: world.env,
          // In a new process session, so that it has no terminal.
          detached: true,
        },
      )
      let printed = ''
      child.stdout.on('data', (bytes: Buffer) => (printed += bytes.toString()))
      const ended = new Promise<number | null>((resolve) => child.on('exit', resolve))
      const sleeper = async () => {
        for (;;) {
          const found = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,args='], {
            encoding: 'utf8',
          }).stdout.split('\n')
          const shell = found
            .map((line) => line.trim().split(/\s+/))
            .find(([, parent, ...args]) => Number(parent) === child.pid && args[0] === 'sh')
          const inner = found
            .map((line) => line.trim().split(/\s+/))
            .find(([, parent, name]) => parent === shell?.[0] && name === 'sleep')
          if (inner !== undefined) return Number(inner[0])
          await sleep(20)
        }
      }
      const pid = await sleeper()
      process.kill(child.pid!, signal)
      const code = await ended
      expect([128 + 15, 128 + 1, 128 + 2]).toContain(code)
      expect(printed).toMatch(/^sh -c .*: ended by SIG\w+ \(exit \d+\).*\nstarted\nall of it: /)
      await expect.poll(() => isAlive(pid)).toBe(false)
    },
  )

  test('gets Ctrl-C once, from the terminal, and its exit code is passed on', () => {
    const world = terminal()
    writeFileSync(
      join(world.cwd, 'careful.mjs'),
      `import { writeFileSync } from 'node:fs'
let times = 0
process.on('SIGINT', () => {
  times += 1
  if (times === 1) setTimeout(() => { console.log('interrupted ' + times); process.exit(7) }, 500)
})
setInterval(() => undefined, 1000)
writeFileSync('ready', '')\n`,
    )
    // In a pseudo-terminal, where Ctrl-C is typed.
    const run = `exec ${process.execPath} ${program} digest -- ${process.execPath} careful.mjs`
    const type =
      "while [ ! -e ready ]; do sleep 0.05; done; printf '\\003'; while [ ! -e over ]; do sleep 0.05; done"
    const ran = spawnSync(
      'bash',
      ['-c', `(${type}) | (script -qec "${run}" /dev/null; code=$?; touch over; exit $code)`],
      {
        cwd: world.cwd,
        env: world.env,
        encoding: 'utf8',
      },
    )
    expect(ran.stdout).toContain('interrupted 1')
    expect(ran.status).toBe(7)
  })

  test('does not block the digest by leaving a background process', () => {
    const ran = digest(terminal(), 'sleep 987 & echo background $!')
    const pid = Number(/^background (\d+)$/m.exec(ran.stdout)?.[1])
    expect(isAlive(pid)).toBe(true)
    process.kill(pid)
    expect(ran).toMatchObject({ status: 0 })
    expect(ran.stderr).toContain('still running')
  })

  test('shows progress on a terminal only', () => {
    const world = terminal()
    const run = (command: string) => `${process.execPath} ${program} digest -- sh -c '${command}'`
    const options = { cwd: world.cwd, env: world.env, encoding: 'utf8' } as const
    // It ends when its progress is on the terminal.
    const waits = 'echo first; until grep -q "1 lines  first" screen; do sleep 0.05; done'
    const onTerminal = spawnSync('script', ['-qefc', `${run(waits)} 2>&1`, 'screen'], options)
    expect(onTerminal.stdout).toContain(' s, 1 lines  first')
    const elsewhere = spawnSync('sh', ['-c', run('echo first; sleep 1.2')], options)
    expect(elsewhere.stderr).toBe('')
  })
})

describe('an output', () => {
  test('is stored in full under the hash of its content, once', () => {
    const world = withSession()
    digest(world, 'seq 9; printf end')
    digest(world, 'seq 9; printf end')
    const text = '1\n2\n3\n4\n5\n6\n7\n8\n9\nend'
    const name = `${createHash('sha256').update(text).digest('hex').slice(0, 16)}.txt`
    expect(storedOutputs(world.sessions)).toEqual([name])
    expect(readFileSync(join(world.sessions, 'artifacts', name), 'utf8')).toBe(text)
    expect(stint(world, ['digest', 'list']).stdout).toMatch(
      / 21 B {2}exit 0 {2}sh -c .* \(×2\)\n1 output, 21 B in all/,
    )
  })

  test('has the lines of both streams in order, none torn by the other', () => {
    const world = withSession()
    digest(
      world,
      'for n in $(seq 1000); do printf "out "; echo $n; printf "err " >&2; echo $n >&2; done',
    )
    const lines = readFileSync(
      join(world.sessions, 'artifacts', storedOutputs(world.sessions)[0]!),
      'utf8',
    )
      .trimEnd()
      .split('\n')
    const numbered = (stream: string) =>
      Array.from({ length: 1000 }, (_, n) => `${stream} ${n + 1}`)
    expect(lines.filter((line) => line.startsWith('out'))).toEqual(numbered('out'))
    expect(lines.filter((line) => line.startsWith('err'))).toEqual(numbered('err'))
    expect(lines).toHaveLength(2000)
  })

  test('keeps its bytes, even those that are not text', () => {
    const world = withSession()
    const bytes = Buffer.from(
      Array.from({ length: 200_000 }, (_, n) => (n * 7919 + (n >> 4)) % 256),
    )
    writeFileSync(join(world.cwd, 'bytes'), bytes)
    digest(world, 'cat bytes')
    expect(
      readFileSync(join(world.sessions, 'artifacts', storedOutputs(world.sessions)[0]!)).equals(
        bytes,
      ),
    ).toBe(true)
  })

  test('holds no secret, nor does its digest or the journal', () => {
    const world = withSession()
    const secret = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
    const ran = digest(
      world,
      `yes 'a line of no interest' | head -n 90000; echo "Error: refused ${secret}"; exit 1`,
    )
    expect(ran.stdout).toContain('Error: refused [redacted:github-token]')
    expect(ran.stderr).toContain('redacted (github-token)')
    const found = spawnSync('grep', ['-rl', secret, world.folder], { encoding: 'utf8' })
    expect(found.stdout).toBe('')
  })

  test('of hundreds of megabytes takes a few megabytes of memory', () => {
    const world = withSession()
    const env = { ...world.env, NODE_OPTIONS: '--max-old-space-size=40' }
    const ran = digest(
      world,
      `yes 'a line that a long running program prints' | head -c 150000000; printf '%150000000s' end`,
      {
        env,
      },
    )
    expect(ran.status).toBe(0)
    expect(ran.stdout).toContain('300 MB')
    const [name] = storedOutputs(world.sessions)
    expect(
      spawnSync('wc', ['-c', join(world.sessions, 'artifacts', name!)], { encoding: 'utf8' })
        .stdout,
    ).toMatch(/^300000000 /)
  })

  test('can be shown by line range and by search text', () => {
    const world = withSession()
    const { stdout } = digest(world, 'seq 1 500; echo Needle; seq 501 900')
    const id = /stint digest show (\w+)/.exec(stdout)![1]!
    expect(stint(world, ['digest', 'show', id, '--lines', '3-5']).stdout).toBe('3\n4\n5\n')
    expect(stint(world, ['digest', 'show', id.slice(0, 4), '--grep', 'needle']).stdout).toBe(
      '501: Needle\n',
    )
    expect(stint(world, ['digest', 'show', id]).stdout.split('\n')).toHaveLength(902)
    expect(stint(world, ['digest', 'show', id, '--lines', '9-3'])).toMatchObject({
      status: 2,
      stdout: '',
    })
    expect(stint(world, ['digest', 'show', 'ffff'])).toMatchObject({ status: 1, stdout: '' })
  })

  test('is never committed, even when sessions are shared through git', () => {
    const world = terminal()
    mkdirSync(join(world.cwd, '.sessions'))
    writeFileSync(join(world.cwd, '.sessions', 'config.yaml'), 'share: git\n')
    agreeTo(world.cwd, world.env)
    stint(world, ['init', '--name', 'shared'])
    digest(world, 'echo private')
    world.git('add', '.')
    const tracked = world.git('ls-files', '.sessions')
    expect(tracked).toContain('log.jsonl')
    expect(tracked).not.toContain('artifacts')
  })

  test('that cannot be stored is digested anyway', () => {
    const world = withSession()
    writeFileSync(join(world.sessions, 'artifacts'), 'in the way')
    const ran = digest(world, 'echo said; exit 3')
    expect(ran.status).toBe(3)
    expect(ran.stdout).toContain('said\nthe output was not kept')
    expect(ran.stderr).toContain('the output could not be kept')
  })

  test('of a killed digest is reported by doctor, and one being written is not', async () => {
    const world = withSession()
    const child = spawn(process.execPath, [program, 'digest', '--', 'cat'], {
      cwd: world.cwd,
      env: world.env,
    })
    const parts = () =>
      existsSync(join(world.sessions, 'artifacts'))
        ? readdirSync(join(world.sessions, 'artifacts'))
        : []
    const ended = new Promise((resolve) => child.on('exit', resolve))
    while (!parts().some((name) => name.endsWith('.part'))) await sleep(20)
    expect(stint(world, ['doctor']).stdout).not.toContain('.part')
    child.kill('SIGKILL')
    await ended
    expect(stint(world, ['doctor']).stdout).toMatch(
      /artifacts\/\.\d+-[0-9a-f]+\.part: what a command had printed/,
    )
  })

  test('is purged of a text in every file that holds it, however large', () => {
    const world = withSession()
    digest(world, 'echo the word is hush-hush-7')
    digest(
      world,
      "yes 'nothing to see here' | head -c 20000000; echo; echo hush-hush-7; yes more | head -c 2000000",
    )
    const before = storedOutputs(world.sessions)
    const purged = stint(world, ['purge', 'hush-hush-7', '--json'])
    expect(purged.status).toBe(0)
    expect(
      spawnSync('grep', ['-rl', 'hush-hush-7', world.sessions], { encoding: 'utf8' }).stdout,
    ).toBe('')
    expect(storedOutputs(world.sessions)).toEqual(before)
    // Printing it again stores it in full again, beside the purged copy.
    digest(world, 'echo the word is hush-hush-7')
    expect(storedOutputs(world.sessions)).toHaveLength(before.length + 1)
    expect(
      spawnSync('grep', ['-rlc', 'purged', join(world.sessions, 'artifacts')], {
        encoding: 'utf8',
      }).stdout.split('\n').length,
    ).toBeGreaterThan(2)
  })
})

describe('a digested run', () => {
  test('is journalled in the active session as one small entry', () => {
    const world = withSession()
    const ran = stint(world, [
      'digest',
      '--label',
      'the build',
      '--',
      'sh',
      '-c',
      'echo a.c:1:2: error: no way; exit 2',
    ])
    expect(ran.stdout).toMatch(/; recorded in work\n$/)
    const [name] = storedOutputs(world.sessions)
    expect(
      world
        .entries()
        .slice(1)
        .map(({ kind, data }) => ({ kind, ...data })),
    ).toEqual([
      {
        kind: 'output.kept',
        label: 'the build',
        command: "sh -c 'echo a.c:1:2: error: no way; exit 2'",
        exit: 2,
        lines: 1,
        summary: 'no way',
        artifact: `.sessions/artifacts/${name}`,
        bytes: 23,
        shown: ran.stdout.trimEnd().length,
      },
    ])
  })

  test('of tests is journalled as a test run', () => {
    const world = withSession()
    digest(world, 'echo "      Tests  3 passed (3)"')
    digest(world, 'echo "2 failed, 1 passed in 0.12s"; exit 1')
    const tests = world
      .entries()
      .filter(({ kind }) => kind === 'test.ran')
      .map(({ data }) => [data['passed'], data['summary']])
    expect(tests).toEqual([
      [true, 'Tests 3 passed (3)'],
      [false, '2 failed, 1 passed in 0.12s'],
    ])
  })

  test('without a session and a project is stored in the state home', () => {
    const world = terminal({ git: false })
    const ran = digest(world, 'echo said')
    expect(ran).toMatchObject({ status: 0, stderr: '' })
    expect(existsSync(join(world.cwd, '.sessions'))).toBe(false)
    expect(storedOutputs(join(world.folder, 'state'))).toHaveLength(1)
    const id = /stint digest show (\w+)/.exec(ran.stdout)![1]!
    expect(stint(world, ['digest', 'show', id]).stdout).toBe('said\n')
  })

  test('does not start with an invalid configuration, which may define secrets', () => {
    const world = withSession()
    writeFileSync(join(world.sessions, 'config.yaml'), 'redact: [\n')
    const ran = digest(world, 'touch began')
    expect(ran.status).toBe(1)
    expect(existsSync(join(world.cwd, 'began'))).toBe(false)
  })

  test('prints JSON with --json and keeps the exit code', () => {
    const world = withSession()
    const ran = stint(world, [
      'digest',
      '--json',
      '--',
      'sh',
      '-c',
      'echo a.c:1:2: error: no way; exit 2',
    ])
    expect(ran.status).toBe(2)
    expect(JSON.parse(ran.stdout)).toMatchObject({
      exitCode: 2,
      lines: 1,
      recordedIn: 'work',
      findings: [{ level: 'error', title: 'no way', where: 'a.c:1:2', line: 1, times: 1 }],
      artifact: { path: `.sessions/artifacts/${storedOutputs(world.sessions)[0]}` },
    })
  })

  test('without a command, or with too few tokens, is a usage error', () => {
    const world = terminal()
    expect(stint(world, ['digest'])).toMatchObject({ status: 2, stdout: '' })
    expect(stint(world, ['digest', '--tokens', '10', '--', 'true'])).toMatchObject({
      status: 2,
      stdout: '',
    })
  })
})
