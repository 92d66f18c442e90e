// The code of checkpoints and runs, kept under `refs/stint/`. A reference whose objects never reached the disk makes `git gc` and
// `git fetch` fail.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Repository } from '../../git/repository.ts'
import { GitFailed, runGit, tryGit, writeGit } from '../../git/run-git.ts'
import { SAFE_CONFIG } from '../../git/working-tree.ts'
import { listFolder, readOrUndefined, statOrUndefined } from '../../journal/read-files.ts'
import { removeFile } from '../../journal/write-files.ts'
import type { ProjectPaths } from '../store/project-paths.ts'
import { type DoctorCheck, CheckFindings, pluralOf } from './diagnosis.ts'

const REFS = 'refs/stint'
const USER_REFS = ['--branches', '--tags', '--remotes']
const TIMEOUT_MS = 2 * 60_000
const MAX_OBJECT_BYTES = 1024 * 1024

/** With `repair`, removes the references whose objects are gone. */
export function checkSavedCode(
  { repository }: ProjectPaths,
  { repair }: { readonly repair: boolean },
): DoctorCheck {
  const findings = new CheckFindings('saved code')
  if (repository === undefined) return findings.check('no git repository here')
  const refs = listRefs(repository)
  if (refs.length === 0) return findings.check('none yet')
  try {
    if (!isUserHistoryWhole(repository)) {
      findings.note(
        'the branches of this repository cannot be read whole, so the saved code was not checked: git fsck',
      )
      return findings.check('', () => 'not checked')
    }
    const broken = findBroken(repository, refs)
    for (const ref of broken) {
      if (!repair)
        findings.problem(`${ref}: its objects are gone; stint doctor --repair removes it`)
      else if (removeRef(repository, ref)) findings.note(`${ref}: its objects were gone; removed`)
      else findings.problem(`${ref}: its objects are gone, and it cannot be removed`)
    }
    // git gc reads every object file, referenced or not.
    if (repair && broken.length > 0)
      for (const path of emptyObjects(repository.commonDir)) removeFile(path)
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    findings.note(`it could not be checked: ${error.message}`)
  }
  return findings.check(
    `${pluralOf(refs.length, 'reference')}, every object is there`,
    (count) => `${pluralOf(count, 'reference')} of ${refs.length} without objects`,
  )
}

/** Also those that git passes over, because their file is empty or holds no name of an object. */
function listRefs(repository: Repository): readonly string[] {
  const printed = runGit(repository, ['for-each-ref', '--format=%(refname)', REFS])
  const known = printed.split('\n').filter((ref) => ref !== '')
  return [...new Set([...known, ...looseRefs(repository.commonDir, REFS)])].toSorted()
}

function looseRefs(commonDir: string, folder: string): readonly string[] {
  return listFolder(join(commonDir, folder)).flatMap((name) => {
    const path = `${folder}/${name}`
    const kind = statOrUndefined(join(commonDir, path))
    if (kind?.isDirectory() === true) return looseRefs(commonDir, path)
    return kind?.isFile() === true && !name.endsWith('.lock') ? [path] : []
  })
}

/** Damage there is not ours, and saved code builds on it. */
function isUserHistoryWhole(repository: Repository): boolean {
  return tryGit(repository, ['rev-list', '--quiet', '--no-walk', ...USER_REFS]) !== undefined
}

/** Halves the list until each broken one is alone, so that thousands of whole ones take two processes. */
function findBroken(repository: Repository, refs: readonly string[]): readonly string[] {
  if (refs.length === 0 || areWhole(repository, refs)) return []
  if (refs.length === 1) return refs
  const middle = Math.floor(refs.length / 2)
  return [refs.slice(0, middle), refs.slice(middle)].flatMap((half) => findBroken(repository, half))
}

/** Reads the head of every object that no branch holds: one that was cut short exists by name only. */
function areWhole(repository: Repository, refs: readonly string[]): boolean {
  const options = { timeoutMs: TIMEOUT_MS }
  try {
    const list = ['rev-list', '--objects', '--no-object-names', '--exclude-promisor-objects']
    const input = refs.map((ref) => `${ref}\n`).join('')
    const objects = runGit(repository, [...list, '--stdin', '--not', ...USER_REFS], {
      ...options,
      input,
    })
    if (objects === '') return true
    const heads = runGit(repository, ['cat-file', '--batch-check', '--buffer'], {
      ...options,
      input: objects,
    })
    return heads.split('\n').every((line) => line === '' || /^[0-9a-f]+ \w+ \d+$/.test(line))
  } catch (error) {
    // Without a status git did not come to an end.
    if (error instanceof GitFailed && error.status !== undefined) return false
    throw error
  }
}

/** Object files that a power cut left without a byte of content. */
function emptyObjects(commonDir: string): readonly string[] {
  const folder = join(commonDir, 'objects')
  return listFolder(folder)
    .filter((name) => /^[0-9a-f]{2}$/.test(name))
    .flatMap((name) => listFolder(join(folder, name)).map((file) => join(folder, name, file)))
    .filter((path) => {
      const size = statOrUndefined(path)?.size ?? 1
      if (size > MAX_OBJECT_BYTES) return false
      return size === 0 || readOrUndefined(path)?.every((byte) => byte === 0) === true
    })
}

function removeRef(repository: Repository, ref: string): boolean {
  try {
    writeGit(repository, [...SAFE_CONFIG, 'update-ref', '--no-deref', '-d', ref])
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
  }
  // git does not delete a reference that it cannot read.
  const path = join(repository.commonDir, ref)
  return !existsSync(path) || removeFile(path)
}
