// The scripted agent, served in this process: the protocol is spoken as always, but no program is started for the agent or for what
// it reports. Tests about processes use the real program.
import { PassThrough, Readable, Writable } from 'node:stream'
import { ndJsonStream } from '@agentclientprotocol/sdk'
import { onTestFinished } from 'vitest'
import {
  processStartTime,
  spawnGuarded,
  streamLines,
} from '../../src/harness/process/spawn-guarded.ts'
import { runDetached } from '../../src/harness/process/run-detached.ts'
import { findHarness, registerHarness } from '../../src/harness/registry.ts'
import {
  type RehearsalHost,
  serveRehearsal,
} from '../../src/harness/rehearsal/agent/serve-rehearsal.ts'
import { loadScript } from '../../src/harness/rehearsal/agent/script.ts'
import { rehearsalHarness } from '../../src/harness/rehearsal/drive.ts'
import { randomHex } from '../../src/journal/ids.ts'

/** Until the running test ends, `--harness rehearsal` starts no process. */
export function serveScriptedAgent(): void {
  const drive = async (request: Parameters<typeof rehearsalHarness>[0]) =>
    rehearsalHarness(request, spawnHere)
  onTestFinished(registerHarness({ ...findHarness('rehearsal')!, drive }))
}

const spawnHere: typeof spawnGuarded = (command, args, options) => {
  if (options.wrap !== undefined) return spawnGuarded(command, args, options)
  const at = args.indexOf('--script')
  const script = loadScript(at === -1 ? undefined : args[at + 1])
  const input = new PassThrough()
  const output = new PassThrough()
  let kill: () => void = () => undefined
  const killed = new Promise<'SIGKILL'>((resolve) => (kill = () => resolve('SIGKILL')))
  const stream = ndJsonStream(
    Writable.toWeb(output),
    Readable.toWeb(input) as ReadableStream<Uint8Array>,
  )
  const served = serveRehearsal(stream, script, options.env, { run, die: kill })
  const exited = Promise.race([served.then(() => null), killed]).then((signal) => {
    output.end()
    return { code: signal === null ? 0 : null, signal }
  })
  return {
    stdin: input,
    lines: streamLines(output),
    tag: { pid: process.pid, startedAt: processStartTime(process.pid), mark: randomHex(16) },
    stderrTail: () => '',
    exited,
    end: async () => {
      input.end()
      await exited
    },
  }
}

/** Its own `stint` runs in this process as well. */
const run: RehearsalHost['run'] = async (command, options) => {
  const [program, , ...args] = command
  if (program !== process.execPath) return runDetached(command, options)
  const { commandLine } = await import('./cli.ts')
  const { exitCode, stdout, stderr } = await commandLine(options.cwd, options.env ?? {}).stint(
    ...args,
  )
  options.onOutput(Buffer.from(stdout + stderr))
  return { code: exitCode, killedBy: null }
}
