import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { errnoOf } from '../../journal/errors.ts'
import { redact } from '../../text/redact.ts'
import { readInside } from '../../context/read-inside.ts'
import { BUILT_IN } from './built-in.ts'
import { parseProfile } from './parse-profile.ts'
import type { Profile } from './profile.ts'

/** Where a repository keeps profiles. The first that has a name gives it its meaning. */
export const PROFILE_FOLDERS = ['.agents', '.claude/agents'] as const

export interface LoadedProfiles {
  /** The repository's own first, then those that come with Stint. */
  readonly profiles: readonly Profile[]
  /** Files that could not be taken as they are, each in one line. */
  readonly problems: readonly string[]
}

/** More than a person keeps an index of. */
const MOST_FILES = 200

/** The profiles of a repository. A file that cannot be read is a problem and keeps nobody from the others. */
export function loadProfiles(root: string): LoadedProfiles {
  const problems: string[] = []
  const profiles = new Map<string, Profile>()
  const files = PROFILE_FOLDERS.flatMap((folder) => markdownIn(root, folder))
  if (files.length > MOST_FILES)
    problems.push(`only the first ${MOST_FILES} of ${files.length} profiles are read`)
  for (const file of files.slice(0, MOST_FILES)) {
    const found = readInside(root, file)
    const parsed =
      typeof found === 'string'
        ? { problem: `is not read: ${found}` }
        : parseProfile(file, redact(found.text).text)
    if (parsed.problem !== undefined) problems.push(`${file} ${parsed.problem}`)
    if (!('profile' in parsed)) continue
    const { profile } = parsed
    const first = profiles.get(profile.name)
    if (first === undefined) profiles.set(profile.name, profile)
    else problems.push(`${file} is left out: ${first.file} is called ${profile.name} already`)
  }
  return {
    profiles: [...profiles.values(), ...BUILT_IN.filter(({ name }) => !profiles.has(name))],
    problems,
  }
}

function markdownIn(root: string, folder: string): readonly string[] {
  try {
    return readdirSync(join(root, folder))
      .filter((name) => /\.md$/i.test(name) && !/^readme\.md$/i.test(name))
      .toSorted()
      .map((name) => `${folder}/${name}`)
  } catch (error) {
    // No such folder, or none that may be read.
    if (errnoOf(error) === undefined) throw error
    return []
  }
}
