import { closeSync, fstatSync } from 'node:fs'
import type { Tracking } from '../../project/conversation/tracking.ts'
import { openRegularFile } from '../../journal/files.ts'
import { readRange } from '../../journal/read.ts'
import { isCompact } from '../../text/compact-json.ts'

const MOST = 256 * 1024
const NEWLINE = 0x0a

/** What a look at the transcript would record: a compaction, something typed meanwhile, a command or a call that failed. */
const TELLING = [
  '"compact_boundary"',
  '"queued_command"',
  '"is_error":true',
  '"isApiErrorMessage":true',
].map((text) => Buffer.from(text))
const ANSWER = Buffer.from('"type":"assistant"')

/** What the harness wrote since its transcript was last looked at. Undefined where it cannot be seen at a glance. */
export function glimpse({
  transcript,
  looked,
}: Pick<Tracking, 'transcript' | 'looked'>): Buffer | undefined {
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

/** Whether all its lines are of the kind whose bytes tell what is in them. */
function areCompact(bytes: Buffer): boolean {
  for (
    let at = 0, end = bytes.indexOf(NEWLINE);
    end !== -1;
    at = end + 1, end = bytes.indexOf(NEWLINE, at)
  )
    if (end > at && !isCompact(bytes, at)) return false
  return true
}

/** What a conversation that is over may have left unrecorded besides: how its tests went. */
export function hasUnseenCommand(bytes: Buffer): boolean {
  return bytes.includes('"name":"Bash"') || bytes.includes('"type":"tool_result"')
}

export function isTelling(bytes: Buffer): boolean {
  return TELLING.some((text) => bytes.includes(text))
}

/** Whether the model has answered without a trace of what it was given, as far as was looked at before or behind that. */
export function mayHaveMissed(
  bytes: Buffer,
  { given, answeredAt }: Pick<Tracking, 'given' | 'answeredAt'>,
): boolean {
  if (given === undefined || given.isProved) return false
  const hasAnswered = (answeredAt ?? '') > given.at || bytes.includes(ANSWER)
  return hasAnswered && !bytes.includes(`[stint:${given.mark}]`)
}
