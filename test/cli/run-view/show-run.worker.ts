// A run on a real terminal: emits its events, then waits to be stopped, or crashes.
import { exitCodeOfRun, showRun } from '../../../src/cli/print/run/show-run.ts'
import type { CliContext } from '../../../src/cli/context/context.ts'
import { withCleanOutput } from '../../../src/cli/context/trusted-output.ts'
import type { RunReport } from '../../../src/run/entries.ts'
import { REPORT, STORY } from './story.ts'

const HIDE_CURSOR = '\u001B[?25l'
const [mode] = process.argv.slice(2)
const { stdout, stderr, env } = process
const context = withCleanOutput({
  process: { stdout, stderr, env },
  cwd: '/',
  env,
  canAsk: false,
  hasColour: true,
  readStdin: async () => '',
} as unknown as CliContext)

/** Calls back after the first frame. */
function onceDrawn(then: () => void): void {
  const write = stderr.write.bind(stderr)
  stderr.write = ((text: string) => {
    if (text.includes(HIDE_CURSOR)) {
      stderr.write = write
      setImmediate(then)
    }
    return write(text)
  }) as typeof stderr.write
}

const report = await showRun(context, {}, async (tell, decide) => {
  for (const event of STORY) tell({ ...event, at: new Date().toISOString() })
  let end: (ended: RunReport) => void
  const ended = new Promise<RunReport>((resolve) => (end = resolve))
  const isKept = setInterval(() => {}, 1000)
  if (mode === 'breaks') {
    onceDrawn(() => {
      throw new Error('a defect')
    })
  }
  if (mode === 'asks') {
    onceDrawn(async () => {
      const asked = decide({ tool: 'Bash', title: 'run it', command: 'rm -r build' })
      // Keeps emitting for several frames while the question is open.
      for (let step = 0; step < 10; step += 1) {
        await new Promise((resolve) => setTimeout(resolve, 50))
        tell({
          kind: 'message',
          at: new Date().toISOString(),
          data: { text: `step ${step} meanwhile` },
        })
      }
      stdout.write('[ten steps later]')
      const isAllowed = await asked
      tell({
        kind: 'message',
        at: new Date().toISOString(),
        data: { text: isAllowed ? 'it was allowed' : 'it was refused' },
      })
    })
  }
  return {
    ended,
    stop(how) {
      tell({ kind: 'stopping', at: new Date().toISOString(), data: { how } })
      if (how === 'after task') return
      clearInterval(isKept)
      end({ ...REPORT, how: 'interrupted' })
    },
  }
})
process.exitCode = exitCodeOfRun(report)
stdout.write(`the report of ${report.run}\n`)
