import { describe, expect, test } from 'vitest'
import { names, world } from './world.ts'

async function threeSessions() {
  const w = world()
  const login = w.startSession('fix-login', {
    goal: 'make the login work',
    git: { branch: 'main' },
    worktree: '/elsewhere',
  })
  w.add(login, 'step.added', { text: 'reproduce' })
  const step = w.add(login, 'step.added', { text: 'repair' })
  w.add(login, 'step.done', { step })
  w.add(login, 'decision.made', { title: 'use cookies' })
  w.add(login, 'discovery.made', { text: 'tokens expire' })
  w.add(login, 'gotcha.found', { text: 'clock skew' })
  w.add(login, 'blocker.raised', { text: 'no access' })
  w.add(login, 'task.linked', { task: 't-1' })
  w.add(login, 'context.compacted', {})
  w.add(login, 'tldr.written', { text: 'nearly there' })
  w.wait(60)
  const cache = w.startSession('add-cache', { title: 'A cache', git: { branch: 'cache' } })
  w.add(cache, 'task.linked', { task: 't-1' })
  w.add(cache, 'task.linked', { task: 't-2' })
  w.add(cache, 'session.paused', {})
  w.wait(60)
  const docs = w.startSession('Write-Docs', { git: { branch: 'main' } })
  w.add(docs, 'session.closed', { how: 'completed' })
  return { w, login, cache, docs, index: await w.open() }
}

describe('a list of sessions', () => {
  test('holds the facts of a session from its journal', async () => {
    const { index, login } = await threeSessions()
    expect(index.findByNameOrId(login)[0]).toEqual({
      id: login,
      name: 'fix-login',
      title: 'Fix Login',
      status: 'active',
      branch: 'main',
      worktree: '/elsewhere',
      goal: 'make the login work',
      tldr: 'nearly there',
      createdAt: '2026-03-01T10:00:01.000Z',
      updatedAt: '2026-03-01T10:00:11.000Z',
      compactions: 1,
      counts: {
        entries: 11,
        steps: 2,
        stepsDone: 1,
        decisions: 1,
        discoveries: 2,
        openBlockers: 1,
      },
      tasks: ['t-1'],
    })
  })

  test('is sorted by update, creation or name, and is paged', async () => {
    const { index, w, login } = await threeSessions()
    w.wait(60)
    w.add(login, 'note.added', { text: 'again' })
    index.sync()
    expect(names(index.sessions())).toEqual(['fix-login', 'Write-Docs', 'add-cache'])
    expect(names(index.sessions({ sort: 'created' }))).toEqual([
      'Write-Docs',
      'add-cache',
      'fix-login',
    ])
    expect(names(index.sessions({ sort: 'name' }))).toEqual([
      'Write-Docs',
      'add-cache',
      'fix-login',
    ])
    expect(names(index.sessions({ limit: 1, offset: 1 }))).toEqual(['Write-Docs'])
    expect(names(index.sessions({ limit: 0 }))).toEqual([])
    expect(names(index.sessions({ offset: 7 }))).toEqual([])
  })

  test.each([
    ['status', { status: ['paused'] as const }, ['add-cache']],
    ['several statuses', { status: ['active', 'completed'] as const }, ['Write-Docs', 'fix-login']],
    ['no status at all', { status: [] }, []],
    ['branch', { branch: 'main' }, ['Write-Docs', 'fix-login']],
    ['task', { task: 't-1' }, ['add-cache', 'fix-login']],
    ['part of the name in any case', { name: 'docs' }, ['Write-Docs']],
    ['a name that is a pattern elsewhere', { name: '%' }, []],
    ['words of an entry', { text: 'clock skew' }, ['fix-login']],
    ['no words', { text: ' ' }, ['Write-Docs', 'add-cache', 'fix-login']],
    ['text without a word', { text: '"*' }, []],
    ['alive since', { since: '2026-03-01T11:30:00.000Z' }, ['Write-Docs']],
    ['alive until', { until: '2026-03-01T10:30:00.000Z' }, ['fix-login']],
    [
      'several at once',
      { branch: 'main', status: ['active'] as const, text: 'cookies' },
      ['fix-login'],
    ],
  ])('is filtered by %s', async (_, filter, expected) => {
    const { index } = await threeSessions()
    expect(names(index.sessions(filter))).toEqual(expected)
  })

  test('of open sessions holds active and paused ones', async () => {
    const { index } = await threeSessions()
    expect(names(index.openSessions())).toEqual(['add-cache', 'fix-login'])
  })

  test('may be read while another list is read', async () => {
    const { index } = await threeSessions()
    const pairs = [...index.sessions()].flatMap((outer) =>
      [...index.sessions()].map((inner) => outer.name + inner.name),
    )
    const first = index.sessions()
    expect(first.next().value?.name).toBe('Write-Docs')
    expect(names(index.sessions())).toHaveLength(3)
    expect(first.next().value?.name).toBe('add-cache')
    expect(pairs).toHaveLength(9)
  })

  test('leaves out a log without a record until it has one', async () => {
    const w = world()
    const id = w.startSession('real')
    const empty = id.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    w.scribble(empty, 'not a record\n')
    const index = await w.open()
    expect(names(index.sessions())).toEqual(['real'])
    expect(index.counts()).toEqual({ sessions: 1, entries: 1 })
    w.add(empty, 'session.opened', { name: 'late' })
    index.sync()
    expect(names(index.sessions())).toEqual(['late', 'real'])
  })
})

describe('a session is found', () => {
  test('by name, id, or start, end or middle of its id, exact matches first', async () => {
    const { index, login, cache, w } = await threeSessions()
    expect(names(index.findByNameOrId('fix-login'))).toEqual(['fix-login'])
    expect(names(index.findByNameOrId('fix'))).toEqual([])
    expect(names(index.findByNameOrId(login))).toEqual(['fix-login'])
    expect(names(index.findByNameOrId(login.toUpperCase()))).toEqual(['fix-login'])
    expect(names(index.findByNameOrId(login.slice(0, 18)))).toEqual(['fix-login'])
    expect(names(index.findByNameOrId(login.slice(-8)))).toEqual(['fix-login'])
    expect(names(index.findByNameOrId(login.slice(20, 30)))).toEqual(['fix-login'])
    expect(names(index.findByNameOrId(''))).toEqual([])
    const other = w.startSession(cache.slice(-6))
    index.sync()
    expect(index.findByNameOrId(cache.slice(-6)).map((row) => row.id)).toEqual([other, cache])
  })

  test('not at all when there is none', async () => {
    const { index } = await threeSessions()
    expect(index.findByNameOrId('nobody')[0]).toBeUndefined()
    expect(index.findByNameOrId('nobody')).toEqual([])
  })
})

describe('the number of sessions', () => {
  test('matches the list with the same filter, whichever page is requested', async () => {
    const { index } = await threeSessions()
    for (const filter of [
      {},
      { status: ['active', 'paused'] },
      { branch: 'main' },
      { name: 'DOCS' },
      { text: 'login' },
    ] as const) {
      expect(index.countSessions({ ...filter, limit: 1, offset: 1 })).toBe(
        [...index.sessions(filter)].length,
      )
    }
  })

  test('is counted again after this process or another wrote', async () => {
    const { w, index } = await threeSessions()
    expect(index.countSessions()).toBe(3)
    w.startSession('one-more')
    index.sync()
    expect(index.countSessions()).toBe(4)
    const other = await w.open()
    w.startSession('and-another')
    other.sync()
    expect(index.countSessions()).toBe(5)
  })
})

describe('a retracted entry', () => {
  test('is reported by its id, unless the retraction was retracted', async () => {
    const w = world()
    const id = w.startSession('undecided')
    const first = w.add(id, 'note.added', { text: 'one' })
    const second = w.add(id, 'note.added', { text: 'two' })
    w.add(id, 'entry.retracted', { entry: first })
    const mistaken = w.add(id, 'entry.retracted', { entry: second })
    w.add(id, 'entry.retracted', { entry: mistaken })
    const index = await w.open()
    expect(index.retractedEntries(id)).toEqual(new Set([first, mistaken]))
    expect([index.entryText(id, second), index.entryText(id, first)]).toEqual(['two', undefined])
    expect(index.session(id)?.name).toBe('undecided')
    expect(index.session('nobody')).toBeUndefined()
  })
})
