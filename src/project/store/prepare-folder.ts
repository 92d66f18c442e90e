import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMissing } from '../../journal/errors.ts'
import { createFolder, replaceFile, writeOnce } from '../../journal/files.ts'
import type { Config } from '../config/config.ts'
import type { Place } from './place.ts'

const ATTEMPTS = 10

/** Creates `.sessions/` with its `.gitignore`, so that nothing of it is committed unless the user asks. */
export function prepareFolder(place: Place, config: Config): void {
  // `git clean` may take the folder away between any two calls.
  for (let attempt = 1; ; attempt += 1) {
    try {
      prepareOnce(place.sessions, config.share === 'git')
      return
    } catch (error) {
      if (!isMissing(error) || attempt === ATTEMPTS) throw error
    }
  }
}

function prepareOnce(sessions: string, isShared: boolean): void {
  createFolder(sessions)
  const [ignore, other] = isShared ? [SHARED_IGNORE, OWN_IGNORE] : [OWN_IGNORE, SHARED_IGNORE]
  const path = join(sessions, '.gitignore')
  writeOnce(path, ignore)
  // The setting was changed since; a file that a person wrote is theirs.
  if (readFileSync(path, 'utf8') === other) replaceFile(path, ignore)
  if (isShared) writeOnce(join(sessions, '.gitattributes'), SHARED_ATTRIBUTES)
}

const OWN_IGNORE = '*\n'

// What is shared is the truth and what people read; everything else can be made again.
const SHARED_IGNORE = [
  'index.db*',
  'touched/',
  'open/',
  'open.*',
  'opening-*',
  'exports.jsonl',
  'runs/',
  'conversations/',
  // Two machines may give one number to two handoffs; the journals hold both.
  'journal/*/handoffs/',
  'journal/*/progress.md',
  'journal/*/snapshot.json',
  'journal/*/state.*',
  'journal/*/taken-*',
  'journal/*/replaced-*',
  '.*.tmp',
  '',
].join('\n')

// Two machines' entries are both kept, one after the other. A document is never mixed from two: it
// stays as it was here, and is rendered from all entries by the next command.
const SHARED_ATTRIBUTES = [
  'journal/*/log.jsonl merge=union',
  'backlog/log.jsonl merge=union',
  'active/*.md -merge',
  'archive/*.md -merge',
  '',
].join('\n')
