import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { keepStdout } from './own-stdout.ts'
import { type ServerSettings, makeServer } from './server.ts'

/** Serves the client at the other end of standard input and output, until it closes them. */
export async function serveMcp(settings: Omit<ServerSettings, 'reportDefect'>): Promise<void> {
  const reportDefect = (error: unknown) => {
    process.stderr.write(`stint: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
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
