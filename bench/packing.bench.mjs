// What the packer puts into 2,000 tokens of a long session, against the newest entries that fit. The
// sessions are generated together with the facts that the next conversation needs; the packer sees
// only the folded state.
import { pathToFileURL } from 'node:url'
import { bundleSources } from './bundle.mjs'
import { generateSession } from './packing-sessions.mjs'

export const columns = { ours: 'packed', bare: 'newest first' }

const SOURCES = {
  'src/context/injected-context.ts': ['packContext'],
  'src/journal/ids.ts': ['mintId'],
  'src/session/effective-entries.ts': ['effectiveEntries'],
  'src/session/fold.ts': ['abridge', 'fold'],
  'src/text/tokens.ts': ['estimateLine', 'estimateTokens'],
}
const SESSIONS = 40
const TOKENS = 2000
const MOST_MISSES = 0.5
const LEAST_STANDING = 0.95
/** A fact that was cut to less than this share of its words counts as missing. */
const SHARE_OF_WORDS = 0.75

export async function run({ scale = 1, say = () => {} } = {}) {
  const bundle = await bundleSources(SOURCES)
  try {
    const stint = await import(pathToFileURL(bundle.file).href)
    const sessions = Math.max(4, Math.round(SESSIONS * scale))
    const scores = Array.from({ length: sessions }, (_, seed) => scoreSession(stint, seed))
    say(`packing: ${byKind(scores)}`)
    return rowsOf(scores)
  } finally {
    bundle.remove()
  }
}

function rowsOf(scores) {
  const sum = (count) => scores.reduce((total, score) => total + count(score), 0)
  const total = (facts) => sum((score) => score[facts].length)
  const present = (facts, how) => sum((score) => score[facts].filter((fact) => fact[how]).length)
  const most = Math.max(...scores.map(({ tokens }) => tokens))
  const ways = [
    ['packed', 'of the journal'],
    ['abridged', 'of its snapshot, which hooks read'],
  ]
  const misses = ([how, name]) => {
    const [ours, bare] = [how, 'newest'].map((each) => total('needed') - present('needed', each))
    return {
      name: `${name}: facts missing, of ${total('needed')} that ${scores.length} next conversations need`,
      ours,
      bare,
      unit: 'facts',
      ratio: ours / bare,
      limit: `at most ${MOST_MISSES}`,
      ok: ours / bare <= MOST_MISSES,
    }
  }
  const shares =
    (facts, what, least) =>
    ([how, name]) => {
      const [ours, bare] = [how, 'newest'].map((each) => present(facts, each) / total(facts))
      return {
        name: `${name}: ${what} present, of ${total(facts)}`,
        ours: 100 * ours,
        bare: 100 * bare,
        unit: '%',
        ratio: ours,
        limit: least === undefined ? '' : `at least ${least}`,
        ok: least === undefined || ours >= least,
      }
    }
  return [
    ...ways.map(misses),
    ...ways.map(
      shares(
        'standing',
        'open steps and blockers, pinned lines and valid decisions',
        LEAST_STANDING,
      ),
    ),
    ...ways.map(shares('holding', 'all facts that still hold')),
    {
      name: 'tokens of the longest text (estimated), against the most',
      ours: most,
      bare: TOKENS,
      unit: 'tokens',
      ratio: most / TOKENS,
      limit: 'at most 1',
      ok: most <= TOKENS,
    },
  ]
}

const STANDING_KINDS = new Set([
  'step.added',
  'next.added',
  'blocker.raised',
  'key.added',
  'decision.made',
])

function scoreSession(stint, seed) {
  const { entries, continuation, open } = generateSession(seed)
  const { records, ids } = recordsOf(stint, entries)
  const effective = stint.effectiveEntries(records)
  const byId = new Map(effective.map((record) => [record.id, record]))
  const state = stint.fold('session', records)
  const options = { conversation: 'next' }
  const { text } = stint.packContext(state, options)
  const texts = {
    packed: linesOf(text),
    abridged: linesOf(stint.packContext(stint.abridge(state), options).text),
    newest: linesOf(newestFirst(stint, effective)),
  }
  const inTexts = (refs) =>
    Object.fromEntries(
      Object.entries(texts).map(([which, lines]) => [
        which,
        refs.some((ref) => isIn(lines, byId.get(ids.get(ref)))),
      ]),
    )
  const present = (ref, same = []) => ({
    kind: byId.get(ids.get(ref))?.kind,
    ...inTexts([ref, ...same]),
  })
  const holding = open.map((ref) => present(ref))
  return {
    needed: continuation.uses.map((ref) => present(ref, continuation.same[ref])),
    standing: holding.filter(({ kind }) => STANDING_KINDS.has(kind)),
    holding,
    tokens: stint.estimateTokens(text),
  }
}

/** Drafts as records of a journal, with ids in place of references. */
function recordsOf({ mintId }, drafts) {
  const ids = new Map()
  let last
  const records = drafts.map(({ ref, data, ...draft }) => {
    last = mintId(last, Date.parse(draft.at))
    ids.set(ref, last)
    return { ...draft, id: last, data: withIds(data, ids) }
  })
  return { records, ids }
}

function withIds(data, ids) {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, ids.get(value?.$ref) ?? value]),
  )
}

/** The lines of the entries themselves, newest first, while they fit. */
function newestFirst({ estimateLine }, effective) {
  const lines = []
  let tokens = 0
  for (const record of effective.toReversed()) {
    const fact = factOf(record)
    if (fact === '') continue
    const line = `- ${record.kind}: ${fact.replaceAll('\n', ' ')}`
    tokens += estimateLine(line)
    if (tokens > TOKENS) break
    lines.push(line)
  }
  return lines.join('\n')
}

function factOf({ data }) {
  const { title, text, said, summary, result, command, path, description, subject } = data
  const outcome = data.passed === false ? 'FAILED' : ''
  return (
    title ??
    text ??
    said ??
    [outcome, command, path, description, result, subject, summary]
      .filter((part) => part !== undefined && part !== '')
      .join(' ')
  )
}

function linesOf(text) {
  return text.split('\n').map((line) => new Set(wordsOf(line)))
}

/** One line has nearly all words of the fact. */
function isIn(lines, record) {
  if (record === undefined) return false
  const words = [...new Set(wordsOf(factOf(record)))]
  const enough = SHARE_OF_WORDS * words.length
  return lines.some((line) => words.filter((word) => line.has(word)).length >= enough)
}

function wordsOf(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

function byKind(scores) {
  const kinds = new Map()
  for (const { kind, packed } of scores.flatMap(({ needed }) => needed)) {
    const { needed = 0, missing = 0 } = kinds.get(kind) ?? {}
    kinds.set(kind, { needed: needed + 1, missing: missing + Number(!packed) })
  }
  return [...kinds]
    .toSorted(([, a], [, b]) => b.missing - a.missing)
    .map(([kind, { needed, missing }]) => `${kind} ${missing} of ${needed} missing`)
    .join(', ')
}
