// The files of a repository that a conversation begins with: what it says to agents, unless the harness reads that by itself,
// and what the configuration names. Nothing outside the repository, no secrets, nothing without end.
import { NO_FILE, readInside } from '../../context/read-inside.ts'
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
/** As much as the harness that is strictest about it takes. */
const LONGEST_INSTRUCTIONS = 32_000
const LONGEST_FILE = 16_000
const LONGEST_FILES = 64_000

type Found = { readonly path: string; readonly real: string; readonly text: string }

export function gatherInstructions(root: string, options: GatherOptions): Gathered {
  const notes: string[] = []
  const read = (path: string, isWanted: boolean): Found | undefined => {
    const found = readInside(root, path)
    if (typeof found !== 'string')
      return { path, real: found.real, text: options.withoutSecrets(found.text) }
    if (isWanted || found !== NO_FILE) notes.push(`${path} is not given to the agent: ${found}`)
    return undefined
  }
  const cut = ({ path, text }: Found, room: number): PromptFile => {
    if (text.length > room)
      notes.push(
        `${path} is cut: the agent is given about ${room} of its ${text.length} characters`,
      )
    return { path, text: beginningOf(text, room, 'open the file for the rest') }
  }

  const written = INSTRUCTIONS.flatMap((path) => read(path, false) ?? [])
  const known = new Set(
    written
      .filter(({ path }) => isReadBy(options.readByHarness, path))
      .flatMap((file) => reachedFrom(file, written)),
  )
  const instructions: Found[] = []
  for (const file of written) {
    const isSaid =
      known.has(file.real) ||
      instructions.some((other) => other.real === file.real || other.text === file.text)
    const isPointer = written.some(
      (other) => other !== file && POINTER.exec(file.text.trim())?.[1] === other.path,
    )
    if (!isSaid && !isPointer && file.text.trim() !== '') instructions.push(file)
  }

  const files: PromptFile[] = []
  let left = LONGEST_FILES
  for (const path of new Set(options.files)) {
    const file = read(path, true)
    if (file === undefined || instructions.some(({ real }) => real === file.real)) continue
    if (left <= 0)
      notes.push(`${path} is not given to the agent: the files before it take all the room`)
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
