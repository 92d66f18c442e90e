// Entry point that a harness runs on every event. It loads the program for that kind of event with
// V8's cached code. This file itself is compiled each time, so it is as small as possible.
import { PROBE_ANSWER, PROBE_EVENT } from '../harness/setup/hook-command.ts'
import { eventNameIn, readInput } from './start/read-input.ts'
import { cacheCompiledCode, discardCompiledCode, loadCompiled } from './load-compiled.ts'

/**
 * File names by program, set by the build. Each contains a hash of the source, so cached code never
 * runs for another source.
 */
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
  Notification: 'end',
}

interface Program {
  /** Undefined if another program has to serve the event. */
  readonly serveEvent: (input: string, name: string) => MaybePromise<string | undefined>
  readonly writeStdout: (text: string) => void
}

/** Synchronous values are used synchronously: awaiting makes Node load more of itself. */
type MaybePromise<T> = T | Promise<T>

function whenReady<T, R>(
  value: MaybePromise<T>,
  use: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return value instanceof Promise ? value.then(use) : use(value)
}

function serve(argument: string, input: string | undefined): MaybePromise<unknown> {
  if (input === undefined) return
  const event = eventNameIn(input, BY_EVENT)
  if (event === PROBE_EVENT) {
    // A program that cannot be loaded throws here, so the probe gets no answer.
    const loaded = Object.values(FILES).map((file) => loadCompiled<Program>(file, 'probe'))
    return loaded[0]!.writeStdout(PROBE_ANSWER)
  }
  const name = argument === 'hook' ? BY_EVENT[event] : argument
  if (name === undefined) return
  // Everything a hook reads, in bytes, whatever is on disk; `read-files.ts` counts.
  const left = (name === 'after' ? 64 : 8) * 1024 * 1024
  ;(globalThis as { [key: symbol]: unknown })[Symbol.for('stint.reads')] = { left }
  // Most events can be served without opening the session.
  const fast = argument === 'hook' && serveBy(`fast-${name}`, name, input, event)
  // The handler of the end renders the document, which only this program can.
  const handler = name === 'after' || event === 'SessionEnd' ? 'after' : 'handlers'
  const isServed = whenReady(fast, (byFast) => byFast || serveBy(handler, name, input, event))
  return whenReady(isServed, () => cacheCompiledCode())
}

function serveBy(
  program: string,
  name: string,
  input: string,
  event: string,
): MaybePromise<boolean> {
  const file = FILES[program]
  if (file === undefined) return false
  const { serveEvent, writeStdout } = loadCompiled<Program>(file, event)
  return whenReady(serveEvent(input, name), (answer) => {
    if (answer === undefined) discardCompiledCode()
    else if (answer !== '') writeStdout(`${answer}\n`)
    return answer !== undefined
  })
}

// A hook never fails, so that the agent continues.
const end = () => process.exit(0)
process.on('uncaughtException', end)
// In a run, the runner itself records events and injects context.
if ((process.env.STINT_RUN ?? '') !== '') end()
const [, , first = 'hook', second] = process.argv
const served = whenReady(readInput(), (input) => serve(second ?? first, input))
if (served instanceof Promise) served.then(end, end)
else end()
