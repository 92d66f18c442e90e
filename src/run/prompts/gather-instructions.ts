// The files of a repository that a conversation begins with: what it says to agents, unless the harness reads that by itself,
// and what the configuration names. Nothing outside the repository, no secrets, nothing without end.
import { closeSync, readSync, realpathSync } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'
import { errnoOf } from '../../journal/errors.ts'
import { openRegularFile } from '../../journal/files.ts'
import { beginningOf } from './quoted.ts'
import type { PromptFile } from './setup-text.ts'

export interface Gathered {
  readonly instructions: readonly PromptFile[]
  readonly files: readonly PromptFile[]
  /** What was cut or left out and why, each in one line for a person. */
  readonly notes: readonly string[]
}

export interface GatherOptions {
  /** The files that the harness reads by itself. */
  readonly readByHarness: readonly string[]
  /** Paths from the root, as configured. */
  readonly files?: readonly string[]
  readonly withoutSecrets: (text: string) => string
}

const INSTRUCTIONS = ['AGENTS.md', 'CLAUDE.md']
/** More is not read at all, whatever is shown of it. */
const MOST_READ = 256 * 1024
/** As much as the harness that is strictest about it takes. */
const LONGEST_INSTRUCTIONS = 32_000
const LONGEST_FILE = 16_000
const LONGEST_FILES = 64_000

type Found = { readonly path: string; readonly real: string; readonly text: string }

export function gatherInstructions(root: string, options: GatherOptions): Gathered {
  const notes: string[] = []
  const home = realpathSync(root)
  const read = (path: string, isWanted: boolean): Found | undefined => {
    const found = readInside(home, path)
    if (typeof found !== 'string') return { path, real: found.real, text: options.withoutSecrets(found.text) }
    if (isWanted || found !== MISSING) notes.push(`${path} is not given to the agent: ${found}`)
    return undefined
  }
  const cut = ({ path, text }: Found, room: number): PromptFile => {
    if (text.length > room) notes.push(`${path} is cut: the agent is given about ${room} of its ${text.length} characters`)
    return { path, text: beginningOf(text, room, 'open the file for the rest') }
  }

  const written = INSTRUCTIONS.flatMap((path) => read(path, false) ?? [])
  const known = new Set(
    written.filter(({ path }) => isReadBy(options.readByHarness, path)).flatMap((file) => reachedFrom(file, written)),
  )
  const instructions: Found[] = []
  for (const file of written) {
    const isSaid = known.has(file.real) || instructions.some((other) => other.real === file.real || other.text === file.text)
    const isPointer = written.some((other) => other !== file && POINTER.exec(file.text.trim())?.[1] === other.path)
    if (!isSaid && !isPointer && file.text.trim() !== '') instructions.push(file)
  }

  const files: PromptFile[] = []
  let left = LONGEST_FILES
  for (const path of new Set(options.files)) {
    const file = read(path, true)
    if (file === undefined || instructions.some(({ real }) => real === file.real)) continue
    if (left <= 0) notes.push(`${path} is not given to the agent: the files before it take all the room`)
    else {
      files.push(cut(file, Math.min(LONGEST_FILE, left)))
      left -= file.text.length
    }
  }
  return { instructions: instructions.map((file) => cut(file, LONGEST_INSTRUCTIONS)), files, notes }
}

/** A file that says nothing but where to read. */
const POINTER = /^@(?:\.\/)?([\w.-]+)$/
const IMPORT = /^@(?:\.\/)?([\w.-]+)$/gm

function isReadBy(names: readonly string[], path: string): boolean {
  return names.some((name) => name.toLowerCase() === path.toLowerCase())
}

/** A harness that reads one file also reads what that one imports. */
function reachedFrom(file: Found, all: readonly Found[]): readonly string[] {
  const imported = new Set([...file.text.matchAll(IMPORT)].map((match) => match[1]))
  return [file.real, ...all.filter(({ path }) => imported.has(path)).map(({ real }) => real)]
}

const MISSING = 'there is no such file'

function readInside(root: string, path: string): { readonly real: string; readonly text: string } | string {
  if (path.trim() === '' || isAbsolute(path)) return 'a path from the root of the repository is wanted'
  let real: string
  try {
    real = realpathSync(join(root, path))
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return MISSING
  }
  // A link may lead anywhere, and what is git's own is nobody's business.
  const inside = relative(root, real)
  if (inside === '' || inside === '..' || inside.startsWith(`..${sep}`)) return 'it is not in the repository'
  if (inside === '.git' || inside.startsWith(`.git${sep}`)) return 'it belongs to git'
  const text = readBounded(real)
  return text === undefined ? 'it cannot be read as text' : { real, text }
}

function readBounded(path: string): string | undefined {
  const fd = openRegularFile(path)
  if (fd === undefined) return undefined
  try {
    const bytes = Buffer.alloc(MOST_READ)
    const text = bytes.subarray(0, readSync(fd, bytes, 0, MOST_READ, 0)).toString('utf8')
    return text.includes('\0') ? undefined : text
  } finally {
    closeSync(fd)
  }
}
