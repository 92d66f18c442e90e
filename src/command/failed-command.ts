import { shorten } from '../text/clean.ts'
import { isIncidental, isReader } from './command-status.ts'
import type { ShellCommand } from './shell-commands.ts'
import { ASSIGNMENT, programOf, unwrapCommands } from './unwrap-command.ts'

/** Kept by the caller for the next calls: the last eight are enough. */
export interface FailedCommand {
  readonly command: string
  /** It failed at a line of a file, so other input would fail elsewhere or not at all. */
  readonly isLocated?: true
}

export interface WorkedCommand {
  readonly command: string
  /** The command that had failed. The difference is what it takes. */
  readonly after: string
}

const MAX_COMMAND_LENGTH = 300
const MAX_DIFFERENT_WORDS = 6

/** As written, without redirections and filters: the same text means the same command. */
export function commandText({ written }: ShellCommand): string {
  return shorten(written.join(' ').replace(/\s+/g, ' '), MAX_COMMAND_LENGTH)
}

/** Of the commands that succeeded, the one that had failed in another form before. */
export function workedAfter(
  succeeded: readonly ShellCommand[],
  failed: readonly FailedCommand[],
): WorkedCommand | undefined {
  for (const command of succeeded) {
    const call = callOf(command)
    if (call === undefined) continue
    const text = commandText(command)
    for (const earlier of failed.toReversed()) {
      // The same command now succeeds: something else was the fix.
      if (earlier.command === text) break
      const before = unwrapCommands(earlier.command).map(callOf)[0]
      if (before === undefined || before.intent !== call.intent) continue
      if (isFix(before, call, earlier.isLocated === true))
        return { command: text, after: earlier.command }
    }
  }
  return undefined
}

interface Call {
  /** The script, or the program and its verb. */
  readonly intent: string
  readonly environment: readonly string[]
  readonly words: readonly string[]
}

/** What the command is meant to do; undefined for one that only shows or prepares something. */
export function intentOf(command: ShellCommand): string | undefined {
  return callOf(command)?.intent
}

function callOf(command: ShellCommand): Call | undefined {
  const { words, written } = command
  const program = programOf(words)
  if (program === '' || isReader(command) || isIncidental(command) || NO_INTENT.has(program))
    return undefined
  const environment = written.filter((word) => ASSIGNMENT.test(word))
  const make = (intent: string, rest: readonly string[]): Call => ({
    intent,
    environment,
    words: rest,
  })
  if (INTERPRETERS.has(program)) {
    const at = words.findIndex((word, index) => index > 0 && !word.startsWith('-'))
    const before = words.slice(1, at === -1 ? undefined : at)
    if (before.some((word) => /^(?:-[a-z]*[ecp]|--eval|--print)$/.test(word))) return undefined
    if (before.includes('-m') && at !== -1) return make(`-m ${words[at]!}`, words.slice(at + 1))
    if (at === -1) return undefined
    return make(words[at]!.replace(/^\.\//, ''), [...before, ...words.slice(at + 1)])
  }
  if (words[0]!.includes('/') && !words[0]!.startsWith('/'))
    return make(words[0]!.replace(/^\.\//, ''), words.slice(1))
  const verbs = WITH_VERB.has(program) ? 1 : 0
  const found: string[] = []
  const rest: string[] = []
  for (const word of words.slice(1))
    if (
      found.length < verbs + (/^run(?:-script)?$/.test(found[0] ?? '') ? 1 : 0) &&
      /^[\w:.-]+$/.test(word) &&
      !word.startsWith('-')
    )
      found.push(word)
    else rest.push(word)
  if (program === 'git' && NO_FIX_IN_GIT.test(found[0] ?? '')) return undefined
  return make([program, ...found].join(' '), rest)
}

const INTERPRETERS = new Set(
  'node python python2 python3 ruby perl php bash sh zsh dash tsx ts-node bun deno'.split(' '),
)
const NO_INTENT = new Set('sed kill pkill killall ps test [ [[ for case'.split(' '))
/** Their first word says what to do. */
const WITH_VERB = new Set(
  (
    'git npm pnpm yarn cargo go pip pip3 uv poetry make just task docker kubectl helm terraform gh dotnet mvn gradle gradlew ' +
    'composer bundle rake mix flutter dart swift apt apt-get brew systemctl aws gcloud'
  ).split(' '),
)
const NO_FIX_IN_GIT = /^(?:commit|checkout|switch|branch|stash|reset|restore|clean|add|rm|mv|tag)$/
/** To force something is no finding that another session should repeat; the others do something else. */
const NO_FIX =
  /^(?:--force\S*|--no-verify|-f|--skip\S*|--yes|-y|--help|-h|--version|-V|--dry-run|-n|--list|--check|--stat|--summary)$/

function isFix(failed: Call, call: Call, isLocated: boolean) {
  const before = flagsAndValues(failed.words)
  const now = flagsAndValues(call.words)
  const addedFlags = now.flags.filter((flag) => !before.flags.includes(flag))
  const lostFlags = before.flags.filter((flag) => !now.flags.includes(flag))
  if (addedFlags.some((flag) => NO_FIX.test(flag))) return false
  const added = without(now.values, before.values)
  const lost = without(before.values, now.values)
  const hasOtherEnvironment = call.environment.some((each) => !failed.environment.includes(each))
  if (added.length + lost.length + addedFlags.length + lostFlags.length > MAX_DIFFERENT_WORDS)
    return false
  if (hasOtherEnvironment) return added.length + lost.length === 0 || !isLocated
  if (failed.environment.some((each) => !call.environment.includes(each)) && isLocated) return false
  if (addedFlags.length + lostFlags.length > 0) return !isLocated || lost.length === 0
  // The same flags and environment: other values fix only what was refused before it began.
  if (isLocated || added.length === 0) return false
  if (lost.length === 0) return added.length <= 3
  return (
    added.length === lost.length &&
    added.length <= 2 &&
    added.every((value, index) => isSimilar(value, lost[index]!) || followsFlag(call.words, value))
  )
}

function flagsAndValues(words: readonly string[]) {
  const flags: string[] = []
  const values: string[] = []
  for (const word of words) {
    const [flag, value] = /^(--?[\w-]+)=([^]*)$/.exec(word)?.slice(1) ?? []
    if (flag !== undefined) {
      flags.push(flag)
      values.push(value!)
    } else if (/^--?[A-Za-z]/.test(word)) flags.push(word)
    else if (word !== '--') values.push(word)
  }
  return { flags, values }
}

function without(values: readonly string[], others: readonly string[]) {
  return values.filter((value) => !others.includes(value))
}

function followsFlag(words: readonly string[], value: string) {
  return words.some(
    (word, index) =>
      (word.startsWith('-') && words[index + 1] === value) || word.endsWith(`=${value}`),
  )
}

/** Shares a word of three letters or more. */
function isSimilar(a: string, b: string) {
  const parts = (text: string) => text.toLowerCase().split(/[^\p{L}\p{N}]+/u)
  const known = new Set(parts(b))
  return parts(a).some((part) => part.length >= 3 && known.has(part))
}
