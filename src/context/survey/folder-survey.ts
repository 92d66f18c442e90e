import { createHash } from 'node:crypto'
import { closeSync, fstatSync, lstatSync, readSync, realpathSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import type { Repository } from '../../git/repository.ts'
import { runGit } from '../../git/run-git.ts'
import { errnoOf } from '../../journal/errors.ts'
import { openRegularFile } from '../../journal/write-files.ts'
import { defined } from '../../text/defined.ts'
import { type Json, asObject, parseJson } from '../../text/json-fields.ts'
import { UNREADABLE_SIZE, type SourceFile, type Topic } from './cached-project-context.ts'

export interface ProjectFact {
  readonly topic: Topic
  readonly text: string
  readonly from: string
}

export const COMMAND_PURPOSES = ['build', 'test', 'lint', 'format', 'check', 'start'] as const
export type CommandPurpose = (typeof COMMAND_PURPOSES)[number]

export interface ProjectCommand {
  readonly purpose: CommandPurpose
  readonly command: string
  readonly runs?: string
  readonly from: string
}

/** Facts about a repository, or about one folder treated as a repository. */
export class FolderSurvey {
  readonly facts: ProjectFact[] = []
  readonly commands: ProjectCommand[] = []

  constructor(
    readonly listing: TrackedFiles,
    readonly sources: SourceReader,
    readonly folder = '',
  ) {}

  #at(path: string) {
    return [this.folder, path].filter((part) => part !== '').join('/')
  }

  readonly has = (path: string) => this.listing.has(this.#at(path))

  namesIn(path: string): readonly string[] {
    return this.listing.in(this.#at(path))
  }

  /** Empty for a missing or unreadable file. */
  text(path: string): string {
    return this.sources.text(this.#at(path)) ?? ''
  }

  /** Undefined for a half-edited file and for JSON with comments, too. */
  json(path: string): Json | undefined {
    return asObject(parseJson(this.text(path)))
  }

  addFact(topic: Topic, text: string | undefined, from: string): void {
    if (text === undefined || text === '') return
    const { folder } = this
    this.facts.push({
      topic,
      text: folder === '' ? text : `${folder}/: ${text}`,
      from: this.#at(from),
    })
  }

  addIdentity(from: string, ...words: readonly unknown[]): void {
    const known = words.filter((word) => typeof word === 'string' && word.trim() !== '')
    if (known.length > 0) this.addFact('project', known.join(': '), from)
  }

  addCommand(purpose: CommandPurpose, command: string, from: string, runs?: string): void {
    this.commands.push({
      purpose,
      command: this.folder === '' ? command : `cd ${this.folder} && ${command}`,
      from: this.#at(from),
      ...defined({ runs }),
    })
  }

  addCommands(from: string, commands: Partial<Record<CommandPurpose, string>>): void {
    for (const [purpose, command] of Object.entries(commands))
      this.addCommand(purpose as CommandPurpose, command, from)
  }

  /** Returns the names that serve no known purpose. */
  addNamedCommands(
    names: Iterable<string>,
    run: string | ((name: string) => string),
    from: string,
    runs?: (name: string) => string | undefined,
  ): readonly string[] {
    const others = new Set(names)
    for (const purpose of COMMAND_PURPOSES) {
      const name = SCRIPT_NAMES[purpose].split(' ').find((each) => others.has(each))
      if (name === undefined) continue
      this.addCommand(purpose, typeof run === 'string' ? run + name : run(name), from, runs?.(name))
      others.delete(name)
    }
    return [...others]
  }
}

const SCRIPT_NAMES: Readonly<Record<CommandPurpose, string>> = {
  build: 'build compile dist bundle',
  test: 'test tests unit test:unit test-unit',
  lint: 'lint eslint clippy vet',
  format: 'format fmt prettier fix',
  check: 'check typecheck type-check check-types types tsc verify',
  start: 'start dev serve run develop',
}

export class TrackedFiles {
  readonly raw: string
  #paths: readonly string[] | undefined
  #known: ReadonlySet<string> | undefined
  readonly #names = new Map<string, readonly string[]>()

  constructor({ worktree }: Repository) {
    this.raw = runGit(worktree, ['ls-files', '-z'])
  }

  /** Lazy: callers that only compare `raw` need no split. */
  get paths(): readonly string[] {
    // git lists a conflicted file once per stage, consecutively.
    this.#paths ??= this.raw
      .split('\0')
      .filter((path, index, all) => path !== '' && path !== all[index - 1])
    return this.#paths
  }

  readonly has = (path: string) => {
    this.#known ??= new Set(this.paths)
    return this.#known.has(path)
  };

  in(folder: string): readonly string[] {
    const start = folder === '' ? '' : `${folder}/`
    const names =
      this.#names.get(folder) ??
      this.paths
        .filter((path) => path.startsWith(start) && !path.includes('/', start.length))
        .map((path) => path.slice(start.length))
    this.#names.set(folder, names)
    return names
  }
}

/** Larger than any handwritten manifest. */
const MAX_BYTES = 256 * 1024
const MAX_FILES = 60

/**
 * Reads each file once and records it, so that a later run can tell whether the result is still
 * valid.
 */
export class SourceReader {
  readonly #root: string
  readonly #texts = new Map<string, string | undefined>()
  readonly files: SourceFile[] = []
  readonly #sum = createHash('sha256')

  constructor(
    root: string,
    readonly isTracked: (path: string) => boolean,
  ) {
    this.#root = root
  }

  /** Undefined for missing, untracked, linked or too large files. */
  text(path: string): string | undefined {
    if (!this.isTracked(path)) return undefined
    if (!this.#texts.has(path))
      this.#texts.set(path, this.files.length < MAX_FILES ? this.#read(path) : undefined)
    return this.#texts.get(path)
  }

  sum(): string {
    return this.#sum.copy().digest('hex')
  }

  #read(path: string) {
    const fd = this.#open(path)
    if (fd === undefined) {
      // Recorded too: the result changes once the file exists.
      this.files.push({ path, size: UNREADABLE_SIZE, mtimeMs: 0 })
      this.#sum.update(`${path}\0missed\0`)
      return undefined
    }
    try {
      const { size, mtimeMs } = fstatSync(fd)
      this.files.push({ path, size, mtimeMs })
      const buffer = Buffer.alloc(size > MAX_BYTES ? 0 : size)
      const bytes =
        size > MAX_BYTES ? undefined : buffer.subarray(0, readSync(fd, buffer, 0, size, 0))
      this.#sum.update(`${path}\0${bytes?.length ?? 'too large'}\0`).update(bytes ?? '')
      return bytes?.toString('utf8')
    } finally {
      closeSync(fd)
    }
  }

  /** Symbolic links are not followed: they may lead out of the repository. */
  #open(path: string) {
    const full = join(this.#root, path)
    try {
      const folder = realpathSync(dirname(full))
      const isInside = folder === this.#root || folder.startsWith(`${this.#root}${sep}`)
      return isInside && lstatSync(full).isFile() ? openRegularFile(full) : undefined
    } catch (error) {
      // Tracked, but missing from the worktree or unreadable.
      if (errnoOf(error) === undefined) throw error
      return undefined
    }
  }
}
