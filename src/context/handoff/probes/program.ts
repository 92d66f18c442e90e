import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { shellCommands } from '../../../command/shell-commands.ts'
import { programOf } from '../../../command/unwrap-command.ts'
import { errnoOf } from '../../../journal/errors.ts'
import { type Verdict, couldNotBeChecked, unverified, verified } from './claim.ts'
import type { Surroundings } from './surroundings.ts'

/** What the shell does itself. */
const BUILT_IN = new Set(
  'cd export source . set alias eval exec test [ true false echo printf ulimit umask unset wait'.split(
    ' ',
  ),
)

const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/

/** Whether the programs that a command starts are on this machine. That they do what is hoped for, nobody can know. */
export function probeProgram(
  now: Surroundings,
  command: string,
  path = process.env.PATH ?? '',
): Verdict {
  const programs = shellCommands(command)
    .map(({ words }) => words.find((word) => !ASSIGNMENT.test(word)) ?? '')
    .filter((word) => word !== '' && !BUILT_IN.has(word))
  const [first] = programs
  if (first === undefined) return couldNotBeChecked('it starts no program by name')
  const missing = programs.find((program) => !isThere(now.root, program, path))
  if (missing !== undefined) return unverified(`${programOf([missing])} is not on this machine`)
  return verified('program')
}

function isThere(root: string, program: string, path: string): boolean {
  if (program.includes('/'))
    return isExecutable(isAbsolute(program) ? program : resolve(root, program))
  const folders = [
    ...path.split(delimiter).filter((folder) => folder !== ''),
    join(root, 'node_modules', '.bin'),
  ]
  return folders.some((folder) => isExecutable(join(folder, program)))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return false
  }
}
