import { closeSync, fstatSync, readFileSync, realpathSync } from 'node:fs'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { isTracked } from '../../git/status.ts'
import { NotWritten, StintError, errnoOf, isMissing } from '../../journal/errors.ts'
import { openRegularFile, replaceOpenFile } from '../../journal/files.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { oneLine } from '../../text/clean.ts'
import {
  type BacklogSource,
  type ExternalTask,
  shortHash,
  readExternalBacklog,
  refuseInvalidBacklog,
} from './external-tasks.ts'

const MOST_BYTES = 16 * 1024 * 1024
const TRIES = 5

interface FileFormat {
  parse(text: string): {
    readonly tasks: readonly ExternalTask[]
    readonly problems: readonly string[]
  }
  markDone(text: string, own: string): string | undefined
  readonly lacks?: string
}

export function fileSource(workspace: Workspace, given: string, format: FileFormat): BacklogSource {
  const { repository, root } = workspace.paths
  const path = realPath(resolve(workspace.cwd, given))
  if (path === undefined)
    throw new StintError(
      'BACKLOG_NOT_FOUND',
      `there is no file ${given}`,
      'name a JSONL or Markdown file, or leave --backlog out',
    )
  const homes = [repository?.worktree, root].filter((folder) => folder !== undefined)
  const home = homes.find((folder) => isWithin(folder, path))
  // Two files of one name outside the project must not share what journals say of their tasks.
  const outside = `${slashes(path).split('/').at(-1)}~${shortHash(path)}`
  const inHome = home === undefined ? undefined : relative(home, path)
  const key = oneLine(inHome === undefined ? outside : slashes(inHome))
  const isCommitted = (folder: string, inside: string) =>
    repository !== undefined && isTracked(folder, slashes(inside))

  return {
    name: key,
    read: async () => {
      const text = withOpen(path, textOf)
      if (text === undefined)
        throw new StintError(
          'BACKLOG_UNREADABLE',
          `${key} cannot be read`,
          'it must be a file of UTF-8 text, of at most 16 MB',
        )
      const { tasks, problems } = format.parse(text)
      refuseInvalidBacklog(key, problems)
      if (tasks.length === 0 && format.lacks !== undefined) workspace.say(`${key} ${format.lacks}`)
      return readExternalBacklog(workspace, key, tasks)
    },
    settle: async (task, _summary, tree) => {
      const copy = inHome === undefined ? undefined : copyIn(tree, inHome)
      // A file that git does not have is in no tree of a run, and is changed where it is.
      const elsewhere = home !== undefined && inHome !== undefined && isCommitted(home, inHome)
      const target = copy ?? (elsewhere ? undefined : path)
      const change = (text: string) => {
        const marked = format.markDone(text, task.id.slice(key.length + 1))
        if (marked === undefined)
          workspace.say(
            `${key} has no single line for ${task.shortname} any more; it was left as it is`,
          )
        return marked
      }
      if (target === undefined || !rewrite(target, change)) return []
      const root = realPath(tree)
      if (root === undefined || !isWithin(root, target)) return []
      const changed = relative(root, target)
      return isCommitted(root, changed) ? [slashes(changed)] : []
    },
  }
}

/** A link that leads out of the tree is not followed: an agent may have made it. */
function copyIn(tree: string, inside: string) {
  const root = realPath(tree)
  const copy = root === undefined ? undefined : realPath(join(root, inside))
  return root !== undefined && copy !== undefined && isWithin(root, copy) ? copy : undefined
}

function rewrite(path: string, change: (text: string) => string | undefined) {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const isWritten = withOpen(path, (fd) => {
      try {
        const text = textOf(fd)
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

function withOpen<T>(path: string, use: (fd: number) => T) {
  const fd = openRegularFile(path)
  if (fd === undefined) return undefined
  try {
    return use(fd)
  } finally {
    closeSync(fd)
  }
}

function textOf(fd: number) {
  if (fstatSync(fd).size > MOST_BYTES) return undefined
  const bytes = readFileSync(fd)
  const text = bytes.toString('utf8')
  // Other bytes would come back changed.
  return Buffer.from(text).equals(bytes) ? text : undefined
}

function isWithin(folder: string, path: string) {
  const way = relative(folder, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

function slashes(path: string) {
  return path.split(sep).join('/')
}

function realPath(path: string) {
  try {
    return realpathSync.native(path)
  } catch (error) {
    // What may not be read counts as missing.
    if (isMissing(error) || ['EACCES', 'EPERM', 'ELOOP'].includes(errnoOf(error) ?? ''))
      return undefined
    throw error
  }
}
