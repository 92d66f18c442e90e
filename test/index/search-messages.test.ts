import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Message } from '../../src/history/items.ts'
import { conversationStore } from '../../src/history/store.ts'
import type { SessionIndex } from '../../src/index/open-index.ts'
import { loadSqlite } from '../../src/index/sqlite.ts'
import { plainProject } from '../support/project.ts'
import { world } from './world.ts'

const EVER = 60_000

let count = 0
function message(text: string, more: Partial<Message> = {}): Message {
  count += 1
  return {
    type: 'message',
    id: `m${count}`,
    role: 'user',
    at: '2026-03-01T10:00:00.000Z',
    parts: [{ type: 'text', text }],
    ...more,
  }
}

function messageWorld() {
  const w = world()
  const store = conversationStore(w.folder, {})
  const path = (id: string) => join(w.folder, 'conversations', `${id}.jsonl`)
  return { w, store, path }
}

function found(index: SessionIndex, text: string): readonly string[] {
  index.syncMessages(EVER)
  return [...index.searchMessages({ text })].map(
    ({ conversation, item }) => `${conversation}#${item}`,
  )
}

describe('searching stored messages', () => {
  test('finds a message with its conversation, role, time and session', async () => {
    const { w, store } = messageWorld()
    const session = w.startSession('fix-sweep')
    w.add(session, 'conversation.joined', {
      conversation: 'c1',
      harness: 'claude',
      source: 'startup',
    })
    store.append('c1', [
      { type: 'began', conversation: 'c1', harness: 'claude', at: '2026-03-01T09:00:00.000Z' },
      message('why does the giraffe not eat?', { at: '2026-03-01T09:00:01.000Z' }),
      message('because it is full', { role: 'assistant' }),
    ])
    store.append('c2', [message('another giraffe, of nobody')])
    const index = await w.open()
    index.syncMessages(EVER)
    const hits = [...index.searchMessages({ text: 'giraffe' })]
    expect(hits).toHaveLength(2)
    const { score: _score, ...first } = hits.find(({ conversation }) => conversation === 'c1')!
    expect(first).toEqual({
      where: 'said',
      project: w.project,
      conversation: 'c1',
      harness: 'claude',
      item: 1,
      role: 'user',
      at: '2026-03-01T09:00:01.000Z',
      session,
      name: 'fix-sweep',
      snippet: 'why does the «giraffe» not eat?',
    })
    expect(hits.find(({ conversation }) => conversation === 'c2')).not.toHaveProperty('session')
    expect([...index.searchMessages({ text: 'giraffe', session })]).toHaveLength(1)
    expect([
      ...index.searchMessages({ text: 'giraffe', until: '2026-03-01T09:30:00.000Z' }),
    ]).toHaveLength(1)
    expect([...index.searchMessages({ text: 'giraffe', kind: ['note.added'] })]).toEqual([])
  })

  test('finds commands and both ends of tool output, not its middle or harness text', async () => {
    const { w, store } = messageWorld()
    const output = `beginning ${'x '.repeat(20_000)} middle ${'y '.repeat(20_000)} ending`
    store.append('c1', [
      message('', {
        role: 'assistant',
        parts: [
          {
            type: 'tool use',
            id: 't1',
            name: 'Bash',
            input: { command: 'make zebra', more: [{ deep: 'okapi' }] },
          },
        ],
      }),
      message('', {
        parts: [
          {
            type: 'tool result',
            use: 't1',
            parts: [{ type: 'text', text: output }],
            isError: false,
          },
        ],
      }),
      message('put there by the hippo', { isMeta: true }),
    ])
    const index = await w.open()
    for (const word of ['zebra', 'okapi', 'beginning', 'ending'])
      expect(found(index, word), word).toHaveLength(1)
    for (const word of ['middle', 'hippo']) expect(found(index, word), word).toEqual([])
  })

  test('continues where the last sync ended, and finds a message stored twice once', async () => {
    const { w, store } = messageWorld()
    const [first, second] = [message('one lion'), message('two lions and a lion')]
    store.append('c1', [first])
    const index = await w.open()
    expect(found(index, 'lion')).toEqual(['c1#0'])
    store.append('c1', [first, second])
    expect([...found(index, 'lion')].sort()).toEqual(['c1#0', 'c1#1'])
  })

  test('follows a conversation that was rewritten or removed', async () => {
    const { w, store, path } = messageWorld()
    store.append('c1', [message('a tiger'), message('a leopard')])
    const index = await w.open()
    expect(found(index, 'tiger')).toHaveLength(1)
    const text = readFileSync(path('c1'), 'utf8').replace('a tiger', 'a [redacted:token] here')
    rmSync(path('c1'))
    writeFileSync(path('c1'), text)
    expect([found(index, 'tiger'), found(index, 'leopard'), found(index, 'redacted')]).toEqual([
      [],
      ['c1#1'],
      ['c1#0'],
    ])
    rmSync(path('c1'))
    expect(found(index, 'leopard')).toEqual([])
  })

  test('returns the same results when a large history is indexed in pieces', async () => {
    const { w, store } = messageWorld()
    for (let n = 0; n < 4; n += 1)
      store.append(
        `c${n}`,
        Array.from({ length: 120 }, (_, k) => message(`elephant number ${n}-${k}`)),
      )
    const index = await w.open()
    let pieces = 0
    for (let left = Infinity; left > 0; pieces += 1) {
      const { bytesLeft } = index.syncMessages(0.001)
      expect(bytesLeft).toBeLessThanOrEqual(left)
      left = pieces > 100 ? 0 : bytesLeft
      index.syncMessages(1)
    }
    expect(pieces).toBeLessThan(100)
    expect([...index.searchMessages({ text: 'elephant' })]).toHaveLength(480)
    index.close()
    rmSync(join(w.folder, 'index.db'))
    const again = await w.open()
    again.syncMessages(EVER)
    expect([...again.searchMessages({ text: 'elephant' })]).toHaveLength(480)
    expect([...again.searchMessages({ text: '"number 2-77"' })]).toMatchObject([
      { conversation: 'c2', item: 77 },
    ])
  })

  test('returns a bounded snippet, however long a word is', async () => {
    const { w, store } = messageWorld()
    store.append('c1', [message(`a ${'giraffe'.repeat(2_000)} and ${'-'.repeat(9_000)} a lion`)])
    const index = await w.open()
    index.syncMessages(EVER)
    for (const marks of [
      ['«', '»'],
      ['\u0001', '\u0002'],
    ] as const) {
      for (const text of ['giraffe*', 'lion']) {
        const [hit] = [...index.searchMessages({ text, marks })]
        expect(hit!.snippet.length).toBeLessThan(1_000)
        expect(hit!.snippet).toContain(marks[0] + text.replace('*', ''))
        expect(hit!.snippet.split(marks[0])).toHaveLength(2)
        expect(hit!.snippet.split(marks[1])).toHaveLength(2)
      }
    }
  })

  test('indexes the most recently written conversation first', async () => {
    const { w, store, path } = messageWorld()
    for (const [id, time] of Object.entries({ c1: 2_000, c2: 1_000, c3: 3_000 })) {
      store.append(id, [message('an elephant')])
      utimesSync(path(id), time, time)
    }
    const index = await w.open()
    index.syncMessages(EVER)
    const database = new (loadSqlite().DatabaseSync)(join(w.folder, 'index.db'))
    const read = database.prepare('SELECT id FROM conversations ORDER BY key').all() as {
      id: string
    }[]
    database.close()
    expect(read.map(({ id }) => id)).toEqual(['c3', 'c1', 'c2'])
  })

  test('reports the remaining bytes when the time budget is spent', async () => {
    const { w, store, path } = messageWorld()
    store.append('c1', [message('an elephant')])
    const index = await w.open()
    expect(index.syncMessages(0)).toEqual({ bytesLeft: statSync(path('c1')).size })
    expect(index.syncMessages(EVER)).toEqual({ bytesLeft: 0 })
  })

  test('does not delay lists', async () => {
    const { w, store } = messageWorld()
    w.startSession('a-session')
    store.append('c1', [message('a rhino')])
    const index = await w.open()
    expect([...index.sessions()]).toHaveLength(1)
    const database = new (loadSqlite().DatabaseSync)(join(w.folder, 'index.db'))
    expect(database.prepare('SELECT count(*) AS n FROM conversations').get()).toEqual({ n: 0 })
    database.close()
  })
})

test('a project search returns entries and messages alternately, or one kind', async () => {
  const it = plainProject()
  await it.run((project) => project.init({ name: 'first', goal: 'feed the giraffe' }))
  const store = conversationStore(join(it.root, '.sessions'), {})
  store.append(
    'c1',
    Array.from({ length: 5 }, (_, n) => message(`giraffe ${n}`)),
  )
  const where = async (more: object) => {
    const hits: string[] = []
    await it.run(async (project) => {
      for await (const hit of project.search({ text: 'giraffe', ...more })) hits.push(hit.where)
    })
    return hits
  }
  expect(await where({})).toEqual(['journal', 'said', 'said', 'said', 'said', 'said'])
  expect(await where({ limit: 2, offset: 1 })).toEqual(['said', 'said'])
  expect(await where({ in: 'journal' })).toEqual(['journal'])
  expect(await where({ in: 'said', limit: 3 })).toEqual(['said', 'said', 'said'])
  expect(await where({ kind: ['session.opened'] })).toEqual(['journal'])
})

test('a search reports how much of the history is not indexed yet', async () => {
  const it = plainProject()
  conversationStore(join(it.root, '.sessions'), {}).append('c1', [message('a giraffe')])
  const bytes = statSync(join(it.root, '.sessions', 'conversations', 'c1.jsonl')).size
  const asked = async (readingMs: number) => {
    const progress: number[] = []
    await it.run(async (project) => {
      for await (const hit of project.search({
        text: 'giraffe',
        readingMs,
        tellUnread: (left) => progress.push(left),
      }))
        progress.push(hit.where.length)
    })
    return progress
  }
  expect(await asked(0)).toEqual([bytes])
  expect(await asked(EVER)).toEqual(['said'.length])
})
