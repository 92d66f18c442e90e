// What `edits` allows by itself. Not a wall: an agent that may edit files and run the tests can run anything. It is what
// nobody needs to be asked for.
import { relative, resolve, sep } from 'node:path'
import { shellCommands } from './shell-commands.ts'

// What a shell runs within a word, and output that goes to a file: more than the words of a command tell.
const HIDDEN = /[`\r]|\$\(|[<>]\(/
const TO_A_FILE = />(?!\s*\/dev\/null\b|&\d)/
/** A text of several lines as agents give it to `git commit`. Nothing in it is run, since its end is quoted. */
const QUOTED_LINES = /\$\(cat <<-?\s*(['"])(\w+)\1\n[^]*?\n\s*\2\s*\)/g
const QUOTED = /\\[^]|'[^']*'|"(?:[^"\\]|\\[^])*"/g
const LONGEST = 32_768

/** Whether every command of a line begins as one that is allowed, or is git. */
export function mayRun(command: string, allow: readonly string[]): boolean {
  if (command.length > LONGEST) return false
  const source = command.replaceAll(QUOTED_LINES, '')
  const isPlain =
    !HIDDEN.test(source.replaceAll(QUOTED, (text) => (text.startsWith('"') ? text : ''))) &&
    !TO_A_FILE.test(source.replaceAll(QUOTED, ''))
  const commands = isPlain ? shellCommands(source) : []
  return (
    commands.length > 0 && commands.every(({ words }) => HARMLESS.has(words[0]!) || allow.some((start) => begins(words, start)))
  )
}

const HARMLESS = new Set(['git', 'cd'])

function begins(words: readonly string[], start: string): boolean {
  return start.trim() !== '' && words.join(' ').startsWith(start.trim())
}

/** Whether a path, as an agent tells it, stays within a folder. */
export function isWithin(folder: string, path: string): boolean {
  const inside = relative(folder, resolve(folder, path))
  return inside !== '..' && !inside.startsWith(`..${sep}`) && resolve(folder, inside) === resolve(folder, path)
}
