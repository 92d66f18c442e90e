import { isRunning, listEntries } from '../../journal/read-files.ts'
import { basename, join, relative } from 'node:path'
import { staleTemporaries, sweepTemporaries, writerPid } from '../../journal/write-files.ts'
import { isReplacedLog } from '../purge/rewrite-log.ts'
import { type ProjectPaths, ownFolders } from '../store/project-paths.ts'
import { type DoctorCheck, CheckFindings, pluralOf } from './diagnosis.ts'
import { readHookErrors } from '../conversation/conversation-state.ts'
import { formatToSecond } from '../../text/times.ts'
import { conversationStateFolder } from '../store/conversation-binding.ts'

export function checkOrphanedFiles(
  paths: ProjectPaths,
  options: { repair: boolean },
): readonly DoctorCheck[] {
  const orphans = new CheckFindings('left over')
  const temporaries = new CheckFindings('temporaries')
  for (const folder of foldersUnder(paths)) {
    const { files, folders } = namesIn(folder)
    for (const name of [...files, ...folders]) {
      const description = describe(name, basename(folder))
      if (description !== undefined)
        orphans.note(`${relative(paths.root, join(folder, name))}: ${description}`)
    }
    const stale = staleTemporaries(folder)
    if (options.repair) sweepTemporaries(folder)
    for (const path of stale) temporaries.note(relative(paths.root, path))
  }
  const outcome = options.repair ? 'removed' : '--repair removes them'
  return [
    orphans.check(
      'nothing was left or set aside',
      (count) => `${pluralOf(count, 'file')} to know of`,
    ),
    temporaries.check(
      'none',
      (count) => `${pluralOf(count, 'half-written file')} of killed processes; ${outcome}`,
    ),
  ]
}

function describe(name: string, folder: string) {
  if (isReplacedLog(name)) return 'left by a purge that was killed; run the purge again'
  if (name.startsWith('taken-'))
    return 'a document that a killed command had taken; the next command on the session reads it'
  if (name.startsWith('.taken-'))
    return 'a task file that a killed command had taken; the next task command reads it'
  if (folder === 'set-aside') return 'set aside because it could not be taken over whole'
  if (name.includes('.set-aside-') && !/-(?:wal|shm|journal)$/.test(name))
    return 'an index that could not be used; it may be deleted'
  if (writerPid(name) !== undefined && !isRunning(writerPid(name)!))
    return 'what a command had printed whose `stint digest` was killed; it may be deleted'
  if (name.endsWith('.json.damaged'))
    return 'an entry that a hook left and that cannot be read; it may be deleted'
  if (name.includes('.damaged-'))
    return 'a log that differed from its second name and has damaged lines; what could be read is in the log'
  return undefined
}

function* foldersUnder(paths: ProjectPaths): Iterable<string> {
  const pending = [...ownFolders(paths)]
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    yield folder
    pending.push(...namesIn(folder).folders.map((name) => join(folder!, name)))
  }
}

function namesIn(folder: string) {
  const entries = listEntries(folder)
  return {
    files: entries.filter((entry) => !entry.isDirectory()).map((entry) => entry.name),
    folders: entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name),
  }
}

const MAX_SHOWN = 20

export function checkHookErrors(paths: ProjectPaths): DoctorCheck {
  const findings = new CheckFindings('hooks')
  for (const { at, event, message } of readHookErrors(conversationStateFolder(paths)).slice(
    -MAX_SHOWN,
  )) {
    findings.note(`${formatToSecond(at)} ${event}: ${message.split('\n').slice(0, 3).join(' ')}`)
  }
  return findings.check(
    'no hook had trouble',
    (count) => `${pluralOf(count, 'trouble')} of hooks; no agent failed for it`,
  )
}
