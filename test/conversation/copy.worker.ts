// Copies a transcript to its end repeatedly, while other processes do the same.
import { existsSync } from 'node:fs'
import {
  type CopyCursor,
  copyTranscriptChunk,
} from '../../src/project/conversation/copy-transcript.ts'

const [transcript, target, ready] = process.argv.slice(2) as [string, string, string]
let cursor: CopyCursor | undefined
for (;;) {
  const isOver = existsSync(ready)
  const conversation = { id: 'c0ffee', harness: 'claude' }
  const copied = copyTranscriptChunk({
    transcript,
    target,
    conversation,
    maxBytes: 5000,
    redaction: {},
    ...(cursor === undefined ? {} : { cursor }),
  })
  if (copied !== undefined) cursor = copied.cursor
  if (isOver && copied?.isCaughtUp === true) break
}
