import { appendFileSync, closeSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { contextSizeFrom } from '../../src/harness/contract/transcript.ts'
import { readBackwards } from '../../src/harness/contract/transcript-lines.ts'
import { readLastUsage } from '../../src/harness/claude/transcript/inspect-transcript.ts'
import { scratchFolder } from '../support/scratch.ts'
import { answered, came, compacted, ran, recorded, said, summed } from './transcript.ts'

const count = vi.hoisted(() => ({ bytesRead: 0 }))

// Only counted: everything is read from real files.
vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>()
  const readSync = (...args: Parameters<typeof fs.readSync>) => {
    const read = fs.readSync(...args)
    count.bytesRead += read
    return read
  }
  return { ...fs, readSync }
})

beforeEach(() => {
  count.bytesRead = 0
})

const NOW = '2026-06-01T00:00:00.000Z'
const MEGABYTE = 1024 * 1024

function transcript(...lines: readonly (string | Buffer)[]): string {
  const path = join(scratchFolder(), 'transcript.jsonl')
  writeFileSync(path, '')
  for (const line of lines) appendFileSync(path, typeof line === 'string' ? `${line}\n` : line)
  return path
}

const used = (input: number, written: number, read: number, output: number, more: object = {}) => ({
  message: {
    ...more,
    usage: {
      input_tokens: input,
      cache_creation_input_tokens: written,
      cache_read_input_tokens: read,
      output_tokens: output,
    },
  },
})
const tokensIn = (path: string, bounds?: { maxBytes: number; pieces: number }) =>
  contextSizeFrom(bounds === undefined ? readLastUsage(path) : readLastUsage(path, bounds), NOW)

describe('the tokens in a context', () => {
  test('are what the last call read, cached or not, and what it answered', () => {
    const path = transcript(
      said('one'),
      answered('1', used(5, 1000, 2000, 10)),
      said('two'),
      answered('2', used(7, 300, 3005, 20)),
    )
    expect(tokensIn(path)).toMatchObject({
      value: 7 + 300 + 3005 + 20,
      known: 'measured',
      from: 'transcript',
    })
    expect(readLastUsage(path).model).toBe('some-model')
  })

  test('are those of a real transcript, behind its compaction', () => {
    expect(tokensIn(transcript(recorded('claude-2.1.325.jsonl')))).toMatchObject({
      value: 120,
      known: 'measured',
    })
    expect(tokensIn(transcript(recorded('claude-2.0.77.jsonl')))).toMatchObject({
      known: 'measured',
    })
  })

  test('are known since the call, and not since they were asked for', () => {
    const path = transcript(
      answered('1', { ...used(5, 0, 0, 10), timestamp: '2026-02-03T04:05:06.000Z' }),
      said('and later'),
    )
    expect(tokensIn(path)?.at).toBe('2026-02-03T04:05:06.000Z')
  })

  test('are taken from the last of the lines that one answer stands on', () => {
    const path = transcript(
      answered([{ type: 'text', text: 'a' }], used(3, 500, 4000, 1, { id: 'msg_x' })),
      answered(
        [{ type: 'tool_use', id: 't', name: 'Bash', input: { command: 'ls' } }],
        used(3, 500, 4000, 812, { id: 'msg_x' }),
      ),
      came('t', 'out'),
    )
    expect(tokensIn(path)?.value).toBe(3 + 500 + 4000 + 812)
  })

  test('are not those of a delegated agent, of a failure, of a placeholder, or of what the client made up', () => {
    const path = transcript(
      answered('mine', used(10, 20, 30_000, 40)),
      answered('theirs', { ...used(10, 20, 90_000, 40), isSidechain: true }),
      answered('API Error: 529', {
        ...used(0, 0, 0, 0, { model: '<synthetic>' }),
        isApiErrorMessage: true,
      }),
      answered('No response requested.', used(0, 0, 0, 0, { model: '<synthetic>' })),
      answered('streams', used(1, 0, 0, 1)),
    )
    expect(tokensIn(path)?.value).toBe(10 + 20 + 30_000 + 40)
  })

  test('are estimated as what a compaction left, until the model is called again', () => {
    const before = [said('one'), answered('1', used(5, 1000, 150_000, 10))]
    const left = { trigger: 'auto', preTokens: 151_015, postTokens: 12_345 }
    const path = transcript(...before, compacted(left), summed('what was'))
    expect(tokensIn(path)).toMatchObject({ value: 12_345, known: 'estimated' })
    appendFileSync(path, `${answered('2', used(5, 20_000, 0, 10))}\n`)
    expect(tokensIn(path)).toMatchObject({ value: 20_015, known: 'measured' })
  })

  test('are unknown behind a compaction that does not say what it left, and never those from before it', () => {
    const path = transcript(
      answered('1', used(5, 1000, 150_000, 10)),
      compacted({ trigger: 'auto', preTokens: 151_015 }),
      summed('x'),
    )
    expect(tokensIn(path)).toBeUndefined()
  })

  test.each<[string, readonly (string | Buffer)[]]>([
    ['nothing', []],
    ['only a question', [said('hello')]],
    ['no lines', [Buffer.from('{"half')]],
    ['binary', [Buffer.from([0xff, 0, 1, 2, 0x0a, 0xfe])]],
  ])('are unknown where there is %s', (_what, lines) => {
    expect(tokensIn(transcript(...lines))).toBeUndefined()
  })

  test('are unknown without a file', () => {
    expect(tokensIn(join(scratchFolder(), 'none.jsonl'))).toBeUndefined()
    expect(tokensIn(scratchFolder())).toBeUndefined()
  })

  test('are found behind a line that is still being written', () => {
    const path = transcript(
      answered('1', used(5, 0, 1000, 10)),
      Buffer.from(answered('2', used(5, 0, 9000, 10)).slice(0, -5)),
    )
    expect(tokensIn(path)?.value).toBe(1015)
  })

  test('are found before lines that are longer than a piece, which are passed over', () => {
    const bounds = { maxBytes: 4096, pieces: 100 }
    for (const length of [3000, 4096, 5000, 8192, 20_000]) {
      const path = transcript(
        said('one'),
        answered('1', used(5, 0, 1000, 10)),
        came('t', 'x'.repeat(length)),
        said('two'),
      )
      expect(tokensIn(path, bounds)?.value).toBe(1015)
    }
  })
})

describe('a transcript read backwards', () => {
  test('gives every line that fits into a piece, each once, whatever lies between them', () => {
    const lines = fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '"'), maxLength: 90 }), {
      maxLength: 40,
    })
    fc.assert(
      fc.property(
        lines,
        fc.integer({ min: 8, max: 64 }),
        fc.boolean(),
        (texts, maxBytes, isUnfinished) => {
          const path = join(scratchFolder(), 't')
          writeFileSync(
            path,
            texts.map((text) => `${text}\n`).join('') + (isUnfinished ? 'half' : ''),
          )
          const seen: string[] = []
          readBackwards(path, { maxBytes, pieces: 10_000 }, (bytes) => {
            const whole = bytes.toString('utf8').split('\n').slice(0, -1)
            seen.unshift(...whole)
            return 'more'
          })
          const fitting = texts.filter((text) => Buffer.byteLength(text) + 1 < maxBytes)
          expect(seen.filter((text) => Buffer.byteLength(text) + 1 < maxBytes)).toEqual(fitting)
          for (const text of seen) expect(texts).toContain(text)
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe('the cost of looking', () => {
  /** A transcript of this size that ends with an answer. */
  function large(bytes: number): string {
    const path = join(scratchFolder(), 'large.jsonl')
    const block = Array.from(
      { length: 200 },
      (_, index) => `${(index % 2 === 0 ? said : answered)(`${index} ${'word '.repeat(1000)}`)}\n`,
    )
    const fd = openSync(path, 'w')
    for (let written = 0; written < bytes;) written += writeSync(fd, block.join(''))
    writeSync(fd, `${answered('last', used(5, 0, 77_000, 10))}\n`)
    closeSync(fd)
    return path
  }

  test('is the same for a hundred megabytes as for one', () => {
    const reads = [1, 100].map((size) => {
      count.bytesRead = 0
      expect(tokensIn(large(size * MEGABYTE))?.value).toBe(77_015)
      return count.bytesRead
    })
    expect(reads[1]).toBe(reads[0])
    expect(reads[1]).toBeLessThanOrEqual(256 * 1024)
  })

  test('is bounded when nothing is found', () => {
    const path = join(scratchFolder(), 'silent.jsonl')
    const fd = openSync(path, 'w')
    for (let written = 0; written < 20 * MEGABYTE;)
      written += writeSync(
        fd,
        `${ran('t', 'y').replace('assistant', 'other')}${' '.repeat(5000)}\n`,
      )
    closeSync(fd)
    expect(tokensIn(path)).toBeUndefined()
    expect(count.bytesRead).toBeLessThanOrEqual(8 * MEGABYTE)
  })
})
