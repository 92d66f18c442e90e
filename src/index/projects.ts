// The projects that Stint has been used in on this machine, for questions that go over all of them.
import { closeSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { errnoOf, isMissing } from '../journal/errors.ts'
import { appendDurably, createFile, createFolder, openForAppend } from '../journal/files.ts'
import { statOrUndefined } from '../journal/look.ts'
import { stateHome } from '../journal/state-home.ts'

/** Notes a project's root. Answers false when it cannot be noted, which is no reason to fail what the user asked for. */
export function rememberProject(root: string): boolean {
  if (!isAbsolute(root) || /[\r\n]/.test(root)) return false
  const path = registryPath()
  try {
    if (readRoots(path).includes(root)) return true
    createFolder(dirname(path))
    // A newline on either side, as in a journal: what a killed writer left half-written stays a line of its own.
    const line = Buffer.from(`\n${root}\n`)
    return createFile(path, line) || append(path, line)
  } catch (error) {
    if (errnoOf(error) !== undefined) return false
    throw error
  }
}

/** The roots noted that are still there. One on a disk that is not mounted now is kept in the file. */
export function knownProjects(): readonly string[] {
  return readRoots(registryPath()).filter((root) => statOrUndefined(root)?.isDirectory() === true)
}

function registryPath(): string {
  return join(stateHome(), 'projects')
}

function readRoots(path: string): readonly string[] {
  try {
    return [...new Set(readFileSync(path, 'utf8').split('\n'))].filter((line) => isAbsolute(line))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

function append(path: string, line: Buffer): boolean {
  const fd = openForAppend(path)
  try {
    return appendDurably(fd, line, line.length).outcome === 'done'
  } finally {
    closeSync(fd)
  }
}
