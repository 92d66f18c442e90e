// The program that a harness runs on every event. One file without a command line or a database, because it is
// started anew each time; what takes longer is loaded only when it is asked for.
import { PROBE_ANSWER, PROBE_EVENT } from '../harness/claude/hook-command.ts'
import { readInput } from '../hook/read-input.ts'
import { serveHook } from '../hook/serve-hook.ts'
import { writeOut } from '../journal/files.ts'

const DEADLINE_MS = 900

const end = () => process.exit(0)

async function run(what: string): Promise<void> {
  // Node cannot end while a read of its own waits for input that does not come; the shell around it says that all is well.
  const giveUp = setTimeout(() => process.kill(process.pid, 'SIGKILL'), DEADLINE_MS)
  const input = await readInput()
  clearTimeout(giveUp)
  if (input === undefined) return
  if (input.includes(PROBE_EVENT) && isProbe(input)) return writeOut(PROBE_ANSWER)
  if (what === 'views') {
    const { renderViews } = await import('../hook/render-views.ts')
    await renderViews(input, process.env)
    return
  }
  const answer = what === 'statusline' ? await lineFor(input) : await serveHook(input, process.env)
  if (answer !== '') writeOut(`${answer}\n`)
}

async function lineFor(input: string): Promise<string> {
  const { statusLine } = await import('../hook/status-line.ts')
  return statusLine(input, new Date().toISOString())
}

function isProbe(input: string): boolean {
  try {
    return (JSON.parse(input) as { hook_event_name?: unknown }).hook_event_name === PROBE_EVENT
  } catch {
    return false
  }
}

// Whatever happens, the agent goes on.
process.on('uncaughtException', end)
const [, , first = 'hook', second] = process.argv
run(second ?? first).then(end, end)
