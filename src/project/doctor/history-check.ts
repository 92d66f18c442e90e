import { relative } from 'node:path'
import { size } from '../../digest/compose.ts'
import { listBlobs, namesOf } from '../../history/blob-files.ts'
import { Blobs } from '../../history/blobs.ts'
import { blobsFolder } from '../../history/places.ts'
import { storeOf } from '../history/store.ts'
import type { Workspace } from '../workspace.ts'
import { type Check, Findings, plural } from './report.ts'

/** Whether what was said can be read whole: every large output that a conversation names is there, and is what it was. */
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
    const names = new Set(namesOf(path))
    const missing = [...names].filter((hash) => !there.has(hash)).length
    // Also after `stint history prune --outputs`, which nobody has to be warned of.
    if (missing > 0) findings.note(`${id}: ${plural(missing, 'large output')} of it not here any more`)
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
