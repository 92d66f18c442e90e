// Projects in a temporary folder, with real files and real git, for tests of the library.
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readLog } from '../../src/journal/read-log.ts'
import { encodeRecord } from '../../src/journal/record.ts'
import { shortId } from '../../src/journal/ids.ts'
import { type Project, openProject } from '../../src/core.ts'
import type { RawEntry } from '../../src/session/effective-entries.ts'
import { copyRepository, git, initRepository, scratchFolder } from './scratch.ts'
import { agreeTo, markAsOwn, needsAgreement } from './trust.ts'
import { SESSION_ID, type Story } from './worlds.ts'

export interface RunOptions {
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
}

/** A project and what a user does in it. */
export class World {
  /** What each command reported to the user. */
  readonly messages: string[] = []

  constructor(readonly root: string) {}

  /** One command: opens the project and closes it afterwards, like the command line. */
  async run<T>(work: (project: Project) => T | Promise<T>, options: RunOptions = {}): Promise<T> {
    const project = openProject(options.cwd ?? this.root, {
      say: (line) => this.messages.push(line),
      env: options.env ?? {},
    })
    try {
      return await work(project)
    } finally {
      project.dispose()
    }
  }

  /** The smallest command: it absorbs edits and shows the session. */
  view(name?: string) {
    return this.run((project) => project.view(name))
  }

  git(...args: string[]): string {
    return git(this.root, ...args)
  }

  path(...parts: string[]): string {
    return join(this.root, ...parts)
  }

  read(...parts: string[]): string {
    return readFileSync(this.path(...parts), 'utf8')
  }

  write(path: string, content: string | Buffer): void {
    mkdirSync(dirname(this.path(path)), { recursive: true })
    writeFileSync(this.path(path), content)
    if (needsAgreement(path)) agreeTo(this.root)
    markAsOwn(this.root, path)
  }

  names(...parts: string[]): readonly string[] {
    try {
      return readdirSync(this.path(...parts)).toSorted()
    } catch {
      // A folder that was never needed does not exist.
      return []
    }
  }

  commit(message: string, files: Readonly<Record<string, string>> = {}): string {
    for (const [path, content] of Object.entries(files)) this.write(path, content)
    this.git('add', '--all')
    this.git('commit', '--quiet', '--allow-empty', '-m', message)
    return this.git('rev-parse', 'HEAD').trim()
  }

  /** The id of the only session, or of the one with the given name. */
  sessionId(name?: string): string {
    const ids = this.names('.sessions', 'journal').filter(
      (id) => name === undefined || this.#nameOf(id) === name,
    )
    if (ids.length !== 1) throw new Error(`there are ${ids.length} sessions ${name ?? ''}`)
    return ids[0]!
  }

  #nameOf(id: string): unknown {
    return this.journal(id).findLast(
      ({ kind }) => kind === 'session.opened' || kind === 'session.renamed',
    )?.data['name']
  }

  journal(id = this.sessionId()): readonly RawEntry[] {
    return readLog(this.path('.sessions', 'journal', id, 'log.jsonl')).records
  }

  /** The data of the journal's entries of a kind, oldest first. */
  entries(kind: string, id = this.sessionId()): readonly unknown[] {
    return this.journal(id)
      .filter((entry) => entry.kind === kind)
      .map((entry) => entry.data)
  }

  /** The path of the document; fails unless there is exactly one. */
  documentPath(id = this.sessionId()): string {
    const found = ['active', 'archive'].flatMap((place) =>
      this.names('.sessions', place)
        .filter((name) => name.endsWith(`-${shortId(id)}.md`))
        .map((name) => join('.sessions', place, name)),
    )
    if (found.length !== 1)
      throw new Error(`the document stands at ${found.join(', ') || 'no place'}`)
    return found[0]!
  }

  document(id = this.sessionId()): string {
    return this.read(this.documentPath(id))
  }

  save(text: string | Buffer, id = this.sessionId()): void {
    this.write(this.documentPath(id), text)
  }

  /** Edits the document as a person does, and returns what they saved. */
  edit(from: string | RegExp, to: string, id = this.sessionId()): string {
    const before = this.document(id)
    const after = before.replace(from, () => to)
    if (after === before) throw new Error(`the document has no ${String(from)}:\n${before}`)
    this.save(after, id)
    return after
  }

  /** The quarantined files, as bytes. */
  setAside(id = this.sessionId()): readonly Buffer[] {
    const folder = ['.sessions', 'journal', id, 'set-aside']
    return this.names(...folder).map((name) => readFileSync(this.path(...folder, name)))
  }
}

/** An empty project outside git. */
export function plainProject(root = scratchFolder()): World {
  mkdirSync(root, { recursive: true })
  return new World(root)
}

/** A project in a git repository on `main`, with one commit. */
export function gitProject(root = scratchFolder()): World {
  copyRepository(root, 'project', (folder) => {
    initRepository(folder)
    new World(folder).commit('first', { 'a.txt': 'one\n' })
  })
  return new World(root)
}

/** A project outside git whose session has a story, with its document rendered. */
export async function projectOf(story: Story): Promise<World> {
  const world = plainProject()
  plant(world, story)
  await world.view(SESSION_ID)
  return world
}

/** Writes a story into the journal of a project as its session. */
export function plant(world: World, story: { readonly entries: readonly RawEntry[] }): void {
  const log = Buffer.concat(story.entries.map(encodeRecord))
  world.write(join('.sessions', 'journal', SESSION_ID, 'log.jsonl'), log)
}
