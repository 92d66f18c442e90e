import { appendFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readTranscriptTotals } from '../../src/harness/claude/transcript/usage-totals.ts'
import {
  type CachedTotals,
  type TranscriptTotals,
  totalsWithOpenCalls,
} from '../../src/harness/contract/transcript.ts'
import { scratchFolder } from '../support/scratch.ts'
import { answered, came, compacted, recorded, said, spaced } from './transcript.ts'

function transcript(...lines: readonly (string | Buffer)[]): string {
  const path = join(scratchFolder(), 'transcript.jsonl')
  writeFileSync(
    path,
    Buffer.concat(
      lines.map((line) => (typeof line === 'string' ? Buffer.from(`${line}\n`) : line)),
    ),
  )
  return path
}

const total = (path: string, kept?: CachedTotals): TranscriptTotals =>
  totalsWithOpenCalls(readTranscriptTotals(path, kept)!)
const call = (id: string, output: number, more: object = {}, model = 'm') =>
  answered('x', {
    message: {
      id,
      model,
      usage: {
        input_tokens: 10,
        cache_creation_input_tokens: 200,
        cache_read_input_tokens: 3000,
        output_tokens: output,
      },
      ...more,
    },
  })

describe('what a conversation used in all', () => {
  test('is the sum of its calls, each once, however many lines one stands on', () => {
    const path = transcript(
      said('a'),
      call('1', 1),
      came('t', 'ok'),
      call('1', 500),
      call('2', 40),
      call('3', 50, {}, 'other'),
    )
    expect(total(path)).toMatchObject({
      calls: 3,
      spent: {
        m: { input: 20, cacheWritten: 400, cacheRead: 6000, output: 540, cacheWrittenHour: 0 },
        other: { input: 10, cacheWritten: 200, cacheRead: 3000, output: 50, cacheWrittenHour: 0 },
      },
    })
  })

  test('is the same with blanks between the parts of its lines', () => {
    const theirs = call('9', 40).replace('"isSidechain":false', '"isSidechain":true')
    const cost = JSON.stringify({ type: 'cost-state', totalCostUSD: 1.5 })
    const lines = [
      said('a'),
      call('1', 1),
      theirs,
      compacted({ trigger: 'auto', preTokens: 900 }),
      call('1', 500),
      cost,
    ]
    for (const bytes of [Buffer.from(`${lines.join('\n')}\n`), recorded('claude-2.1.325.jsonl')]) {
      const told = total(transcript(bytes))
      expect(told.calls).toBeGreaterThan(0)
      for (const other of [spaced(bytes), spaced(bytes, ' ')])
        expect(total(transcript(other))).toEqual(told)
    }
  })

  test('has what delegated agents used apart', () => {
    const theirs = call('2', 40).replace('"isSidechain":false', '"isSidechain":true')
    const { spent, delegated, calls } = total(transcript(call('1', 1), theirs))
    expect([spent['m']?.output, delegated['m']?.output, calls]).toEqual([1, 40, 1])
  })

  test('has what is kept an hour in the cache apart', () => {
    const usage = {
      input_tokens: 1,
      cache_creation_input_tokens: 200,
      cache_read_input_tokens: 0,
      output_tokens: 1,
      cache_creation: { ephemeral_1h_input_tokens: 150, ephemeral_5m_input_tokens: 50 },
    }
    expect(total(transcript(call('1', 0, { usage }))).spent['m']).toMatchObject({
      cacheWritten: 50,
      cacheWrittenHour: 150,
    })
  })

  test('leaves out what failed and what the client made up', () => {
    const usage = {
      input_tokens: 0,
      output_tokens: 0,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    }
    const path = transcript(
      call('1', 1),
      answered('API Error', { isApiErrorMessage: true }),
      call('2', 0, { usage }),
    )
    expect(total(path).calls).toBe(1)
  })

  test('tells compactions, what they were at, when it began and ended, which client wrote it, and what that says it cost', () => {
    const cost = (dollars: number) =>
      JSON.stringify({ type: 'cost-state', totalCostUSD: dollars, hasUnknownModelCost: false })
    const path = transcript(
      said('a', { timestamp: '2026-01-01T00:00:00.000Z' }),
      compacted({ trigger: 'auto', preTokens: 167_100 }),
      cost(0.5),
      compacted({ trigger: 'manual', preTokens: 1000 }),
      said('b', { timestamp: '2026-03-01T00:00:00.000Z' }),
      cost(0.75),
    )
    expect(total(path)).toMatchObject({
      compactions: 2,
      lastAutomatic: { tokens: 167_100 },
      startedAt: '2026-01-01T00:00:00.000Z',
      lastAt: '2026-03-01T00:00:00.000Z',
      version: '2.1.325',
      cost: { dollars: 0.75, at: '2026-03-01T00:00:00.000Z', isWhole: true },
    })
  })

  test('is what the client of a real transcript reckons itself, but for what it asked behind the scenes', () => {
    const { spent, cost, compactions } = total(transcript(recorded('claude-2.1.325.jsonl')))
    // 6,100 and 240 in all; 5,000 and 20 of them for the summary, 100 and 20 in the transcript of a delegated agent.
    expect(spent['claude-opus-5-5']).toMatchObject({ input: 1000, output: 200 })
    expect(cost?.dollars).toBe(0.0292)
    expect(compactions).toBe(1)
  })

  test('is the same however often it was summed up on the way, and wherever the transcript was cut', () => {
    const all = recorded('claude-2.1.325.jsonl')
    const whole = total(transcript(all))
    fc.assert(
      fc.property(fc.array(fc.nat({ max: all.length }), { maxLength: 6 }), (cuts) => {
        const path = transcript()
        let kept: CachedTotals | undefined
        let from = 0
        for (const to of [...cuts.toSorted((a, b) => a - b), all.length]) {
          appendFileSync(path, all.subarray(from, to))
          from = to
          kept = JSON.parse(JSON.stringify(readTranscriptTotals(path, kept))) as CachedTotals
        }
        expect(totalsWithOpenCalls(kept!)).toEqual(whole)
      }),
      { numRuns: 40 },
    )
  })

  test('reads on from where it was, and says how far it is', () => {
    const path = transcript(recorded('claude-2.1.325.jsonl'))
    const said: [number, number][] = []
    const kept = readTranscriptTotals(path, undefined, (done, size) => said.push([done, size]))
    expect(said).toEqual([[kept!.place.offset, kept!.place.offset]])
    readTranscriptTotals(path, kept, () => said.push([0, 0]))
    expect(said).toHaveLength(1)
  })

  test('begins anew when the transcript is another one', () => {
    const path = transcript(call('1', 1), call('2', 2))
    const kept = readTranscriptTotals(path, undefined)
    const other = transcript(call('7', 700), call('8', 800), call('9', 900))
    renameSync(other, path)
    expect(total(path, kept)).toMatchObject({ calls: 3, spent: { m: { output: 2400 } } })
    // The same file with other bytes, as after an editor saved it in place.
    const changed = readTranscriptTotals(path, undefined)
    writeFileSync(path, `${call('7', 700)}\n${call('8', 805)}\n${call('9', 900)}\n`)
    expect(total(path, changed)?.spent['m']?.output).toBe(2405)
  })

  test('is unknown when there is no transcript', () => {
    expect(readTranscriptTotals(join(scratchFolder(), 'none'), undefined)).toBeUndefined()
  })
})
