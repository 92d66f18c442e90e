import { structuredPatch } from 'diff'
import { sha256 } from '../../history/blobs.ts'
import { existsSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { StintError, errnoOf, isMissing } from '../../journal/errors.ts'
import {
  OPEN_TO_OTHERS,
  createFile,
  createFolder,
  removeEmptyFolder,
  removeFile,
  replaceFile,
} from '../../journal/write-files.ts'
import { modeOf, listFolder, readOrUndefined, statOrUndefined } from '../../journal/read-files.ts'
import { parseJson } from '../../text/json-fields.ts'
import { type HookProgram, launcherPath, launcherText, parseLauncher } from './launcher.ts'

export interface SetupPlan {
  /** In the order in which they are written. */
  readonly changes: readonly FileChange[]
  /** Written first, so that an interrupted setup is still recognised as ours. */
  readonly record: FileChange | undefined
  /** Removed if empty, the innermost first. */
  readonly folders: readonly string[]
  readonly notes: readonly string[]
}

/** `before` and `after` are undefined where there is no file. */
export interface FileChange {
  readonly path: string
  readonly before: string | undefined
  readonly after: string | undefined
  /** In the state home. */
  readonly isOwn?: boolean
}

export interface PlannedFiles {
  readonly changes: readonly FileChange[]
  readonly written: Manifest['files']
}

/** What setup wrote. Stored outside the project, since it describes files of this machine. */
export interface Manifest {
  readonly v: 1
  /** The settings file, or the plugin folder, that was set up. */
  readonly target: string
  readonly files: Readonly<Record<string, WrittenFile>>
  /** The folders that setup created. */
  readonly folders: readonly string[]
}

export interface WrittenFile {
  readonly sum: string
  /** `delete` for a file that setup created. */
  readonly undo: readonly UndoStep[] | 'delete'
  /** Containers that existed before and stay when empty. */
  readonly kept?: readonly string[]
  /** Our values that others might also add: betas, an approval. */
  readonly added?: readonly string[]
}

export function buildInstallPlan(
  stateHome: string,
  manifest: Manifest,
  files: readonly PlannedFiles[],
  notes: readonly string[],
): SetupPlan {
  const changes = files.flatMap((each) => each.changes)
  const written = Object.assign({}, ...files.map((each) => each.written)) as Manifest['files']
  return {
    changes,
    record: planManifestChange(stateHome, manifest, changes, written),
    folders: [],
    notes,
  }
}

export function buildRemovalPlan(
  stateHome: string,
  manifest: Manifest,
  changes: readonly FileChange[],
  notes: readonly string[] = [],
): SetupPlan {
  const path = manifestPath(stateHome, manifest.target)
  const before = readText(path)
  const others = listFolder(dirname(path)).filter(
    (name) => /^[^.].*\.json$/.test(name) && join(dirname(path), name) !== path,
  )
  // The launcher is removed with the last setup of this machine.
  const isLast = others.length === 0 && (changes.length > 0 || before !== undefined)
  return {
    changes: isLast ? [...changes, ...removalOf(launcherPath(stateHome))] : changes,
    record: removalOf(path)[0],
    folders: manifest.folders.toSorted((a, b) => depthOf(b) - depthOf(a)),
    notes,
  }
}

function removalOf(path: string) {
  const before = readText(path)
  return before === undefined ? [] : [{ path, before, after: undefined, isOwn: true }]
}

function planManifestChange(
  stateHome: string,
  manifest: Manifest,
  changes: readonly FileChange[],
  written: Manifest['files'],
) {
  const path = manifestPath(stateHome, manifest.target)
  const before = readText(path)
  if (changes.length === 0 && before === undefined) return undefined
  const gone = new Set(changes.filter(({ after }) => after === undefined).map(({ path }) => path))
  const files = Object.fromEntries(
    Object.entries({ ...manifest.files, ...written }).filter(([path]) => !gone.has(path)),
  )
  const created = changes.filter((each) => each.before === undefined && written[each.path])
  const folders = [
    ...new Set([...manifest.folders, ...created.flatMap(({ path }) => missingFolders(path))]),
  ]
  const after = `${JSON.stringify({ ...manifest, files, folders }, undefined, 2)}\n`
  return before === after ? undefined : { path, before, after, isOwn: true }
}

export function planLauncher(
  stateHome: string,
  program: HookProgram | undefined,
): PlannedFiles & Pick<SetupPlan, 'notes'> {
  const fallback = 'hooks will look for `stint` in the project and on the PATH'
  if (program === undefined)
    return { changes: [], written: {}, notes: [`this Stint runs from its sources: ${fallback}`] }
  const after = launcherText(program)
  if (parseLauncher(after) === undefined) {
    const notes = [`the path of this Stint has a line break or a tab: ${fallback}`]
    return { changes: [], written: {}, notes }
  }
  const path = launcherPath(stateHome)
  const before = readText(path)
  return {
    changes: before === after ? [] : [{ path, before, after, isOwn: true }],
    written: {},
    notes: /[/\\]_npx[/\\]/.test(program.hook)
      ? ['this Stint lies in a cache of npx, which may be emptied: npm install --global stint']
      : [],
  }
}

export function changesInOrder({ changes, record }: SetupPlan): readonly FileChange[] {
  if (record === undefined) return changes
  // The manifest must outlive the files it lists.
  return record.after === undefined ? [...changes, record] : [record, ...changes]
}

export function changeKind({ before, after }: FileChange): 'create' | 'change' | 'delete' {
  return before === undefined ? 'create' : after === undefined ? 'delete' : 'change'
}

/**
 * Like `diff -u`, without file names. Line ends are part of a line, so that changes of them show.
 */
export function unifiedDiff(before: string, after: string): readonly string[] {
  const visible = (text: string) => text.replaceAll('\r', '␍')
  const { hunks } = structuredPatch('', '', visible(before), visible(after), '', '', { context: 3 })
  const range = (start: number, lines: number) =>
    `${lines === 0 ? start - 1 : start}${lines === 1 ? '' : `,${lines}`}`
  return hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`,
    ...lines,
  ])
}

/** Throws for bytes that would not survive a round trip. */
export function readText(path: string): string | undefined {
  const bytes = readOrUndefined(path)
  const text = bytes?.toString('utf8')
  if (text !== undefined && !Buffer.from(text).equals(bytes!))
    throw new StintError(
      'NOT_UTF8',
      `${path} is not UTF-8; nothing was changed`,
      'save it as UTF-8 and run this again',
    )
  return text
}

/** Throws for a plan that could only be applied in part, or that would write through a link. */
export function assertWritable(
  plan: SetupPlan,
  { followLinks = false, dryRun }: { readonly followLinks?: boolean; readonly dryRun: boolean },
  root: string,
): void {
  const links = linksOutOf(root, plan)
  if (links.length > 0 && !followLinks && !dryRun)
    throw new StintError(
      'SETUP_LINKED',
      `${links.join('; ')}; nothing was changed`,
      'if that is where it shall be written, add --yes; a link that you did not make may come from the repository: remove it',
    )
  for (const { path } of changesInOrder(plan)) {
    // Replacing by rename ignores the file's permissions, so check them first.
    const target = resolveLinks(path)
    const nearest = existsSync(target) ? target : existingParent(target)
    if ((modeOf(nearest) & 0o222) === 0) throw cannotWrite(nearest, 'it is read-only')
    const isFolder = statOrUndefined(nearest)?.isDirectory() === true
    if (isFolder && nearest === target) throw cannotWrite(nearest, 'it is a folder')
    if (!isFolder && nearest !== target) throw cannotWrite(nearest, 'it is not a folder')
  }
}

/** A clone may bring links to any file of the user. One that stays in the project, as CLAUDE.md to AGENTS.md, is followed. */
function linksOutOf(root: string, plan: SetupPlan) {
  return plan.changes.flatMap(({ path, isOwn }) => {
    if (isOwn === true || !isLinked(root, path)) return []
    const target = resolveLinks(path)
    const isInside =
      target.startsWith(root + sep) && relative(root, target).split(sep)[0] !== '.git'
    return isInside ? [] : [`${path} leads through a symbolic link to ${target}`]
  })
}

/** Above the project's root, or the folder of the user's settings, links are the user's own. */
function isLinked(root: string, path: string) {
  const isInside = path.startsWith(root + sep)
  for (let name = path, depth = 0; isInside ? name !== root : depth < 2; depth += 1) {
    if (linkTarget(name) !== undefined) return true
    name = dirname(name)
  }
  return false
}

function existingParent(path: string): string {
  const parent = dirname(path)
  return existsSync(parent) || parent === path ? parent : existingParent(parent)
}

export function applyPlan(plan: SetupPlan): void {
  for (const change of changesInOrder(plan)) applyChange(change)
  for (const folder of plan.folders) removeEmptyFolder(folder)
}

function applyChange({ path, before, after, isOwn = false }: FileChange): void {
  const target = resolveLinks(path)
  // The harness may write its settings at any time.
  if (readText(path) !== before) throw changedMeanwhile(path)
  try {
    if (after === undefined) removeFile(target)
    else if (before !== undefined) replaceFile(target, after)
    else {
      createFolder(dirname(target), ...(isOwn ? [] : [OPEN_TO_OTHERS]))
      if (!createFile(target, after, isOwn ? {} : { mode: 0o644 })) throw changedMeanwhile(path)
    }
  } catch (error) {
    throw errnoOf(error) === undefined || error instanceof StintError
      ? error
      : cannotWrite(path, (error as Error).message, error)
  }
}

function cannotWrite(path: string, reason: string, cause?: unknown) {
  return new StintError(
    'CANNOT_WRITE',
    `${path} cannot be written: ${reason}`,
    'change that, or choose another place: --shared, --user',
    { cause },
  )
}

function changedMeanwhile(path: string) {
  return new StintError(
    'CHANGED_MEANWHILE',
    `${path} was changed by another program just now`,
    'run this again',
  )
}

/** Outermost first. */
function missingFolders(path: string): readonly string[] {
  const folder = dirname(resolveLinks(path))
  if (existsSync(folder) || folder === dirname(folder)) return []
  return [...missingFolders(folder), folder]
}

/** A symbolic link, as dotfile managers create, stays one. */
function resolveLinks(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (!isMissing(error)) throw error
    // Missing, or a link to something missing.
    const target = linkTarget(path)
    if (target !== undefined) return resolveLinks(resolve(dirname(path), target))
    return dirname(path) === path ? path : join(resolveLinks(dirname(path)), basename(path))
  }
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch (error) {
    if (isMissing(error) || errnoOf(error) === 'EINVAL') return undefined
    throw error
  }
}

function depthOf(path: string): number {
  return dirname(path) === path ? 0 : depthOf(dirname(path)) + 1
}

function manifestPath(stateHome: string, target: string): string {
  return join(stateHome, 'setup', `${sha256(target).slice(0, 16)}.json`)
}

/** Without a readable manifest, our values are recognised by their content. */
export function readManifest(stateHome: string, target: string): Manifest {
  const empty: Manifest = { v: 1, target, files: {}, folders: [] }
  const text = readOrUndefined(manifestPath(stateHome, target))?.toString('utf8') ?? ''
  const value = parseJson(text) as Partial<Manifest> | null | undefined
  return value?.v === 1 && value.target === target ? { ...empty, ...value } : empty
}

/** Stored instead of a copy, because settings may hold secrets. */
interface UndoStep {
  readonly at: number
  readonly length: number
  readonly text: string
}

export function undoSteps(texts: readonly string[]): readonly UndoStep[] {
  return texts
    .slice(1)
    .map((after, index) => undoStep(texts[index]!, after))
    .toReversed()
}

export function applyUndo(text: string, steps: readonly UndoStep[]): string {
  return steps.reduce(
    (rest, step) => rest.slice(0, step.at) + step.text + rest.slice(step.at + step.length),
    text,
  )
}

function undoStep(before: string, after: string) {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before[start] === after[start]) start += 1
  let end = 0
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1
  return {
    at: start,
    length: after.length - start - end,
    text: before.slice(start, before.length - end),
  }
}
