import { checksum } from '../../journal/record.ts'
import { parseLog } from '../../journal/read.ts'
import { fold } from '../../session/fold.ts'
import type { SessionState } from '../../session/state.ts'
import { MARKER_PATTERN, type Marker } from '../../document/grammar.ts'
import { renderDocument } from '../../document/render.ts'
import type { LiveSession, Reading } from './live-session.ts'

/** What the document was rendered from: the state at its marker, when the log still begins with those very bytes. */
export function baseOf(
  session: LiveSession,
  reading: Reading,
  text: string,
): { state: SessionState; isSure: boolean; isUnedited: boolean } {
  const marker = markerOf(text)
  const bytes = reading.contents.bytes
  const isOfThisLog = marker !== undefined && marker.offset > 0 && marker.offset <= bytes.length
  if (!isOfThisLog || checksum(bytes.subarray(0, marker.offset)) !== marker.sum) {
    return { state: reading.state, isSure: false, isUnedited: false }
  }
  const isCurrent = marker.offset === reading.marker.offset
  const state = isCurrent
    ? reading.state
    : fold(session.id, parseLog(bytes.subarray(0, marker.offset), '').records)
  return { state, isSure: true, isUnedited: renderDocument(state, marker) === text }
}

function markerOf(text: string): Marker | undefined {
  const line = text
    .split('\n')
    .findLast((candidate) => candidate.startsWith('<!-- stint: rendered'))
  const found = line === undefined ? null : MARKER_PATTERN.exec(line.trimEnd())
  return found === null ? undefined : { offset: Number(found[1]), sum: found[2]! }
}
