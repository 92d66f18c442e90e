import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LedgerReport, Problem } from '../../src/serve/contract.ts'
import { LedgerCache } from '../../src/page-data/ledger-cache.ts'
import { ProjectPool } from '../../src/page-data/project-pool.ts'
import { draftEntry } from '../../src/session/entries.ts'
import { Served } from './served.ts'

let served: Served
beforeAll(async () => {
  served = await Served.start()
  await served.world.run((project) => project.init({ name: 'costly' }))
})
afterAll(() => served.end())

test('the ledger of a project or session is served, and invalid queries are refused', async () => {
  const { whole, rows } = await served.get<LedgerReport>('/api/ledger?days=7')
  expect([whole.kind, whole.costs.modelCalls]).toEqual(['project', 0])
  expect(rows.map(({ name }) => name)).toEqual(['costly'])
  const own = await served.get<LedgerReport>('/api/ledger?session=costly')
  expect(own.whole).toMatchObject({ kind: 'session', id: served.world.sessionId('costly') })
  const wrong = await Promise.all(
    ['?days=none', '?session=nobody'].map((query) => served.request(`/api/ledger${query}`)),
  )
  expect(wrong.map((answer) => [answer.status, answer.json<Problem>().code])).toEqual([
    [400, 'NOT_A_NUMBER'],
    [404, 'NO_SESSION'],
  ])
})

test('a ledger is cached until something changes, and recounted while unwatched', async () => {
  const projects = new ProjectPool({ cwd: served.world.root, env: process.env, say: () => {} })
  const project = projects.get(undefined)
  let stamp: number | undefined = 1
  const ledgers = new LedgerCache(() => stamp)
  const first = ledgers.get(project, { days: 7 })
  expect(ledgers.get(project, { days: 7 })).toBe(first)
  expect(ledgers.get(project, { days: 30 })).not.toBe(first)
  // The next day.
  expect(ledgers.get(project, { days: 7 }, Date.now() + 24 * 60 * 60_000)).not.toBe(first)
  stamp = 2
  const second = ledgers.get(project, { days: 7 })
  expect(second).not.toBe(first)
  stamp = undefined
  const third = ledgers.get(project, { days: 7 })
  expect([first, second]).not.toContain(third)
  expect(ledgers.get(project, { days: 7 })).not.toBe(third)
  await Promise.all([first, second, third])
  projects.close()
})

test('a failed count is retried', async () => {
  const projects = new ProjectPool({ cwd: served.world.root, env: process.env, say: () => {} })
  const project = projects.get(undefined)
  const ledgers = new LedgerCache(() => 1)
  const gone = ledgers.get(project, { session: 'gone' })
  await expect(gone).rejects.toThrow()
  const again = ledgers.get(project, { session: 'gone' })
  expect(again).not.toBe(gone)
  await expect(again).rejects.toThrow()
  projects.close()
})

test('a subscribed page gets a ledger with all changes', async () => {
  const page = await (await served.subscribe()).connected()
  const before = await served.get<LedgerReport>('/api/ledger')
  const { eventHub: live } = served.server
  await live.whenIdle()
  const key = (await served.get<{ here: string }>('/api/overview')).here
  const stamp = live.versionOf(key)
  expect(stamp).toBeDefined()
  await live.whenIdle()
  live.publish(key, {
    type: 'prompt',
    prompt: 'p',
    event: { kind: 'delta', at: '', number: 1, data: { text: 'words' } },
  })
  expect(live.versionOf(key)).toBe(stamp)
  const seen = page.events.length
  await served.append('costly', [draftEntry('note.added', { text: 'one more write' })])
  await page.until((all) => all.slice(seen).some(({ type }) => type === 'session'))
  const after = await served.get<LedgerReport>('/api/ledger')
  expect(after.whole.costs.writes).toBe(before.whole.costs.writes + 1)
  // Not watched any more, so changes would go unnoticed.
  await live.close()
  expect(live.versionOf(key)).toBeUndefined()
})
