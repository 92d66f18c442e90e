import { describe, expect, test } from 'vitest'
import { matchExpression } from '../../src/index/queries.ts'
import { world } from './world.ts'

async function texts(...lines: string[]) {
  const w = world()
  const id = w.startSession('search-me', { goal: 'a goal about giraffes' })
  const entries = lines.map((text) => w.add(id, 'note.added', { text }))
  return { w, id, entries, index: await w.open() }
}

describe('a search', () => {
  test('returns the most relevant entry first, with the words highlighted', async () => {
    const { index, entries, id, w } = await texts(
      'the parser was mentioned in a long line about a great many other things that have nothing to do with it at all',
      'parser parser parser',
      'nothing here',
    )
    const hits = [...index.search({ text: 'parser' })]
    expect(hits.map((hit) => hit.entry)).toEqual([entries[1], entries[0]])
    expect(hits[0]).toMatchObject({
      project: w.project,
      session: id,
      name: 'search-me',
      title: 'Search Me',
      status: 'active',
      kind: 'note.added',
      at: '2026-03-01T10:00:03.000Z',
      snippet: '«parser» «parser» «parser»',
    })
    expect(hits[0]!.score).toBeGreaterThan(hits[1]!.score)
    expect(
      [...index.search({ text: 'parser', marks: ['<', '>'], limit: 1, offset: 1 })][0]?.snippet,
    ).toMatch(/^the <parser> was .*…$/)
  })

  test('finds every text field of an entry, and the title and goal of a session', async () => {
    const { index, w, id } = await texts()
    w.add(id, 'decision.made', {
      title: 'alpha',
      context: 'bravo',
      options: 'charlie',
      choice: 'delta',
      rationale: 'echo',
    })
    w.add(id, 'task.added', {
      task: 't-9',
      title: 'foxtrot',
      labels: ['golf'],
      checklist: [{ item: 'hotel', done: false }],
    })
    w.add(id, 'session.titled', { title: 'india' })
    index.sync()
    for (const word of [
      'alpha',
      'bravo',
      'charlie',
      'delta',
      'echo',
      'foxtrot',
      'golf',
      'hotel',
      'india',
      'giraffes',
      'search-me',
    ]) {
      expect([...index.search({ text: word })], word).toHaveLength(1)
    }
  })

  test('does not find ids, branches and states', async () => {
    const { index, w, id } = await texts()
    const step = w.add(id, 'step.added', { text: 'something' })
    w.add(id, 'step.done', { step })
    w.add(id, 'session.closed', { how: 'abandoned', git: { branch: 'trunk' } })
    index.sync()
    for (const text of [step, 'trunk', 'abandoned'])
      expect([...index.search({ text })], text).toEqual([])
  })

  test('is filtered by kind, session, status and time', async () => {
    const { index, w, id, entries } = await texts('needle one', 'needle two')
    const other = w.startSession('other')
    const decision = w.add(other, 'decision.made', { title: 'needle three' })
    w.add(other, 'session.closed', { how: 'completed' })
    index.sync()
    const found = (query: object) =>
      [...index.search({ text: 'needle', ...query })].map((hit) => hit.entry).sort()
    expect(found({})).toEqual([...entries, decision])
    expect(found({ kind: ['decision.made'] })).toEqual([decision])
    expect(found({ kind: ['decision.made', 'note.added'] })).toEqual([...entries, decision])
    expect(found({ session: id })).toEqual(entries)
    expect(found({ status: ['completed'] })).toEqual([decision])
    expect(found({ since: '2026-03-01T10:00:03.000Z' })).toEqual([entries[1], decision])
    expect(found({ until: '2026-03-01T10:00:02.000Z' })).toEqual([entries[0]])
    expect(found({ limit: 2 })).toHaveLength(2)
  })

  test('requires every word, matches phrases exactly and prefixes by their start', async () => {
    const { index, entries } = await texts('red green blue', 'green red', 'refactored twice')
    const found = (text: string) =>
      [...index.search({ text })].map((hit) => entries.indexOf(hit.entry)).sort()
    expect(found('red green')).toEqual([0, 1])
    expect(found('red yellow')).toEqual([])
    expect(found('"red green"')).toEqual([0])
    expect(found('"red green" blue')).toEqual([0])
    expect(found('refact')).toEqual([])
    expect(found('refact*')).toEqual([2])
    expect(found('"red gre"*')).toEqual([0])
    expect(found('GREEN')).toEqual([0, 1])
  })

  test('finds accented words without accents, and parts of text without spaces', async () => {
    const { index } = await texts('déjà vu', '修复登录错误', 'ログインを直す')
    expect([...index.search({ text: 'deja' })]).toHaveLength(1)
    expect([...index.search({ text: '登录' })].map((hit) => hit.snippet)).toEqual([
      '修复«登录»错误',
    ])
    expect([...index.search({ text: '录登' })]).toEqual([])
    expect([...index.search({ text: 'グイン' })]).toHaveLength(1)
  })

  test.each([
    '',
    ' ',
    '"',
    '""',
    '"""',
    '*',
    '**',
    '-',
    '-word',
    'NEAR(',
    'NEAR(a b)',
    'a AND',
    'OR',
    'NOT',
    'text:',
    'text:a',
    '^a',
    '{a}:',
    '(',
    ')',
    '+',
    "'",
    '\\',
    '%',
    '\0',
    'a\0b',
    '"a" *',
    '\ud800',
    '🦒',
    '🦒*',
    '"🦒',
    'a"b',
    '; DROP TABLE texts',
    'x '.repeat(5_000),
  ])('for %j is answered without an error', async (text) => {
    const { index } = await texts('a word 🦒 b')
    expect(() => [...index.search({ text })]).not.toThrow()
    expect(() => [...index.sessions({ text })]).not.toThrow()
    expect([...index.search({ text: 'word' })]).toHaveLength(1)
  })

  test('treats operator names as words', async () => {
    const { index } = await texts('this and that', 'near the end')
    expect([...index.search({ text: 'AND' })]).toHaveLength(1)
    expect([...index.search({ text: 'NEAR(' })]).toHaveLength(1)
    expect([...index.search({ text: '-that' })]).toHaveLength(1)
    expect(matchExpression('a "b c" d* -e')).toBe('"a" "b c" "d" * "-e"')
    expect(matchExpression('🦒 - "*')).toBeUndefined()
  })
})
