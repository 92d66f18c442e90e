import { type Json, nameOf } from '../../text/json-fields.ts'
import { parseLine } from '../../harness/claude/transcript-lines.ts'
import { linesOf } from '../lines-of-file.ts'

/**
 * The lines of a copy, each once and in the order of the file. What cannot be read is passed over: a line that was
 * cut off was copied again behind it. No copy at all has no lines.
 */
export function* readCopy(path: string): Generator<Json> {
  const seen = new Set<string>()
  for (const bytes of linesOf(path)) {
    const line = parseLine(bytes)
    if (line === undefined) continue
    const identity = nameOf(line['uuid']) ?? bytes.toString('latin1')
    if (seen.has(identity)) continue
    seen.add(identity)
    yield line
  }
}
