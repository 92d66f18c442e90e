import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { onTestFinished, describe, expect, test } from 'vitest'
import { program, terminal } from '../support/cli.ts'
import { expectNoneLeft } from '../support/processes.ts'

type Terminal = ReturnType<typeof terminal>

interface Started {
  readonly child: ChildProcess
  readonly url: string
  readonly isNew: boolean
  readonly pid: number
  /** The exit code, or the signal that ended the process. */
  readonly ended: Promise<number | string | null>
}

async function serve({ cwd, env }: Terminal, ...args: readonly string[]): Promise<Started> {
  const child = spawn(process.execPath, [program, 'serve', '--json', ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = new Promise<number | string | null>((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? signal)),
  )
  let text = ''
  for await (const piece of child.stdout!) {
    text += String(piece)
    if (text.includes('\n')) break
  }
  return { child, ended, ...(JSON.parse(text) as { url: string; isNew: boolean; pid: number }) }
}

/** The cookie that the address is exchanged for. */
const enter = async (url: string) => {
  const answer = await fetch(url, { redirect: 'manual' })
  return { status: answer.status, cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '' }
}
const cookieOf = (url: string) =>
  `stint-${new URL(url).port}=${new URL(url).searchParams.get('token')!}`
const ask = (url: string, path: string, init: RequestInit = {}) =>
  fetch(new URL(path, url), { ...init, headers: { cookie: cookieOf(url), ...init.headers } })

describe('stint serve', () => {
  test('serves the built page until it is stopped, and leaves no process and no server record', async () => {
    const world = terminal()
    const token = 'from-the-environment'
    const script = join(world.folder, 'hang.json')
    writeFileSync(script, JSON.stringify({ default: [[{ hang: true }]] }))
    const { child, ended, url } = await serve({
      ...world,
      env: { ...world.env, STINT_SERVE_TOKEN: token, STINT_REHEARSAL_SCRIPT: script },
    })
    expect(new URL(url).searchParams.get('token')).toBe(token)
    const entered = await fetch(url, { redirect: 'manual' })
    expect([entered.status, entered.headers.get('location')]).toEqual([303, '/'])
    expect(await (await ask(url, '/')).text()).toContain('<script')
    expect((await ask(url, '/api/overview')).status).toBe(200)
    const note = join(world.env.STINT_STATE_HOME!, 'serve')
    expect(readdirSync(note).map((name) => statSync(join(note, name)).mode & 0o777)).toEqual([
      0o600,
    ])
    const events = await ask(url, '/api/events')
    const prompted = await ask(url, '/api/prompts', {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: new URL(url).origin },
      body: JSON.stringify({ text: 'Hang', harness: 'rehearsal' }),
    })
    const { prompt } = (await prompted.json()) as { prompt: string }
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
    await expectNoneLeft(`STINT_PROMPT=${prompt}`)
    await events.body?.cancel().catch(() => undefined)
    expect(readdirSync(note)).toEqual([])
  })

  test('prints the address of a running server, and reuses that of a killed one', async () => {
    const world = terminal()
    const first = await serve(world)
    const second = await serve(world)
    expect(second).toMatchObject({ isNew: false, pid: first.child.pid })
    expect(new URL(second.url).origin).toBe(new URL(first.url).origin)
    const { cookie } = await enter(second.url)
    const overview = () => fetch(new URL('/api/overview', first.url), { headers: { cookie } })
    expect((await overview()).status).toBe(200)
    expect(await second.ended).toBe(0)
    const other = await world.stint('serve', '--port', '1')
    expect([other.exitCode, other.stderr]).toEqual([
      1,
      expect.stringContaining(`served already, on port ${new URL(first.url).port}`),
    ])
    first.child.kill('SIGKILL')
    await first.ended
    const third = await serve(world)
    expect([third.isNew, new URL(third.url).origin]).toEqual([true, new URL(first.url).origin])
    expect((await overview()).status).toBe(200)
    // One-time addresses of the killed server are void, used or not.
    expect(
      await Promise.all([first, second].map(async ({ url }) => (await enter(url)).status)),
    ).toEqual([401, 401])
    third.child.kill('SIGINT')
    expect(await third.ended).toBe(0)
  })

  test('uses only the named port', async () => {
    const world = terminal({ git: false })
    const taken = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => taken.once('listening', resolve))
    onTestFinished(() => void taken.close())
    const { port } = taken.address() as { port: number }
    const refused = await world.stint('serve', '--port', String(port), '--json')
    expect([refused.exitCode, refused.json()]).toMatchObject([1, { error: { code: 'PORT_TAKEN' } }])
    expect((await world.stint('serve', '--port', '70000')).exitCode).toBe(2)
    const open = await world.stint('serve', '--host', '0.0.0.0')
    expect([open.exitCode, open.stderr]).toEqual([1, expect.stringContaining('STINT_SERVE_TOKEN')])
    // Viewing creates nothing in an empty project.
    expect(existsSync(join(world.cwd, '.sessions'))).toBe(false)
  })
})
