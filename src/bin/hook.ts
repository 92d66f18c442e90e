// The program that a harness runs on every event. It reads the event and loads the program for it, with the code that V8
// compiled for that before. There is one for each kind of event, so that none loads what only another needs. This one is
// compiled each time, and is as small as can be.
import { PROBE_ANSWER, PROBE_EVENT } from '../harness/setup/hook-command.ts'
import { eventNameIn, readInput } from './start/read-input.ts'
import { loadCompiled } from './load-compiled.ts'

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
  readonly writeStdout: (text: string) => void
}

/** What is there at once is used at once: before anything that was waited for, Node makes itself ready for a longer life. */
type Soon<T> = T | Promise<T>

function soon<T, R>(value: Soon<T>, use: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(use) : use(value)
}

function serve(what: string, input: string | undefined): Soon<unknown> {
  if (input === undefined) return
  const event = eventNameIn(input)
  if (event === PROBE_EVENT) {
    // One that cannot be loaded gives no answer, here as at its event.
    const loaded = Object.values(FILES).map((file) => loadCompiled<Program>(file))
    return loaded[0]!.program.writeStdout(PROBE_ANSWER)
  }
  const name = what === 'hook' ? BY_EVENT[event] : what
  if (name === undefined) return
  // Mostly an event can be served without opening the session.
  const fast = what === 'hook' && serveBy(`fast-${name}`, input)
  return soon(fast, (isServed) => isServed || serveBy(name, input))
}

function serveBy(name: string, input: string): Soon<boolean> {
  const file = FILES[name]
  if (file === undefined) return false
  const { program, keep } = loadCompiled<Program>(file)
  return soon(program.serveEvent(input), (answer) => {
    if (answer !== undefined && answer !== '') program.writeStdout(`${answer}\n`)
    return soon(keep?.(), () => answer !== undefined)
  })
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
