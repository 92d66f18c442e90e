import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { conversationStore } from '../../src/history/store.ts'
import { draftEntry } from '../../src/session/entries.ts'
import type {
  PublicEntry,
  EntryList,
  LiveEvent,
  ServerOverview,
  SessionPage,
} from '../../src/serve/contract.ts'
import { DelegateWorld } from '../delegate/delegate-world.ts'
import { gitProject } from '../support/project.ts'
import { type EventStream, Served } from './served.ts'

let served: Served
beforeAll(async () => {
  served = await Served.start({ limits: { pendingBytes: 64 * 1024 } })
  await served.world.run((project) => project.init({ name: 'lively' }))
})
afterAll(() => served.end())

type Entries = Extract<LiveEvent, { type: 'entries' }>
const entriesIn = (events: readonly LiveEvent[]) =>
  events.filter((event): event is Entries => event.type === 'entries')
const note = (text: string) => draftEntry('note.added', { text })

/** What a page shows of a session when it follows the contract. */
class Shown {
  readonly ids: string[] = []
  cursor = 0

  constructor(readonly id: string) {}

  async open(): Promise<this> {
    this.cursor = (await served.get<SessionPage>(`/api/sessions/${this.id}`)).cursor
    return this
  }

  async take(event: LiveEvent): Promise<void> {
    if (event.type === 'reset') return this.request()
    if (event.type !== 'entries' || event.session !== this.id) return
    if (event.from === this.cursor) this.add(event.entries, event.cursor)
    else if (event.cursor > this.cursor) await this.request()
  }

  async request(): Promise<void> {
    const { entries, cursor } = await served.get<EntryList>(
      `/api/sessions/${this.id}/entries?from=${this.cursor}&limit=500`,
    )
    this.add(entries, cursor)
  }

  add(entries: readonly PublicEntry[], cursor: number): void {
    this.ids.push(...entries.map(({ text }) => text))
    this.cursor = cursor
  }
}

async function follow(last?: string, path?: string): Promise<EventStream> {
  const following = await served.subscribe(last, path)
  return following.connected()
}

describe('a subscribed page', () => {
  test('receives new entries with their cursor, and the session row', async () => {
    const page = await follow()
    const shown = await new Shown(served.world.sessionId()).open()
    await served.append('lively', [note('one'), note('two')])
    const events = await page.until(
      (all) => entriesIn(all).length > 0 && all.some(({ type }) => type === 'session'),
    )
    const [first] = entriesIn(events)
    expect(first!.from).toBe(shown.cursor)
    expect(first!.entries.map(({ text }) => text)).toEqual(['one', 'two'])
    expect(events.find((event) => event.type === 'session')).toMatchObject({
      row: { name: 'lively' },
    })
    page.leave()
  })

  test('shows every entry once and in order, however often its connection breaks', async () => {
    let page = await follow()
    const shown = await new Shown(served.world.sessionId()).open()
    const written: string[] = []
    for (let round = 0; round < 6; round += 1) {
      const seen = page.events.length
      const texts = [`${round} before`, `${round} again`]
      await served.append('lively', texts.map(note))
      written.push(...texts)
      if (round % 2 === 0) await page.until((all) => entriesIn(all.slice(seen)).length > 0)
      page.leave()
      await page.ended()
      for (const event of page.events) await shown.take(event)
      await served.append('lively', [note(`${round} while away`)])
      written.push(`${round} while away`)
      page = await follow(page.lastId)
    }
    await page.until((all) =>
      entriesIn(all).some(({ entries }) => entries.some(({ text }) => text === '5 while away')),
    )
    for (const event of page.events) await shown.take(event)
    expect(shown.ids).toEqual(written)
    expect(page.events.some(({ type }) => type === 'reset')).toBe(false)
    page.leave()
  })

  test('gets a reload event from a restarted server, and misses nothing', async () => {
    const page = await follow()
    const shown = await new Shown(served.world.sessionId()).open()
    const { port } = served.server
    await served.server.close()
    await page.ended()
    await served.append('lively', [note('while it was down')])
    await served.restart({ port, limits: { pendingBytes: 64 * 1024 } })
    const again = await follow(page.lastId)
    await again.until((all) => all.length > 0)
    expect(again.events[0]).toEqual({ type: 'reset' })
    for (const event of again.events) await shown.take(event)
    await served.append('lively', [note('and up again')])
    await again.until((all) => entriesIn(all).length > 0)
    for (const event of again.events.slice(1)) await shown.take(event)
    expect(shown.ids).toEqual(['while it was down', 'and up again'])
    again.leave()
  })

  test('requests entries that are too large to be pushed', async () => {
    const page = await follow()
    const shown = await new Shown(served.world.sessionId()).open()
    const many = Array.from({ length: 450 }, (_, number) => `many ${number}`)
    await served.append('lively', many.map(note))
    const events = await page.until((all) => entriesIn(all).length > 0)
    expect(entriesIn(events)[0]!.entries).toEqual([])
    for (const event of events) await shown.take(event)
    expect(shown.ids).toEqual(many)
    page.leave()
  })

  test('gets an event for a new session, and a reload event when a journal was rewritten', async () => {
    const page = await follow()
    await served.world.run((project) => project.init({ name: 'newcomer', force: true }))
    await page.until((all) =>
      all.some((event) => event.type === 'session' && event.row.name === 'newcomer'),
    )
    const id = served.world.sessionId('newcomer')
    await served.get(`/api/sessions/${id}`)
    const path = served.world.path('.sessions', 'journal', id, 'log.jsonl')
    const text = served.world.read('.sessions', 'journal', id, 'log.jsonl')
    // As `stint purge` does: a new file takes both names.
    writeFileSync(`${path}.new`, text)
    rmSync(served.world.path('.git', 'stint', 'journal', `${id}.jsonl`))
    renameSync(`${path}.new`, path)
    await served.server.eventHub.whenIdle()
    await page.until((all) => all.some(({ type }) => type === 'reset'))
    page.leave()
  })

  test('receives changes of tasks, handoffs, delegates, runs and conversations', async () => {
    const page = await follow()
    await served.post('/api/tasks', { title: 'Something' })
    await page.until((all) => all.some(({ type }) => type === 'tasks'))
    await served.world.run((project) =>
      project.handoffs.create({ session: 'newcomer', code: false }),
    )
    await page.until((all) => all.some(({ type }) => type === 'handoffs'))
    const delegate = new DelegateWorld(served.world).delegate('helper', { status: 'running' })
    await page.until((all) =>
      all.some((event) => event.type === 'delegate' && event.id === delegate.id),
    )
    const before = page.events.length
    delegate.move({ to: 'failed', because: 'a test' })
    await page.until((all) => all.slice(before).some(({ type }) => type === 'delegate'))
    const store = conversationStore(served.world.path('.sessions'), {})
    store.append('spoken', [
      { type: 'began', conversation: 'spoken', harness: 'claude', at: new Date().toISOString() },
    ])
    await page.until((all) =>
      all.some((event) => event.type === 'conversation' && event.total === 1),
    )
    page.leave()
  })

  test('receives changes of another project once it reads from it', async () => {
    const other = gitProject()
    await other.run((project) => project.init({ name: 'distant' }))
    const { projects } = await served.get<ServerOverview>('/api/overview')
    const { key } = projects.find(({ root }) => root === other.root)!
    const [all, own] = [await follow(), await follow(undefined, `/api/events?project=${key}`)]
    await served.get(`/api/sessions/distant?project=${key}`)
    await served.append('distant', [note('from afar')], other.root)
    const isAfar = (events: readonly LiveEvent[]) =>
      entriesIn(events).some(({ project }) => project === key)
    await all.until(isAfar)
    await own.until(isAfar)
    await served.append('newcomer', [note('from here')])
    await all.until((events) => entriesIn(events).some(({ project }) => project !== key))
    expect(own.events.every((event) => !('project' in event) || event.project === key)).toBe(true)
    expect((await served.request('/api/events?project=nowhere')).status).toBe(404)
    const { subscribers } = served.server.eventHub.feed
    expect(
      (await served.request('/api/events', { method: 'HEAD', headers: { origin: undefined } }))
        .status,
    ).toBe(200)
    expect(served.server.eventHub.feed.subscribers).toBe(subscribers)
    all.leave()
    own.leave()
  })

  test('is dropped when it does not read, and others are not', async () => {
    const [slow, quick] = [await follow(), await follow()]
    slow.pause()
    const row = 'x'.repeat(8 * 1024)
    for (
      let number = 0;
      number < 1500 && served.server.eventHub.feed.subscribers > 1;
      number += 1
    ) {
      served.server.eventHub.publish('any', { type: 'run', project: 'any', id: `${number} ${row}` })
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(served.server.eventHub.feed.subscribers).toBe(1)
    const last = quick.events.length
    await served.append('newcomer', [note('still told')])
    await quick.until((all) => entriesIn(all.slice(last)).length > 0)
    slow.leave()
    quick.leave()
  })
})

describe('a session in a project whose folders were removed and recreated', () => {
  test('is found by polling, and watched again from then on', async () => {
    const page = await follow()
    rmSync(served.world.path('.sessions', 'touched'), { recursive: true, force: true })
    await served.world.run((project) => project.init({ name: 'late', force: true }))
    const isTold = (name: string) => (all: readonly LiveEvent[]) =>
      all.some((event) => event.type === 'session' && event.row.name === name)
    await served.server.eventHub.whenIdle()
    await page.until(isTold('late'))
    await served.world.run((project) => project.init({ name: 'later', force: true }))
    await page.until(isTold('later'))
    page.leave()
  })
})
