import { relative } from 'node:path'
import { size } from '../../command/digest/compose.ts'
import { listBlobs, namesOf } from '../../history/blob-files.ts'
import { Blobs } from '../../history/blobs.ts'
import { blobsFolder } from '../../history/places.ts'
import { storeOf } from '../history/store.ts'
import type { Workspace } from '../store/workspace.ts'
import { type Check, Findings, plural } from './report.ts'

export function checkHistory(workspace: Workspace): Check {
  const { place } = workspace
  const findings = new Findings('conversations')
  const stored = storeOf(workspace).list()
  const kept = listBlobs(place.sessions)
  const blobs = new Blobs(blobsFolder(place.sessions))
  for (const { hash, path } of kept) {
    if ('standIn' in blobs.get({ hash, length: 0 }))
      findings.problem(`${relative(place.root, path)} is damaged; a text stands in for it`)
  }
  const there = new Set(kept.map(({ hash }) => hash))
  const named = new Set<string>()
  for (const { id, path } of stored) {
    let unreadable = 0
    const names = new Set(namesOf(path, () => (unreadable += 1)))
    // No problem: a truncated line was written again after it.
    if (unreadable > 0)
      findings.note(
        `${relative(place.root, path)}: ${plural(unreadable, 'line')} of it cannot be read, and ${unreadable === 1 ? 'is' : 'are'} passed over`,
      )
    const missing = [...names].filter((hash) => !there.has(hash)).length
    // Also after `stint history prune --outputs`.
    if (missing > 0)
      findings.note(`${id}: ${plural(missing, 'large output')} of it not here any more`)
    for (const hash of names) named.add(hash)
  }
  const unnamed = kept.filter(({ hash }) => !named.has(hash))
  if (unnamed.length > 0)
    findings.note(
      `${plural(unnamed.length, 'large output')} of no conversation, ${size(sum(unnamed))}; stint history prune frees them`,
    )
  const ok =
    stored.length === 0
      ? 'none is stored yet'
      : `${plural(stored.length, 'conversation')}, ${size(sum(stored) + sum(kept))}, all whole`
  return findings.check(ok, (count) => plural(count, 'remark'))
}

function sum(files: readonly { readonly bytes: number }[]): number {
  return files.reduce((total, { bytes }) => total + bytes, 0)
}
