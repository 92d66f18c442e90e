import { closeSync, fstatSync, readFileSync, realpathSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { isTracked } from '../../git/status.ts'
import { NotWritten, StintError, errnoOf, isMissing } from '../../journal/errors.ts'
import { openRegularFile, replaceOpenFile } from '../../journal/write-files.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { oneLine } from '../../text/clean.ts'
import {
  type ExternalTask,
  readExternalBacklog,
  refuseInvalidBacklog,
  shortHash,
} from './external-tasks.ts'
import type { BacklogSource } from './backlog-source.ts'

const MOST_BYTES = 16 * 1024 * 1024
const TRIES = 5

interface FileFormat {
  parse(text: string): {
    readonly tasks: readonly ExternalTask[]
    readonly problems: readonly string[]
  }
  markDone(text: string, own: string): string | undefined
  readonly emptyMessage?: string
}

export function fileSource(workspace: Workspace, given: string, format: FileFormat): BacklogSource {
  const { repository, root: projectRoot } = workspace.paths
  const path = realPath(resolve(workspace.cwd, given))
  if (path === undefined)
    throw new StintError(
      'BACKLOG_NOT_FOUND',
      `there is no file ${given}`,
      'name a JSONL or Markdown file, or leave --backlog out',
    )
  const roots = [repository?.worktree, projectRoot].filter((folder) => folder !== undefined)
  const root = roots.find((folder) => isWithin(folder, path))
  // Two files with one name outside the project must not share their journal entries.
  const outside = `${toSlashes(path).split('/').at(-1)}~${shortHash(path)}`
  const inRoot = root === undefined ? undefined : relative(root, path)
  const key = oneLine(inRoot === undefined ? outside : toSlashes(inRoot))
  const isCommitted = (folder: string, inside: string) =>
    repository !== undefined && isTracked(folder, toSlashes(inside))

  return {
    name: key,
    read: async () => {
      const text = withOpenFile(path, readUtf8)
      if (text === undefined)
        throw new StintError(
          'BACKLOG_UNREADABLE',
          `${key} cannot be read`,
          'it must be a file of UTF-8 text, of at most 16 MB',
        )
      const { tasks, problems } = format.parse(text)
      refuseInvalidBacklog(key, problems)
      if (tasks.length === 0 && format.emptyMessage !== undefined)
        workspace.say(`${key} ${format.emptyMessage}`)
      return readExternalBacklog(workspace, key, tasks)
    },
    complete: async (task, _summary, tree) => {
      const copy = inRoot === undefined ? undefined : copyIn(tree, inRoot)
      // An untracked file is in no run tree, so it is changed in place.
      const isInGit = root !== undefined && inRoot !== undefined && isCommitted(root, inRoot)
      const target = copy ?? (isInGit ? undefined : path)
      const change = (text: string) => {
        const marked = format.markDone(text, task.id.slice(key.length + 1))
        if (marked === undefined)
          workspace.say(
            `${key} has no single line for ${task.shortname} any more; it was left as it is`,
          )
        return marked
      }
      if (target === undefined || !rewriteFile(target, change)) return []
      const treeRoot = realPath(tree)
      if (treeRoot === undefined || !isWithin(treeRoot, target)) return []
      const changed = relative(treeRoot, target)
      return isCommitted(treeRoot, changed) ? [toSlashes(changed)] : []
    },
  }
}

/** Does not follow a link out of the tree: an agent may have created it. */
function copyIn(tree: string, inside: string) {
  const root = realPath(tree)
  const copy = root === undefined ? undefined : realPath(join(root, inside))
  return root !== undefined && copy !== undefined && isWithin(root, copy) ? copy : undefined
}

function rewriteFile(path: string, change: (text: string) => string | undefined) {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const isWritten = withOpenFile(path, (fd) => {
      try {
        const text = readUtf8(fd)
        const changed = text === undefined ? undefined : change(text)
        if (changed === undefined || changed === text) return undefined
        return replaceOpenFile(path, fd, Buffer.from(changed))
      } catch (cause) {
        throw cause instanceof StintError ? cause : new NotWritten(path, cause)
      }
    })
    if (isWritten !== false) return isWritten ?? false
  }
  throw new NotWritten(path, new Error('somebody else is saving it all the time'))
}

function withOpenFile<T>(path: string, use: (fd: number) => T) {
  const fd = openRegularFile(path)
  if (fd === undefined) return undefined
  try {
    return use(fd)
  } finally {
    closeSync(fd)
  }
}

function readUtf8(fd: number) {
  if (fstatSync(fd).size > MOST_BYTES) return undefined
  const bytes = readFileSync(fd)
  const text = bytes.toString('utf8')
  // Bytes that are not UTF-8 would be written back changed.
  return Buffer.from(text).equals(bytes) ? text : undefined
}

function isWithin(folder: string, path: string) {
  const inside = relative(folder, path)
  return inside !== '' && inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside)
}

function toSlashes(path: string) {
  return path.split(sep).join('/')
}

function realPath(path: string) {
  try {
    return realpathSync.native(path)
  } catch (error) {
    // An unreadable path counts as missing.
    if (isMissing(error) || ['EACCES', 'EPERM', 'ELOOP'].includes(errnoOf(error) ?? ''))
      return undefined
    throw error
  }
}
