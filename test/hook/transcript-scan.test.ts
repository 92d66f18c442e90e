import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ConversationState } from '../../src/project/conversation/conversation-state.ts'
import { claudeProtocol } from '../../src/harness/claude/hooks/protocol.ts'
import { scanTranscript, mayCrossThreshold } from '../../src/hook/transcript-scan.ts'
import { answered, bytesOf, recorded, said, spaced } from '../capture/transcript.ts'
import { scratchFolder } from '../support/scratch.ts'

test('a transcript is scanned as text if that is conclusive, and parsed otherwise', () => {
  const transcript = join(scratchFolder(), 'transcript.jsonl')
  const bytes = recorded('claude-2.1.325.jsonl')
  writeFileSync(transcript, Buffer.concat([bytes, Buffer.from('\n{"type":"us')]))
  // The last line is incomplete.
  expect(scanTranscript({ transcript })).toBe(`${bytes.toString()}\n{"type":"us`)
  for (const other of [
    spaced(bytes),
    spaced(bytes, ' '),
    Buffer.concat([bytes, spaced(bytesOf(said('one of them')))]),
  ]) {
    writeFileSync(transcript, other)
    expect(scanTranscript({ transcript })).toBeUndefined()
  }
})

test('a grown context is detected in JSON with spaces, too', () => {
  const notes = scratchFolder()
  const transcript = join(notes, 'transcript.jsonl')
  const usage = {
    input_tokens: 10,
    cache_creation_input_tokens: 200,
    cache_read_input_tokens: 3000,
    output_tokens: 4,
  }
  const bytes = bytesOf(answered('x', { message: { usage } }))
  const mayCross = (alertAt: number) =>
    mayCrossThreshold(claudeProtocol.transcriptPatterns, notes, {
      conversation: 'c1',
      transcript,
      settled: { alertAt },
    } as unknown as ConversationState)
  for (const written of [bytes, spaced(bytes), spaced(bytes, ' ')]) {
    writeFileSync(transcript, written)
    appendFileSync(transcript, '{}\n')
    expect([mayCross(3214), mayCross(3215)]).toEqual([true, false])
  }
})
