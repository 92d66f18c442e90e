// The program that a harness runs on every event. It reads the event and loads the program for it, with the code that V8
// compiled for that before: compiling it anew each time would cost more than everything a hook does, and Node 20 has no
// such cache of its own. There is one for each kind of event, so that none loads what only another needs.
import { readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Script } from 'node:vm'
import { PROBE_ANSWER, PROBE_EVENT } from '../harness/claude/hook-command.ts'
import { readInput } from '../hook/read-input.ts'
import { eventIn, isNothingNew } from '../hook/settled.ts'
import { sealCode, unsealCode } from '../hook/sealed-code.ts'
import { errnoOf } from '../journal/errors.ts'
import { createFolder, replaceUnsynced, writeOut } from '../journal/files.ts'
import { stateHome } from '../journal/state-home.ts'

/** The file of each program. Its name has a sum of its source in it, so that no other source is run by its code. */
declare const PROGRAMS: Readonly<Record<string, string>>

const BY_EVENT: Readonly<Record<string, string>> = {
  SessionStart: 'start',
  PreCompact: 'start',
  UserPromptSubmit: 'prompt',
  PostToolUse: 'tool',
  Stop: 'end',
  SubagentStop: 'end',
  SessionEnd: 'end',
  Notification: 'notification',
}

const DEADLINE_MS = 900

interface Program {
  /** Undefined where another program has to serve it. */
  readonly serveEvent: (input: string) => Promise<string | undefined>
}

async function run(what: string): Promise<void> {
  // Node cannot end while a read of its own waits for input that does not come; the shell around it says that all is well.
  const giveUp = setTimeout(() => process.kill(process.pid, 'SIGKILL'), DEADLINE_MS)
  const input = await readInput()
  clearTimeout(giveUp)
  if (input === undefined) return
  const event = eventIn(input)
  if (event === PROBE_EVENT) {
    // One that cannot be loaded gives no answer, here as at its event.
    for (const file of Object.values(PROGRAMS)) load(file)
    return writeOut(PROBE_ANSWER)
  }
  if (what === 'hook' && isNothingNew(event, input, process.env)) return
  const name = what === 'hook' ? BY_EVENT[event] : what
  if (name === undefined) return
  // Mostly an event can be served without opening the session.
  const isServed = what === 'hook' && (await serveBy(`quick-${name}`, input))
  if (!isServed) await serveBy(name, input)
}

async function serveBy(name: string, input: string): Promise<boolean> {
  const file = PROGRAMS[name]
  if (file === undefined) return false
  const { program, keep } = load(file)
  const answer = await program.serveEvent(input)
  if (answer !== undefined && answer !== '') writeOut(`${answer}\n`)
  keep()
  return answer !== undefined
}

function load(file: string): { program: Program; keep: () => void } {
  const path = join(__dirname, file)
  const { STINT_KEEP_COMPILED: asked } = process.env
  const cache = join(asked ?? join(stateHome(), 'compiled'), `${file}.${thisNode()}`)
  // All ASCII, so that it need not be decoded.
  const source = readFileSync(path, 'latin1')
  const kept = readOrNothing(cache)
  const cachedData = kept === undefined ? undefined : unsealCode(kept)
  const script = new Script(`(function (exports, require, __dirname) {${source}\n})`, {
    filename: path,
    ...(cachedData === undefined ? {} : { cachedData }),
  })
  const exports = {}
  ;(script.runInThisContext() as (exports: object, require: NodeJS.Require, folder: string) => void)(exports, require, __dirname)
  const isFromCache = cachedData !== undefined && script.cachedDataRejected === false
  const isToKeep = !isFromCache || asked !== undefined
  return {
    program: exports as Program,
    keep: () => (isToKeep ? keepCompiled(cache, sealCode(script.createCachedData())) : undefined),
  }
}

/** Two builds of one version need not understand each other's code, and V8 does not tell all of them apart. */
function thisNode(): string {
  // Being replaced just now, it may have no file.
  const { size, mtimeMs } = statSync(process.execPath, { throwIfNoEntry: false }) ?? { size: 0, mtimeMs: 0 }
  return `${process.version}.${process.arch}.${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}`
}

function readOrNothing(path: string): Buffer | undefined {
  try {
    return readFileSync(path)
  } catch {
    // Not there yet, or not to be read.
    return undefined
  }
}

function keepCompiled(cache: string, code: Buffer): void {
  try {
    createFolder(dirname(cache))
    replaceUnsynced(cache, code)
  } catch (error) {
    // A full or read-only disk: compiled anew next time.
    if (errnoOf(error) === undefined) throw error
  }
}

// Whatever happens, the agent goes on.
const end = () => process.exit(0)
process.on('uncaughtException', end)
// In a run the runner sees for itself what its agent does, and gives it what it is to have.
if ((process.env.STINT_RUN ?? '') !== '') end()
const [, , first = 'hook', second] = process.argv
run(second ?? first).then(end, end)
