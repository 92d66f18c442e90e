// Started by every conversation of an agent program, most of which never ask it anything.
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { readFileSync } from 'node:fs'
import { Writable } from 'node:stream'
import { StintError } from '../public.ts'
import { checkFolder } from './choose-folder.ts'
import { type ServerSettings, makeServer } from './server.ts'

/** Serves the client at the other end of standard input and output, until it closes them. */
export async function serveMcp(settings: Omit<ServerSettings, 'reportDefect'>): Promise<void> {
  const reportDefect = (error: unknown) => {
    process.stderr.write(
      `stint: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    )
  }
  await new Promise<void>((resolve) => {
    const transport = new (class extends StdioServerTransport {
      override async close() {
        await super.close()
        resolve()
      }
    })(process.stdin, keepStdout())
    serveStdio(({ era }) => makeServer({ ...settings, reportDefect }, era === 'legacy'), {
      transport,
      onerror: (error) => process.stderr.write(`stint: ${error.message}\n`),
    })
  })
}

/** The same in the folder of this process, for its environment. */
export async function serveCurrentFolder(packageJson: URL): Promise<void> {
  const { version } = JSON.parse(readFileSync(packageJson, 'utf8')) as { version: string }
  let startedIn: string
  try {
    startedIn = checkFolder(() => process.cwd())
  } catch (error) {
    if (!(error instanceof StintError)) throw error
    // A client shows it in one line, or not at all.
    process.stderr.write(`stint: ${error.message}; ${error.hint}\n`)
    process.exitCode = 1
    return
  }
  await serveMcp({ version, env: process.env, startedIn })
}

/** Keeps standard output for the protocol: one stray line of a library, and a client takes the server for broken. What others write goes to standard error. */
function keepStdout(): Writable {
  const { stdout, stderr } = process
  const write = stdout.write.bind(stdout)
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write
  // Whoever writes is told by the call that failed; without anybody listening the process would end by it.
  stdout.on('error', () => undefined)
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, _encoding, done) =>
      void write(chunk, (error) => done(error ?? null)),
  })
}
