import { createHash } from 'node:crypto'
import { closeSync, fstatSync, lstatSync, readSync, realpathSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import type { Repository } from '../../git/repository.ts'
import { runGit } from '../../git/run-git.ts'
import { errnoOf } from '../../journal/errors.ts'
import { openRegularFile } from '../../journal/files.ts'
import { defined } from '../../text/defined.ts'
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

/** A repository, or a folder of it as if it were one, with what was found in it. */
export class FolderSurvey {
  readonly findings: ProjectFact[] = []
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

  /** Of a file that is not there or cannot be read, nothing. */
  text(path: string): string {
    return this.sources.text(this.#at(path)) ?? ''
  }

  json(path: string): Readonly<Record<string, unknown>> | undefined {
    try {
      const value: unknown = JSON.parse(this.text(path) || 'null')
      return isObject(value) ? value : undefined
    } catch {
      // In the middle of an edit, or JSON with comments: nothing is known of it.
      return undefined
    }
  }

  found(topic: Topic, text: string | undefined, from: string): void {
    if (text === undefined || text === '') return
    const { folder } = this
    this.findings.push({
      topic,
      text: folder === '' ? text : `${folder}/: ${text}`,
      from: this.#at(from),
    })
  }

  identity(from: string, ...words: readonly unknown[]): void {
    const known = words.filter((word) => typeof word === 'string' && word.trim() !== '')
    if (known.length > 0) this.found('project', known.join(': '), from)
  }

  offers(purpose: CommandPurpose, command: string, from: string, runs?: string): void {
    this.commands.push({
      purpose,
      command: this.folder === '' ? command : `cd ${this.folder} && ${command}`,
      from: this.#at(from),
      ...defined({ runs }),
    })
  }

  offersAll(from: string, commands: Partial<Record<CommandPurpose, string>>): void {
    for (const [purpose, command] of Object.entries(commands))
      this.offers(purpose as CommandPurpose, command, from)
  }

  /** Offers the names that serve a purpose, and returns the others. */
  offersNamed(
    names: Iterable<string>,
    run: string | ((name: string) => string),
    from: string,
    runs?: (name: string) => string | undefined,
  ): readonly string[] {
    const others = new Set(names)
    for (const purpose of COMMAND_PURPOSES) {
      const name = NAMES[purpose].split(' ').find((each) => others.has(each))
      if (name === undefined) continue
      this.offers(purpose, typeof run === 'string' ? run + name : run(name), from, runs?.(name))
      others.delete(name)
    }
    return [...others]
  }
}

const NAMES: Readonly<Record<CommandPurpose, string>> = {
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

  /** A caller that only compares listings need not split them. */
  get paths(): readonly string[] {
    // A file with a conflict is listed once for each side, one after the other.
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

/** More than any manifest a person wrote. */
const LARGEST = 256 * 1024
const MOST = 60

/** Each file is read once, up to a limit, and remembered to tell later whether the result still holds. */
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

  /** Undefined when there is none, or when it is no plain file of this repository or too large. */
  text(path: string): string | undefined {
    if (!this.isTracked(path)) return undefined
    if (!this.#texts.has(path))
      this.#texts.set(path, this.files.length < MOST ? this.#read(path) : undefined)
    return this.#texts.get(path)
  }

  sum(): string {
    return this.#sum.copy().digest('hex')
  }

  #read(path: string) {
    const fd = this.#open(path)
    if (fd === undefined) {
      // It may be there the next time, and then something else would be found.
      this.files.push({ path, size: UNREADABLE_SIZE, mtimeMs: 0 })
      this.#sum.update(`${path}\0missed\0`)
      return undefined
    }
    try {
      const { size, mtimeMs } = fstatSync(fd)
      this.files.push({ path, size, mtimeMs })
      const buffer = Buffer.alloc(size > LARGEST ? 0 : size)
      const bytes =
        size > LARGEST ? undefined : buffer.subarray(0, readSync(fd, buffer, 0, size, 0))
      this.#sum.update(`${path}\0${bytes?.length ?? 'too large'}\0`).update(bytes ?? '')
      return bytes?.toString('utf8')
    } finally {
      closeSync(fd)
    }
  }

  /** A link is not followed: it may lead out of the repository. */
  #open(path: string) {
    const full = join(this.#root, path)
    try {
      const folder = realpathSync(dirname(full))
      const isInside = folder === this.#root || folder.startsWith(`${this.#root}${sep}`)
      return isInside && lstatSync(full).isFile() ? openRegularFile(full) : undefined
    } catch (error) {
      // Tracked, but not in the worktree, or not readable.
      if (errnoOf(error) === undefined) throw error
      return undefined
    }
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
