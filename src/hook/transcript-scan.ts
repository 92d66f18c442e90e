// Checks the new part of the transcript for anything to record, without parsing a line. As text:
// searching bytes makes Node compile more of itself.
import { closeSync, fstatSync } from 'node:fs'
import type { TranscriptPatterns } from '../harness/contract/hooks.ts'
import { openRegularFile } from '../journal/write-files.ts'
import { readRange } from '../journal/read-log.ts'
import {
  type ConversationState,
  readContextWindow,
} from '../project/conversation/conversation-state.ts'
import { isCompactLine } from '../text/json-fields.ts'

const MAX_BYTES = 256 * 1024
const TAIL_BYTES = 48 * 1024

/** What was written since the last read. Undefined if it has to be parsed. */
export function scanTranscript({
  transcript,
  looked,
}: Pick<ConversationState, 'transcript' | 'looked'>): string | undefined {
  const fd = transcript === undefined ? undefined : openRegularFile(transcript)
  // A new conversation has no transcript yet.
  if (fd === undefined) return looked === undefined ? '' : undefined
  try {
    const { size, ino } = fstatSync(fd)
    const { offset, inode } = looked ?? { offset: 0, inode: ino }
    if (inode !== ino || offset > size || size - offset > MAX_BYTES) return undefined
    const text = readRange(fd, offset, size).toString()
    return areCompact(text) ? text : undefined
  } finally {
    closeSync(fd)
  }
}

/** Undefined if something has to be recorded. */
export function scanQuietTranscript(
  { recorded }: TranscriptPatterns,
  conversationState: Pick<ConversationState, 'transcript' | 'looked'>,
): string | undefined {
  const text = scanTranscript(conversationState)
  return text === undefined || includesAny(text, recorded) ? undefined : text
}

export function includesAny(text: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => text.includes(pattern))
}

/** A substring search is reliable only in compact JSON. */
function areCompact(text: string): boolean {
  for (let at = 0, end = text.indexOf('\n'); end !== -1; at = end + 1, end = text.indexOf('\n', at))
    if (end > at && !isCompactLine(text, at)) return false
  return true
}

/** The model has responded, but the marker is not in the transcript. */
export function mayBeUndelivered(
  { answer }: TranscriptPatterns,
  text: string,
  { given, answeredAt }: Pick<ConversationState, 'given' | 'answeredAt'>,
): boolean {
  if (given === undefined || given.isProved) return false
  const hasAnswered = (answeredAt ?? '') > given.at || text.includes(answer)
  return hasAnswered && !text.includes(`[stint:${given.mark}]`)
}

/**
 * Uses the last usage in the transcript, even that of a subagent, or the status line's. May be a
 * false alarm, which the handler resolves.
 */
export function mayCrossThreshold(
  { lastUsage }: TranscriptPatterns,
  stateFolder: string,
  { conversation, transcript, settled }: ConversationState,
): boolean {
  const { alertAt } = settled ?? {}
  if (alertAt === undefined) return false
  const text = readTail(transcript)
  const seen = text === undefined ? undefined : lastUsage(text)
  const tokens = seen ?? readContextWindow(stateFolder, conversation)?.used
  return tokens !== undefined && tokens >= alertAt
}

function readTail(transcript: string | undefined): string | undefined {
  const fd = transcript === undefined ? undefined : openRegularFile(transcript)
  if (fd === undefined) return undefined
  try {
    const { size } = fstatSync(fd)
    return readRange(fd, Math.max(0, size - TAIL_BYTES), size).toString()
  } finally {
    closeSync(fd)
  }
}
