import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMissing } from '../../journal/errors.ts'
import { createFolder, replaceFile, writeOnce } from '../../journal/files.ts'
import type { Config } from '../config/config.ts'
import type { Place } from './place.ts'

const ATTEMPTS = 10

export function prepareFolder(place: Place, config: Config): void {
  // git clean may remove the folder between any two calls.
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
  // Only our own text is replaced, after the setting changed.
  if (readFileSync(path, 'utf8') === other) replaceFile(path, ignore)
  if (isShared) writeOnce(join(sessions, '.gitattributes'), SHARED_ATTRIBUTES)
}

const OWN_IGNORE = '*\n'

// Everything else can be rebuilt.
const SHARED_IGNORE = [
  'index.db*',
  'touched/',
  'open/',
  'open.*',
  'opening-*',
  'exports.jsonl',
  'runs/',
  'conversations/',
  // Two machines may number handoffs alike; the journals hold both.
  'journal/*/handoffs/',
  'journal/*/progress.md',
  'journal/*/snapshot.json',
  'journal/*/state.*',
  'journal/*/taken-*',
  'journal/*/replaced-*',
  '.*.tmp',
  '',
].join('\n')

// Logs of two machines are joined; a document is never merged, the next command renders it.
const SHARED_ATTRIBUTES = [
  'journal/*/log.jsonl merge=union',
  'backlog/log.jsonl merge=union',
  'active/*.md -merge',
  'archive/*.md -merge',
  '',
].join('\n')
