import { closeSync, fstatSync } from 'node:fs'
import type { Tracking } from '../../project/conversation/tracking.ts'
import { readWindow } from '../../project/conversation/window.ts'
import { openRegularFile } from '../../journal/files.ts'
import { readRange } from '../../journal/read.ts'

const TAIL = 48 * 1024

/**
 * Whether the context may have grown past the next line. Told from the last usage at the end of the transcript, without
 * reading whose it is, or from what the status line left: where that is too much, somebody looks closer for nothing.
 */
export function mayBeFuller(
  notes: string,
  { conversation, transcript, settled }: Tracking,
): boolean {
  const { alertAt } = settled ?? {}
  if (alertAt === undefined) return false
  const tokens = lastUsage(transcript) ?? readWindow(notes, conversation)?.used
  return tokens !== undefined && tokens >= alertAt
}

function lastUsage(transcript: string | undefined): number | undefined {
  const fd = transcript === undefined ? undefined : openRegularFile(transcript)
  if (fd === undefined) return undefined
  try {
    const { size } = fstatSync(fd)
    return lastUsageIn(readRange(fd, Math.max(0, size - TAIL), size))
  } finally {
    closeSync(fd)
  }
}

function lastUsageIn(bytes: Buffer): number | undefined {
  let at = bytes.lastIndexOf('"usage":{')
  if (at < 0) at = bytes.lastIndexOf('"usage": {')
  if (at < 0) return undefined
  const usage = bytes.toString('latin1', at, at + 500)
  let tokens = 0
  for (const [, count] of usage.matchAll(
    /"(?:input|output|cache_creation_input|cache_read_input)_tokens": ?(\d+)/g,
  ))
    tokens += Number(count)
  return tokens
}
