import { rmSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SessionIndex } from '../../src/index/open-index.ts'
import type { EntryData, EntryKind } from '../../src/session/entries.ts'
import { type World, dump, temporaryFolder, world } from './world.ts'
import { cases } from '../support/cases.ts'

const WORDS = ['alpha', 'beta', 'gamma', '登录', 'naïve', '"quoted"', '\ud800', 'x\0y']
// Long enough that one such entry makes a log that is continued instead of read again.
const PADDING = 'padding'.repeat(10_000)

/** One change; the numbers choose among what exists at that time. */
const happening = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant('begin' as const), word: fc.constantFrom(...WORDS) }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      does: fc.constant('add' as const),
      session: fc.nat(),
      target: fc.nat(),
      what: fc.nat(),
      text: fc.array(fc.constantFrom(...WORDS), { maxLength: 4 }).map((words) => words.join(' ')),
      isLong: fc.nat({ max: 3 }).map((n) => n === 0),
      once: fc.option(fc.constantFrom('one', 'two'), { freq: 3, nil: undefined }),
      isLate: fc.nat({ max: 9 }).map((n) => n === 0),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('tear' as const), session: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('remove' as const), session: fc.nat() }) },
  { weight: 5, arbitrary: fc.record({ does: fc.constant('sync' as const), full: fc.boolean() }) },
)
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never
type Addition = Extract<Happening, { does: 'add' }>

function entryOf(
  { what, text, isLong }: Addition,
  target: string,
): [EntryKind, EntryData[EntryKind]] {
  const long = isLong ? `${text} ${PADDING}` : text
  const choices: [EntryKind, EntryData[EntryKind]][] = [
    ['note.added', { text: long }],
    ['discovery.made', { text: long }],
    ['step.added', { text: long }],
    ['step.done', { step: target }],
    ['decision.made', { title: text, rationale: long }],
    ['gotcha.found', { text, after: target }],
    ['blocker.raised', { text }],
    ['blocker.resolved', { blocker: target, resolution: text }],
    ['key.added', { text, from: target }],
    ['goal.set', { text }],
    ['tldr.written', { text }],
    ['session.renamed', { name: text }],
    ['session.closed', { how: 'completed' }],
    ['session.reopened', {}],
    ['context.compacted', {}],
    ['git.observed', { git: { branch: text } }],
    ['item.moved', { entry: target, after: 'start' }],
    ['entry.retracted', { entry: target, reason: text }],
    ['entry.retracted', { entry: target }],
    ['entry.amended', { entry: target, changes: { text: `${text} amended` } }],
    ['task.added', { task: text, title: text }],
    ['task.linked', { task: text }],
    ['task.unlinked', { task: text }],
  ]
  return choices[what % choices.length]!
}

function play(w: World, index: SessionIndex, happenings: readonly Happening[]): void {
  const sessions: string[] = []
  const entries: string[] = []
  const at = <T>(list: readonly T[], n: number) => list[n % list.length]!
  for (const it of happenings) {
    if (it.does === 'begin') sessions.push(w.startSession(it.word))
    if (it.does === 'sync') index.sync({ full: it.full })
    if (sessions.length === 0) continue
    if (it.does === 'tear') w.scribble(at(sessions, it.session), '\n{"v":1,"id":"half a rec')
    if (it.does === 'remove') {
      const [gone] = sessions.splice(it.session % sessions.length, 1)
      rmSync(join(w.folder, 'journal', gone!), { recursive: true })
    }
    if (it.does === 'add') {
      const target = entries.length === 0 ? 'nothing' : at(entries, it.target)
      const [kind, data] = entryOf(it, target)
      // An entry that another machine wrote earlier and that arrives now.
      const late =
        it.isLate && entries.length > 0
          ? { id: at(entries, it.target).replace(/......$/, lateTail(entries.length)) }
          : {}
      entries.push(
        w.add(at(sessions, it.session), kind, data, {
          ...late,
          ...(it.once === undefined ? {} : { once: it.once }),
        }),
      )
    }
  }
  index.sync()
}

const lateTail = (n: number) => n.toString(16).padStart(6, '0')

function answers(index: SessionIndex): unknown {
  return {
    counts: index.counts(),
    lists: (['updated', 'created', 'name'] as const).map((sort) => [...index.sessions({ sort })]),
    searches: ['alpha', 'beta gamma', '"alpha beta"', 'ga*', '登', 'amended', 'pad*'].map(
      (text) => [...index.search({ text })],
    ),
    tasks: [...index.taskEntries()],
  }
}

test('a deleted and rebuilt index returns the same results', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { minLength: 5, maxLength: 60 }), async (happenings) => {
      const w = world(temporaryFolder())
      const index = await w.open()
      play(w, index, happenings)
      const kept = { rows: dump(w.folder), answers: answers(index) }
      index.close()
      for (const companion of ['', '-wal', '-shm'])
        rmSync(join(w.folder, `index.db${companion}`), { force: true })
      const rebuilt = await w.open()
      expect({ rows: dump(w.folder), answers: answers(rebuilt) }).toEqual(kept)
      expect(rebuilt.verify()).toMatchObject({ differing: [], damage: [] })
      expect(kept.rows['orphans']).toEqual([])
      expect(w.reported).toEqual([])
      rebuilt.close()
    }),
    { numRuns: cases(150) },
  )
})
