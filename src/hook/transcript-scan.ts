// Whether the transcript has anything new to record, told from its bytes without parsing a line.
import { closeSync, fstatSync } from 'node:fs'
import type { TranscriptPatterns } from '../harness/contract/hooks.ts'
import { openRegularFile } from '../journal/files.ts'
import { readRange } from '../journal/read-log.ts'
import {
  type ConversationState,
  readContextWindow,
} from '../project/conversation/conversation-state.ts'
import { isCompact } from '../text/json-fields.ts'

const MOST = 256 * 1024
const TAIL = 48 * 1024
const NEWLINE = 0x0a

/** What the harness wrote since the last read. Undefined where it has to be parsed. */
export function scanTranscript({
  transcript,
  looked,
}: Pick<ConversationState, 'transcript' | 'looked'>): Buffer | undefined {
  const fd = transcript === undefined ? undefined : openRegularFile(transcript)
  // A conversation that has just begun has none yet.
  if (fd === undefined) return looked === undefined ? Buffer.alloc(0) : undefined
  try {
    const { size, ino } = fstatSync(fd)
    const { offset, inode } = looked ?? { offset: 0, inode: ino }
    if (inode !== ino || offset > size || size - offset > MOST) return undefined
    const bytes = readRange(fd, offset, size)
    return areCompact(bytes) ? bytes : undefined
  } finally {
    closeSync(fd)
  }
}

/** Undefined where something has to be recorded. */
export function scanQuietTranscript(
  { recorded }: TranscriptPatterns,
  tracking: Pick<ConversationState, 'transcript' | 'looked'>,
): Buffer | undefined {
  const bytes = scanTranscript(tracking)
  return bytes === undefined || includesAny(bytes, recorded) ? undefined : bytes
}

export function includesAny(bytes: Buffer, texts: readonly string[]): boolean {
  return texts.some((text) => bytes.includes(text))
}

/** Whether its bytes can be read without parsing. */
function areCompact(bytes: Buffer): boolean {
  for (
    let at = 0, end = bytes.indexOf(NEWLINE);
    end !== -1;
    at = end + 1, end = bytes.indexOf(NEWLINE, at)
  )
    if (end > at && !isCompact(bytes, at)) return false
  return true
}

/** The model responded without a trace of what was injected. */
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
 * Whether the context may have grown past the next line of the budget. Told from the last usage at the end of the
 * transcript, whoever's that is, or from what the status line left: the handler finds out where it was too much.
 */
export function mayCrossThreshold(
  { lastUsage }: TranscriptPatterns,
  stateFolder: string,
  { conversation, transcript, settled }: ConversationState,
): boolean {
  const { alertAt } = settled ?? {}
  if (alertAt === undefined) return false
  const bytes = tailOf(transcript)
  const seen = bytes === undefined ? undefined : lastUsage(bytes)
  const tokens = seen ?? readContextWindow(stateFolder, conversation)?.used
  return tokens !== undefined && tokens >= alertAt
}

function tailOf(transcript: string | undefined): Buffer | undefined {
  const fd = transcript === undefined ? undefined : openRegularFile(transcript)
  if (fd === undefined) return undefined
  try {
    const { size } = fstatSync(fd)
    return readRange(fd, Math.max(0, size - TAIL), size)
  } finally {
    closeSync(fd)
  }
}
