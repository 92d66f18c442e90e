// Checks the new bytes of the transcript for anything to record, without parsing a line.
import { closeSync, fstatSync } from 'node:fs'
import type { TranscriptPatterns } from '../harness/contract/hooks.ts'
import { openRegularFile } from '../journal/write-files.ts'
import { readRange } from '../journal/read-log.ts'
import {
  type ConversationState,
  readContextWindow,
} from '../project/conversation/conversation-state.ts'
import { isCompact } from '../text/json-fields.ts'

const MAX_BYTES = 256 * 1024
const TAIL_BYTES = 48 * 1024
const NEWLINE = 0x0a

/** The bytes written since the last read. Undefined if they have to be parsed. */
export function scanTranscript({
  transcript,
  looked,
}: Pick<ConversationState, 'transcript' | 'looked'>): Buffer | undefined {
  const fd = transcript === undefined ? undefined : openRegularFile(transcript)
  // A new conversation has no transcript yet.
  if (fd === undefined) return looked === undefined ? Buffer.alloc(0) : undefined
  try {
    const { size, ino } = fstatSync(fd)
    const { offset, inode } = looked ?? { offset: 0, inode: ino }
    if (inode !== ino || offset > size || size - offset > MAX_BYTES) return undefined
    const bytes = readRange(fd, offset, size)
    return areCompact(bytes) ? bytes : undefined
  } finally {
    closeSync(fd)
  }
}

/** Undefined if something has to be recorded. */
export function scanQuietTranscript(
  { recorded }: TranscriptPatterns,
  conversationState: Pick<ConversationState, 'transcript' | 'looked'>,
): Buffer | undefined {
  const bytes = scanTranscript(conversationState)
  return bytes === undefined || includesAny(bytes, recorded) ? undefined : bytes
}

export function includesAny(bytes: Buffer, texts: readonly string[]): boolean {
  return texts.some((text) => bytes.includes(text))
}

/** A substring search is reliable only in compact JSON. */
function areCompact(bytes: Buffer): boolean {
  for (
    let at = 0, end = bytes.indexOf(NEWLINE);
    end !== -1;
    at = end + 1, end = bytes.indexOf(NEWLINE, at)
  )
    if (end > at && !isCompact(bytes, at)) return false
  return true
}

/** The model has responded, but the marker is not in the transcript. */
export function mayBeUndelivered(
  { answer }: TranscriptPatterns,
  bytes: Buffer,
  { given, answeredAt }: Pick<ConversationState, 'given' | 'answeredAt'>,
): boolean {
  if (given === undefined || given.isProved) return false
  const hasAnswered = (answeredAt ?? '') > given.at || bytes.includes(answer)
  return hasAnswered && !bytes.includes(`[stint:${given.mark}]`)
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
  const bytes = readTail(transcript)
  const seen = bytes === undefined ? undefined : lastUsage(bytes)
  const tokens = seen ?? readContextWindow(stateFolder, conversation)?.used
  return tokens !== undefined && tokens >= alertAt
}

function readTail(transcript: string | undefined): Buffer | undefined {
  const fd = transcript === undefined ? undefined : openRegularFile(transcript)
  if (fd === undefined) return undefined
  try {
    const { size } = fstatSync(fd)
    return readRange(fd, Math.max(0, size - TAIL_BYTES), size)
  } finally {
    closeSync(fd)
  }
}
