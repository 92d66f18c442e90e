// Every conversation of a harness starts this server, and most never call it, so it loads little at the start.
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { readFileSync } from 'node:fs'
import { Writable } from 'node:stream'
import { StintError } from '../public/projection.ts'
import { printable } from '../text/printable.ts'
import { checkFolder } from './choose-folder.ts'
import { type ServerSettings, makeServer } from './server.ts'

/** Serves the client on stdin and stdout until it closes them. */
export async function serveMcp(settings: Omit<ServerSettings, 'reportDefect'>): Promise<void> {
  const reportDefect = (error: unknown) => {
    process.stderr.write(
      `stint: ${printable(error instanceof Error ? (error.stack ?? error.message) : String(error))}\n`,
    )
  }
  await new Promise<void>((resolve) => {
    const transport = new (class extends StdioServerTransport {
      override async close() {
        await super.close()
        resolve()
      }
    })(process.stdin, reserveStdout())
    serveStdio(({ era }) => makeServer({ ...settings, reportDefect }, era === 'legacy'), {
      transport,
      onerror: (error) => process.stderr.write(`stint: ${printable(error.message)}\n`),
    })
  })
}

/** The same for the folder and environment of this process. */
export async function serveCurrentFolder(packageJson: URL): Promise<void> {
  const { version } = JSON.parse(readFileSync(packageJson, 'utf8')) as { version: string }
  let startedIn: string
  try {
    startedIn = checkFolder(() => process.cwd())
  } catch (error) {
    if (!(error instanceof StintError)) throw error
    // Clients show one line of it at most.
    process.stderr.write(`stint: ${printable(`${error.message}; ${error.hint}`)}\n`)
    process.exitCode = 1
    return
  }
  await serveMcp({ version, env: process.env, startedIn })
}

/** Reserves stdout for the protocol and sends other writes to stderr: one stray line makes clients drop the server. */
function reserveStdout(): Writable {
  const { stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write
  // The failed write reports the error to its caller; without a listener it would crash the process.
  stdout.on('error', () => undefined)
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, _encoding, done) =>
      void write(chunk, (error) => done(error ?? null)),
  })
}
