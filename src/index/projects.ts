import { closeSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { errnoOf, isMissing } from '../journal/errors.ts'
import { appendDurably, createFile, createFolder, openForAppend } from '../journal/write-files.ts'
import { statOrUndefined } from '../journal/read-files.ts'
import { stateHome } from '../journal/state-home.ts'

/** Returns false when it cannot write, which must not fail the command. */
export function rememberProject(root: string): boolean {
  if (!isAbsolute(root) || /[\r\n]/.test(root)) return false
  const path = registryPath()
  try {
    if (readRoots(path).includes(root)) return true
    createFolder(dirname(path))
    // A newline on either side, so that a torn line stays a separate line.
    const line = Buffer.from(`\n${root}\n`)
    return createFile(path, line) || append(path, line)
  } catch (error) {
    if (errnoOf(error) !== undefined) return false
    throw error
  }
}

export function knownProjects(): readonly string[] {
  return readRoots(registryPath()).filter((root) => statOrUndefined(root)?.isDirectory() === true)
}

function registryPath() {
  return join(stateHome(), 'projects')
}

function readRoots(path: string) {
  try {
    return [...new Set(readFileSync(path, 'utf8').split('\n'))].filter((line) => isAbsolute(line))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

function append(path: string, line: Buffer) {
  const fd = openForAppend(path)
  try {
    return appendDurably(fd, line, line.length).outcome === 'done'
  } finally {
    closeSync(fd)
  }
}
