// Stored outputs: one file each, named after its content, and a list of the runs that printed them.
import { asObject, parseJson } from '../../text/json-fields.ts'
import { existsSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { StintError } from '../../journal/errors.ts'
import { appendLines, createFolder, writeOnce } from '../../journal/write-files.ts'
import { listFolder, readOrUndefined, statOrUndefined } from '../../journal/read-files.ts'
import { stateHome } from '../../journal/state-home.ts'
import type { Workspace } from '../store/workspace.ts'
import { visibleLine } from '../../text/visible-line.ts'
import { readFileLines } from '../conversation/read-file-lines.ts'

export interface DigestedRun {
  readonly at: string
  readonly label?: string
  readonly command: string
  readonly exit: number
  readonly artifact: string
  readonly lines: number
  readonly summary?: string
}

export interface Artifact {
  /** The first digits of its file's name. */
  readonly id: string
  readonly path: string
  readonly bytes: number
  /** Oldest first; empty when the list was lost. */
  readonly runs: readonly DigestedRun[]
  readonly at: string
}

const NAME = /^([0-9a-f]{16}(?:-\d+)?)\.txt$/
const ID_LENGTH = 8
const RUNS = 'runs.jsonl'

/** Outside a project: with the machine's own files. */
export function artifactsFolder({ paths }: Workspace): string {
  return existsSync(paths.sessions)
    ? join(paths.sessions, 'artifacts')
    : join(stateHome(), 'artifacts')
}

function artifactsFolders({ paths }: Workspace) {
  return [join(paths.sessions, 'artifacts'), join(stateHome(), 'artifacts')]
}

/** Outputs are never committed. */
export function prepareArtifacts(folder: string): void {
  createFolder(folder)
  writeOnce(join(folder, '.gitignore'), '*\n')
}

export function recordDigestedRun(folder: string, run: DigestedRun): void {
  appendLines(join(folder, RUNS), Buffer.from(`${JSON.stringify(run)}\n`))
}

export function artifactId(path: string): string {
  const name = basename(path, '.txt')
  // A numbered name needs all its digits.
  return name.includes('-') ? name : name.slice(0, ID_LENGTH)
}

export function displayPath(workspace: Workspace, path: string): string {
  const relativePath = relative(workspace.paths.root, path)
  return relativePath.startsWith('..') ? path : relativePath
}

export function listArtifacts(workspace: Workspace): readonly Artifact[] {
  const folder = artifactsFolder(workspace)
  const runs = readRuns(folder)
  return artifactNames(folder)
    .map((name) => artifactAt(join(folder, name), runs))
    .toSorted((a, b) => (a.at < b.at ? -1 : 1))
}

export function findArtifact(workspace: Workspace, id: string): Artifact {
  const prefix = basename(id, '.txt').toLowerCase()
  const paths = artifactsFolders(workspace).flatMap((folder) =>
    artifactNames(folder).map((name) => join(folder, name)),
  )
  const exact = paths.filter((path) => basename(path, '.txt') === prefix)
  const found =
    exact.length > 0
      ? exact.slice(0, 1)
      : paths.filter((path) => prefix !== '' && basename(path).startsWith(prefix))
  const hint = 'stint digest list shows what is kept here'
  if (found.length === 0) throw new StintError('NO_OUTPUT', `there is no output "${id}"`, hint)
  if (found.length > 1)
    throw new StintError(
      'OUTPUT_AMBIGUOUS',
      `"${id}" fits ${found.length} outputs`,
      'give more of its digits',
    )
  return artifactAt(found[0]!, readRuns(join(found[0]!, '..')))
}

function artifactAt(path: string, runs: readonly DigestedRun[]) {
  const { size, mtime } = statOrUndefined(path) ?? { size: 0, mtime: new Date(0) }
  const own = runs.filter(({ artifact }) => artifact === basename(path))
  return {
    id: artifactId(path),
    path,
    bytes: size,
    runs: own,
    at: own.at(-1)?.at ?? mtime.toISOString(),
  }
}

function artifactNames(folder: string) {
  return listFolder(folder).filter((name) => NAME.test(name))
}

function readRuns(folder: string) {
  const text = readOrUndefined(join(folder, RUNS))?.toString('utf8') ?? ''
  return text.split('\n').flatMap((line) => parseRun(line) ?? [])
}

function parseRun(line: string) {
  const run = asObject(parseJson(line))
  const isRun = typeof run?.['artifact'] === 'string' && typeof run['command'] === 'string'
  return isRun ? (run as unknown as DigestedRun) : undefined
}

export interface ShowOptions {
  /** From 1. */
  readonly lines?: readonly [from: number, to: number]
  readonly grep?: string
}

export interface ShownLine {
  readonly number: number
  readonly text: string
}

export function* shownLines(
  path: string,
  { lines: [from, to] = [1, Infinity], grep }: ShowOptions,
): Generator<ShownLine> {
  const wanted = grep?.toLowerCase()
  let number = 0
  for (const raw of readFileLines(path)) {
    number += 1
    if (number > to) return
    if (number < from) continue
    const text = visibleLine(raw.toString('utf8'))
    if (wanted === undefined || text.toLowerCase().includes(wanted)) yield { number, text }
  }
}
