// The program that a harness runs on every event. It reads the event and loads the program for it, with the code that V8
// compiled for that before: compiling it anew each time would cost more than everything a hook does, and Node 20 has no
// such cache of its own. There is one for each kind of event, so that none loads what only another needs. This one is
// compiled each time, and is as small as can be.
import { readFileSync, statSync } from 'node:fs'
import { Script } from 'node:vm'
import { PROBE_ANSWER, PROBE_EVENT } from '../harness/setup/hook-command.ts'
import { eventIn } from '../hook/event-in.ts'
import { readInput } from '../hook/read-input.ts'
import { unsealCode } from '../hook/sealed-code.ts'
import { stateHome } from '../journal/state-home.ts'

/** The file of each program. Its name has a sum of its source in it, so that no other source is run by its code. */
declare const PROGRAMS: Readonly<Record<string, string>>

const FILES = PROGRAMS

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

interface Program {
  /** Undefined where another program has to serve it. */
  readonly serveEvent: (input: string) => Soon<string | undefined>
  readonly writeOut: (text: string) => void
}

/** What is there at once is used at once: before anything that was waited for, Node makes itself ready for a longer life. */
type Soon<T> = T | Promise<T>

function soon<T, R>(value: Soon<T>, use: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(use) : use(value)
}

function serve(what: string, input: string | undefined): Soon<unknown> {
  if (input === undefined) return
  const event = eventIn(input)
  if (event === PROBE_EVENT) {
    // One that cannot be loaded gives no answer, here as at its event.
    const loaded = Object.values(FILES).map(load)
    return loaded[0]!.program.writeOut(PROBE_ANSWER)
  }
  const name = what === 'hook' ? BY_EVENT[event] : what
  if (name === undefined) return
  // Mostly an event can be served without opening the session.
  const quickly = what === 'hook' && serveBy(`quick-${name}`, input)
  return soon(quickly, (isServed) => isServed || serveBy(name, input))
}

function serveBy(name: string, input: string): Soon<boolean> {
  const file = FILES[name]
  if (file === undefined) return false
  const { program, keep } = load(file)
  return soon(program.serveEvent(input), (answer) => {
    if (answer !== undefined && answer !== '') program.writeOut(`${answer}\n`)
    return soon(keep?.(), () => answer !== undefined)
  })
}

function load(file: string): { program: Program; keep: (() => Promise<void>) | undefined } {
  const filename = `${__dirname}/${file}`
  const { STINT_KEEP_COMPILED: asked } = process.env
  const cache = `${asked ?? `${stateHome()}/compiled`}/${file}.${thisNode()}`
  const kept = readOrNothing(cache)
  const cachedData = kept === undefined ? undefined : unsealCode(kept)
  const script = new Script(readFileSync(filename, 'utf8'), { filename, cachedData })
  const exports = {}
  ;(
    script.runInThisContext() as (exports: object, require: NodeJS.Require, folder: string) => void
  )(exports, require, __dirname)
  const isFromCache = cachedData !== undefined && script.cachedDataRejected === false
  const keep = async () => {
    const { keepCompiled } = await import('../hook/keep-compiled.ts')
    keepCompiled(cache, script.createCachedData())
  }
  return {
    program: exports as Program,
    keep: isFromCache && asked === undefined ? undefined : keep,
  }
}

/** Two builds of one version need not understand each other's code, and V8 does not tell all of them apart. */
function thisNode(): string {
  // Being replaced just now, it may have no file.
  const { size, mtimeMs } = statSync(process.execPath, { throwIfNoEntry: false }) ?? {
    size: 0,
    mtimeMs: 0,
  }
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

// Whatever happens, the agent goes on.
const end = () => process.exit(0)
process.on('uncaughtException', end)
// In a run the runner sees for itself what its agent does, and gives it what it is to have.
if ((process.env.STINT_RUN ?? '') !== '') end()
const [, , first = 'hook', second] = process.argv
const served = soon(readInput(), (input) => serve(second ?? first, input))
if (served instanceof Promise) served.then(end, end)
else end()
