import { shorten } from '../text/clean.ts'
import type { WorkedCommand } from './failed-command.ts'
import type { Observations } from './merge-observations.ts'

const MAX_SOURCE_LENGTH = 80

/** One line for each fact, with the command that showed it. */
export function observationLines(observations: Observations): readonly string[] {
  const { tests, errors, versions, worked, written, commits } = observations
  return [
    ...tests.map(
      ({ name, detail, command }) =>
        `failing test "${name}"${detail === undefined ? '' : `: ${detail}`}${source(command)}`,
    ),
    ...errors.map(({ at, message, command }) => `${errorLine(at, message)}${source(command)}`),
    ...versions.map(
      ({ subject, version, command }) => `${subject} is ${version}${source(command)}`,
    ),
    ...worked.map(workedLine),
    ...written.map(
      ({ path, change }) =>
        `written by a command: ${path}${change === undefined ? '' : ` (${change})`}`,
    ),
    ...commits.map(
      ({ subject, body }) => `commit: ${subject}${body === undefined ? '' : ` (${body})`}`,
    ),
  ]
}

function source(command: string) {
  return ` (${shorten(command, MAX_SOURCE_LENGTH)})`
}

function errorLine(at: string, message: string) {
  const [, name, rest] = /^(\w*(?:Error|Exception))(?: \[\w+\])?: (.+)$/.exec(message) ?? []
  return name === undefined ? `error at ${at}: ${message}` : `${name} at ${at}: ${rest!}`
}

function workedLine({ command, after }: WorkedCommand) {
  const words = command.split(' ')
  const lost = after.split(' ').filter((word) => !words.includes(word))
  return `works: ${command} (${lost.length === 0 ? 'failed without' : `failed with ${shorten(lost.join(' '), MAX_SOURCE_LENGTH)}`})`
}
