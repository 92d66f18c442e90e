import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { program } from './cli.ts'

export interface Served {
  /** With the token. */
  readonly url: string
  /** Without it, and without a slash at its end. */
  readonly origin: string
  readonly child: ChildProcess
  stop(signal?: NodeJS.Signals): Promise<void>
}

/** A port that no other process starts with: the default ports of stint serve are constantly in use. */
export async function freePort(): Promise<string> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return String(port)
}

/** The real `stint serve` in its own process. */
export async function serve(
  cwd: string,
  env: NodeJS.ProcessEnv,
  ...flags: readonly string[]
): Promise<Served> {
  const child = spawn(process.execPath, [program, 'serve', '--json', ...flags], {
    cwd,
    // A chosen token, so that the address can be opened by several browsers and after a restart.
    env: { STINT_SERVE_TOKEN: 'a-token-for-these-tests', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stderr.on('data', (piece: Buffer) => {
    output += String(piece)
  })
  const first = await Promise.race([
    once(createInterface(child.stdout), 'line'),
    once(child, 'exit'),
  ])
  if (typeof first[0] !== 'string') throw new Error(`stint serve ended with ${first[0]}\n${output}`)
  const { url } = JSON.parse(first[0]) as { url?: string }
  if (url === undefined) throw new Error(`stint serve: ${first[0]}`)
  return {
    url,
    origin: new URL(url).origin,
    child,
    async stop(signal = 'SIGTERM') {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill(signal)
      await ended
    },
  }
}
