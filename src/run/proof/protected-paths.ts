// What an agent's branch must not bring along: settings of Stint and of agent programs, hooks, and what decides how git treats
// files. They take effect the moment they land, so the user has to agree to each path.
import { posix, relative } from 'node:path'
import { backlogAt } from '../../backlog/backlog.ts'
import {
  hasSameContent,
  renderTaskFile,
  taskFileMarker,
  taskIdIn,
} from '../../backlog/task-file-format.ts'
import { type GitPlace, runGit, tryGit } from '../../git/run-git.ts'
import { parseLog } from '../../journal/read-log.ts'
import { encodeRecord } from '../../journal/record.ts'
import { readOrUndefined } from '../../journal/read-files.ts'
import { isOwnLog } from '../../journal/log.ts'
import { isId, shortId } from '../../journal/ids.ts'
import { documentBase } from '../../project/store/refresh-document.ts'
import { isOwnSettingsFile, logIds, logPaths } from '../../project/store/project-paths.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { requireRepository } from '../../project/store/worktrees.ts'
import { BACKLOG_ID } from '../../session/entries.ts'
import { abbreviateList } from '../worktree/remove-worktree.ts'

const PROTECTED_NAMES: ReadonlySet<string> = new Set(
  '.sessions .tasks .claude .codex .gemini .opencode .mcp.json .gitattributes .gitmodules .githooks .git-hooks .husky'.split(
    ' ',
  ),
)
const SUBMODULE = '160000'
const LINK = '120000'

export const PROTECTED = 'it changes protected paths'
export const AGREEING = 'agreeing to changes of protected paths'

interface TreeChange {
  readonly path: string
  readonly before: { readonly mode: string; readonly object: string }
  readonly after: { readonly mode: string; readonly object: string }
}

interface ProtectedOptions {
  /** Paths the user agreed to. */
  readonly allowed?: readonly string[]
  /** A commit of the user's: what a branch took over from it unchanged is not its own change. */
  readonly known?: string | undefined
}

/** Protected paths that differ between two commits, without what Stint itself wrote. Sorted. */
export async function findProtectedChanges(
  workspace: Workspace,
  { from, to }: { readonly from: string; readonly to: string },
  { allowed = [], known }: ProtectedOptions = {},
): Promise<readonly string[]> {
  const repository = requireRepository(workspace.paths)
  const hooks = hooksFolder(workspace)
  const isKnown = new Set(known === undefined ? [] : changes(repository, from, known).map(change))
  const found: string[] = []
  for (const one of changes(repository, from, to)) {
    if (allowed.includes(one.path) || isKnown.has(change(one))) continue
    if (!isProtected(repository, one, hooks)) continue
    if (await isWrittenByStint(workspace, one)) continue
    found.push(one.path)
  }
  return found.toSorted()
}

export function describeProtected(paths: readonly string[]): string {
  return `${PROTECTED}: ${abbreviateList(paths, 8)}`
}

/** The command by which the user agrees. */
export function allowCommand(command: string, paths: readonly string[]): string {
  return [command, ...paths.map((path) => `--allow-protected ${shellQuote(path)}`)].join(' ')
}

function shellQuote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

function change({ path, after }: TreeChange) {
  return `${after.mode} ${after.object} ${path}`
}

/** Without renames, so that both names of a moved file are checked. */
function changes(place: GitPlace, from: string, to: string): readonly TreeChange[] {
  const raw = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', from, to, '--']
  const fields = runGit(place, raw).split('\0')
  const found: TreeChange[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [mode = '', newMode = '', object = '', newObject = ''] = fields[at]!.slice(1).split(' ')
    const path = fields[at + 1]!
    found.push({ path, before: { mode, object }, after: { mode: newMode, object: newObject } })
  }
  return found
}

function isProtected(
  place: GitPlace,
  { path, before, after }: TreeChange,
  hooks: readonly string[] | undefined,
): boolean {
  if (isProtectedPath(path, hooks)) return true
  // A new submodule brings a repository with a configuration of its own.
  if (after.mode === SUBMODULE && before.mode !== SUBMODULE) return true
  if (after.mode !== LINK) return false
  const target = runGit(place, ['cat-file', 'blob', after.object])
  return (
    isProtectedPath(posix.join(posix.dirname(path), target), hooks) ||
    isProtectedPath(target, hooks)
  )
}

/** At any depth: agent programs and git read these in subfolders too. */
function isProtectedPath(path: string, hooks: readonly string[] | undefined): boolean {
  const names = path.split('/').map(comparableName)
  if (names.some((name) => PROTECTED_NAMES.has(name))) return true
  return hooks !== undefined && hooks.every((name, index) => names[index] === name)
}

/** Two names are the same on a file system that ignores case, Unicode forms, invisible characters or trailing dots. */
function comparableName(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase()
    .replace(/(?::.*|[. ]+)$/, '')
}

/** The configured folder of hooks, if it is among the files of the project. */
function hooksFolder({ paths }: Workspace): readonly string[] | undefined {
  const repository = requireRepository(paths)
  const read = ['config', '--type=path', '--get', 'core.hooksPath']
  const configured = tryGit(repository, read, { hasHooks: true })?.trim() ?? ''
  if (configured === '') return undefined
  const inside = relative(repository.mainRoot, posix.resolve(repository.mainRoot, configured))
  const isOutside = inside === '' || inside.startsWith('..') || inside.startsWith('.git/')
  return isOutside ? undefined : inside.split('/').map(comparableName)
}

/** Checked against the journal: a file that Stint rendered from it, or records that this machine's log holds too. */
async function isWrittenByStint(workspace: Workspace, { path, before, after }: TreeChange) {
  const read = ({ mode, object }: TreeChange['after']) =>
    mode.startsWith('100')
      ? runGit(requireRepository(workspace.paths), ['cat-file', 'blob', object])
      : undefined
  const now = read(after)
  const [folder, part = '', name = ''] = path.split('/')
  if (folder === '.tasks' && /^(?:active|archive)$/.test(part) && name.endsWith('.md')) {
    // Stint moves a file between the folders.
    const text = now ?? (/^0+$/.test(after.mode) ? read(before) : undefined)
    return text !== undefined && (await isRenderedTask(workspace, text))
  }
  if (folder !== '.sessions' || now === undefined) return false
  if (isOwnSettingsFile(path.slice('.sessions/'.length), now)) return true
  if (path === '.sessions/backlog/log.jsonl') return isPartOfOwnLog(workspace, BACKLOG_ID, now)
  if (part === 'journal' && path === `.sessions/journal/${name}/log.jsonl`)
    return isId(name) && isPartOfOwnLog(workspace, name, now)
  if (!/^(?:active|archive)$/.test(part) || !name.endsWith('.md')) return false
  return isRenderedDocument(workspace, name, now)
}

async function isRenderedTask(workspace: Workspace, text: string): Promise<boolean> {
  const id = taskIdIn(text)
  const marker = taskFileMarker(text)
  if (id === undefined || marker === undefined) return false
  const backlog = backlogAt([...(await workspace.index()).taskEntries()], marker.lastId)
  const task = backlog.byId.get(id)
  return task !== undefined && hasSameContent(text, renderTaskFile(task, backlog))
}

function isPartOfOwnLog({ paths }: Workspace, id: string, text: string): boolean {
  const own = logPaths(paths, id)
  if (!isOwnLog(own)) return false
  const framesIn = (bytes: Buffer) =>
    parseLog(bytes, own.path).records.map((record) => encodeRecord(record).toString('latin1'))
  const held = new Set(framesIn(readOrUndefined(own.path) ?? Buffer.alloc(0)))
  return framesIn(Buffer.from(text)).every((frame) => held.has(frame))
}

async function isRenderedDocument(workspace: Workspace, name: string, text: string) {
  const { paths } = workspace
  const id = [...logIds(paths)].find((one) => name.endsWith(`-${shortId(one)}.md`))
  if (id === undefined || !isOwnLog(logPaths(paths, id))) return false
  return workspace.withSession(
    id,
    (session) => documentBase(session, session.read(), text).isUnedited,
  )
}
