import { ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { ProcessTag } from '../../src/harness/contract/drive.ts'
import { findProgram } from '../../src/harness/process/find-program.ts'
import {
  type GuardedProcess,
  endOrphans,
  isAlive,
  processStartTime,
  streamLines,
  spawnGuarded,
} from '../../src/harness/process/spawn-guarded.ts'
import { StintError } from '../../src/journal/errors.ts'
import { randomHex } from '../../src/journal/ids.ts'
import { bundleProgram } from '../support/bundle.ts'
import { carriersOf, expectNoneLeft, isRunning } from '../support/processes.ts'
import { scratchFolder } from '../support/scratch.ts'

const SLEEP = 'sleep 987'
/** A child in the same group, one in a separate session, and one there that ignores TERM. */
const FAMILY = `${SLEEP} & setsid ${SLEEP} & setsid sh -c 'trap "" TERM; while :; do sleep 1; done' &`
/** Prints its pid once all of them are running. */
const READY = 'echo $$; wait'

function guard(script: string, env: NodeJS.ProcessEnv = {}): GuardedProcess {
  const guarded = spawnGuarded('sh', ['-c', script], {
    cwd: scratchFolder(),
    env: { PATH: process.env.PATH, ...env },
  })
  onTestFinished(async () => void (await endOrphans(guarded.tag, 0)))
  return guarded
}

async function firstLine(guarded: GuardedProcess): Promise<string> {
  for await (const line of guarded.lines) return line
  throw new Error(`it said nothing: ${guarded.stderrTail()}`)
}

async function linesFrom(guarded: GuardedProcess): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const line of guarded.lines) lines.push(line)
  return lines
}

describe('a guarded program', () => {
  test('gets its input, and yields its output and exit', async () => {
    const guarded = guard('read a; echo "got $a"; echo trouble >&2; exit 7')
    guarded.stdin.write('hello\n')
    expect(await linesFrom(guarded)).toEqual(['got hello'])
    expect(await guarded.exited).toEqual({ code: 7, signal: null })
    expect(guarded.stderrTail()).toBe('trouble\n')
  })

  test("gets the requested folder, environment and arguments, and none of Stint's own", async () => {
    const guarded = spawnGuarded(
      'node',
      ['-p', 'JSON.stringify([process.cwd(), process.env, process.argv.slice(1)])', 'a b', '"$X"'],
      {
        cwd: '/etc',
        env: { PATH: process.env.PATH, X: 'é\n' },
      },
    )
    const [cwd, env, args] = JSON.parse(await firstLine(guarded))
    expect(cwd).toBe('/etc')
    expect(env).toEqual({ PATH: process.env.PATH, X: 'é\n', STINT_MARK: guarded.tag.mark })
    expect(args).toEqual(['a b', '"$X"'])
  })

  test('keeps Node options meant for the agent, which do not reach its guardian', async () => {
    const guarded = guard('echo "$NODE_OPTIONS"', { NODE_OPTIONS: '--require /nowhere/at-all.js' })
    expect(await linesFrom(guarded)).toEqual(['--require /nowhere/at-all.js'])
    expect((await guarded.exited).code).toBe(0)
  })

  test('leaves no process when it exits, neither one that left its group nor one that ignores TERM', async () => {
    const guarded = guard(`${FAMILY} sleep 0.3; exit 3`)
    expect(await guarded.exited).toEqual({ code: 3, signal: null })
    expect(carriersOf(guarded.tag.mark)).toEqual([])
  })

  test('leaves no process when it is killed', async () => {
    const guarded = guard(`${FAMILY} ${READY}`)
    process.kill(Number(await firstLine(guarded)), 'SIGKILL')
    expect(await guarded.exited).toEqual({ code: null, signal: 'SIGKILL' })
    expect(carriersOf(guarded.tag.mark)).toEqual([])
  })

  test('leaves no process when its guardian is killed', async () => {
    const guarded = guard(`${FAMILY} ${READY}`)
    await firstLine(guarded)
    process.kill(guarded.tag.pid, 'SIGKILL')
    expect(await guarded.exited).toEqual({ code: null, signal: 'SIGKILL' })
    expect(carriersOf(guarded.tag.mark)).toEqual([])
  })

  test('leaves no process when it is ended, and can be ended twice', async () => {
    const guarded = guard(`${FAMILY} ${READY}`)
    await firstLine(guarded)
    await Promise.all([guarded.end(100), guarded.end(100)])
    expect(carriersOf(guarded.tag.mark)).toEqual([])
    await guarded.end()
    expect(isAlive(guarded.tag)).toBe(false)
    guarded.stdin.write('too late\n')
  })

  test('may exit by itself within the grace period', async () => {
    const guarded = guard(`trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.05; done`)
    const lines = guarded.lines[Symbol.asyncIterator]()
    expect((await lines.next()).value).toBe('ready')
    await guarded.end(20_000)
    expect((await lines.next()).value).toBe('bye')
    expect(await guarded.exited).toEqual({ code: 5, signal: null })
  })

  test('is killed sooner when it is ended again with a shorter grace', async () => {
    // A guardian that counts as stuck is killed, which would hide that it ignored the second call.
    const kill = vi.spyOn(ChildProcess.prototype, 'kill').mockReturnValue(true)
    onTestFinished(() => kill.mockRestore())
    const guarded = guard(`trap '' TERM; echo ready; while :; do sleep 1; done`)
    await firstLine(guarded)
    const slow = guarded.end(3_600_000)
    await guarded.end(0)
    await slow
    expect(await guarded.exited).toEqual({ code: null, signal: 'SIGKILL' })
  })

  test('that reads no more input does not make writes fail', async () => {
    const guarded = guard(`exec <&-; echo closed; ${SLEEP}`)
    await firstLine(guarded)
    const error = await new Promise<unknown>((resolve) =>
      guarded.stdin.write('x'.repeat(1_000_000), resolve),
    )
    expect(error).toMatchObject({ code: 'EPIPE' })
    guarded.stdin.write('and more\n')
    await guarded.end(100)
  })

  test('is ended even when it is stopped', async () => {
    const guarded = guard('echo $$; kill -STOP $$; echo never')
    await firstLine(guarded)
    await guarded.end(50)
    expect(carriersOf(guarded.tag.mark)).toEqual([])
  })

  test('takes down a child that cleared its environment and left its session', async () => {
    const guarded = guard(`env -i setsid ${SLEEP} & echo $!; wait`)
    const child = Number(await firstLine(guarded))
    expect(isRunning(child)).toBe(true)
    await guarded.end(100)
    expect(isRunning(child)).toBe(false)
  })

  test('that closes its output is seen as closed while it lives on', async () => {
    const guarded = guard(`echo last; exec >&-; ${SLEEP}`)
    expect(await linesFrom(guarded)).toEqual(['last'])
    expect(isAlive(guarded.tag)).toBe(true)
    await guarded.end(100)
  })

  test('also carries the tag of the guarded program that started us', async () => {
    const guarded = guard('echo $STINT_MARK', { STINT_MARK: 'outer' })
    expect(await firstLine(guarded)).toBe(`outer.${guarded.tag.mark}`)
  })

  test('that is missing is reported at once, with a fix', () => {
    const start = () => spawnGuarded('no-such-agent', [], { cwd: '/', env: { PATH: '/usr/bin' } })
    expect(start).toThrow(
      expect.objectContaining({ code: 'PROGRAM_MISSING', hint: expect.stringContaining('PATH') }),
    )
    expect(start).toThrow(StintError)
    expect(findProgram('/etc/passwd', {}, '/')).toBeUndefined()
    expect(findProgram('sh', { PATH: '/nowhere:/bin' }, '/')).toBe('/bin/sh')
  })

  test('is not started in a missing folder', () => {
    expect(() => spawnGuarded('sh', [], { cwd: '/no/such/folder', env: { PATH: '/bin' } })).toThrow(
      expect.objectContaining({ code: 'FOLDER_MISSING' }),
    )
  })

  test('that cannot be executed exits as in a shell, with the reason', async () => {
    const folder = scratchFolder()
    writeFileSync(join(folder, 'broken'), '#!/no/such/interpreter\n', { mode: 0o755 })
    const guarded = spawnGuarded('./broken', [], { cwd: folder, env: {} })
    expect((await guarded.exited).code).toBe(127)
    expect(guarded.stderrTail()).toContain('ENOENT')
  })
})

describe('when our own process dies', () => {
  /** A process with a guarded program under it, which printed its pid. */
  async function parentOf(script: string) {
    const folder = scratchFolder()
    const worker = join(folder, 'worker.mjs')
    await bundleProgram(new URL('guarded.worker.ts', import.meta.url).pathname, worker)
    const child = spawn(process.execPath, [worker, 'sh', '-c', script], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const line = await new Promise<string>((resolve) =>
      createInterface({ input: child.stdout }).once('line', resolve),
    )
    const { tag, line: pid } = JSON.parse(line) as { tag: ProcessTag; line: string }
    onTestFinished(async () => void (await endOrphans(tag, 0)))
    return { kill: () => child.kill('SIGKILL'), tag, program: Number(pid) }
  }

  test('everything it started is ended, even after kill -9', async () => {
    const parent = await parentOf(`${FAMILY} ${READY}`)
    expect(carriersOf(parent.tag.mark).length).toBeGreaterThan(3)
    expect(isAlive(parent.tag)).toBe(true)
    parent.kill()
    await expectNoneLeft(parent.tag.mark)
    expect(isAlive(parent.tag)).toBe(false)
  })

  test('with its guardian, orphans remain and are ended by their tag', async () => {
    const parent = await parentOf(`${FAMILY} ${READY}`)
    // Stopped first, so that it cannot act in between.
    process.kill(parent.tag.pid, 'SIGSTOP')
    parent.kill()
    process.kill(parent.tag.pid, 'SIGKILL')
    expect(isRunning(parent.program)).toBe(true)
    expect(await endOrphans(parent.tag, 100)).toBeGreaterThanOrEqual(4)
    expect(carriersOf(parent.tag.mark)).toEqual([])
    expect(await endOrphans(parent.tag)).toBe(0)
  })
})

describe('a process tag', () => {
  test('whose pid was reused harms no other process', async () => {
    const other = guard(READY.replace('wait', SLEEP))
    const program = Number(await firstLine(other))
    const startedAt = readFileSync(`/proc/${program}/stat`, 'utf8').split(') ')[1]!.split(' ')[19]!
    for (const stale of [
      { pid: program, startedAt: '1', mark: other.tag.mark },
      { pid: program, startedAt, mark: 'f'.repeat(32) },
    ]) {
      expect(isAlive(stale)).toBe(false)
    }
    expect(await endOrphans({ pid: program, startedAt, mark: 'f'.repeat(32) }, 0)).toBe(0)
    expect(isRunning(program)).toBe(true)
    await other.end(0)
  })
})

describe('the lines of a program', () => {
  const split = async (pieces: readonly (string | Uint8Array)[], longest?: number) => {
    const lines: string[] = []
    for await (const line of streamLines(
      Readable.from(
        pieces.map((piece) => Buffer.from(piece as string)),
        { objectMode: true },
      ),
      longest,
    ))
      lines.push(line)
    return lines
  }

  test('are split at LF only, wherever the chunks end', async () => {
    const text = 'one\r\n\u2028two\u0085\f\n\nthree 🧭 é\nlast'
    const bytes = Buffer.from(text)
    for (let at = 1; at < bytes.length; at += 1)
      expect(await split([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(text.split('\n'))
  })

  test('survive bytes that are not text', async () => {
    expect(await split([Buffer.from([0x7b, 0xff, 0xc3, 0x0a, 0x7d, 0x0a])])).toEqual([
      '{\ufffd\ufffd',
      '}',
    ])
  })

  test('are cut where one is too long, and the next one is complete', async () => {
    expect(await split(['x'.repeat(50), 'y'.repeat(50), '\nnext\n'], 60)).toEqual([
      'x'.repeat(50) + 'y'.repeat(10),
      'next',
    ])
  })

  test('of a real program are complete, however long', async () => {
    const guarded = guard(`head -c 9000000 /dev/zero | tr '\\0' x; echo; echo end`)
    const lines = await linesFrom(guarded)
    expect(lines.map((line) => line.length)).toEqual([9_000_000, 3])
  })
})
test('a malformed tag ends no process and is never alive', async () => {
  const part = randomHex(6)
  const victim = spawn('sleep', ['600'], { env: { MARKED: `${part}-more` }, stdio: 'ignore' })
  await once(victim, 'spawn')
  onTestFinished(() => void victim.kill('SIGKILL'))
  const tag = { pid: victim.pid!, startedAt: processStartTime(victim.pid!), mark: part }
  expect(await endOrphans(tag)).toBe(0)
  expect(victim.signalCode).toBe(null)
  expect(isAlive(tag)).toBe(false)
  expect(isAlive({ ...tag, mark: '' })).toBe(true)
  expect(isAlive({ ...tag, mark: '', startedAt: '' })).toBe(false)
  for (const pid of [-1, 0, -victim.pid!, 1.5, Number.NaN])
    expect(isAlive({ pid, startedAt: '', mark: '' })).toBe(false)
})
