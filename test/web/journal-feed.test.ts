import { expect, test } from 'vitest'
import type { PublicEntry, EntryList, LiveEvent } from '../../src/serve/contract.ts'
import { ApiFailure } from '../../web/data/failure.ts'
import { JournalFeed } from '../../web/data/journal-feed.ts'

type Entries = Extract<LiveEvent, { type: 'entries' }>

/** A journal whose entries are ten bytes each, with requests that the test answers when it wants. */
function journal(length: number) {
  const all: PublicEntry[] = []
  const entry = (number: number): PublicEntry => ({
    id: `e${number}`,
    at: '',
    kind: 'note.added',
    label: 'note',
    group: 'session',
    text: `${number}`,
    data: {},
    by: 'cli',
    isRetracted: false,
  })
  const write = (count: number): Entries => {
    const from = all.length * 10
    const entries = Array.from({ length: count }, (_, index) => entry(all.length + index))
    all.push(...entries)
    return { type: 'entries', project: 'p', session: 's', from, cursor: all.length * 10, entries }
  }
  write(length)
  const held: (() => void)[] = []
  let isHeld = false
  let asked = 0
  const answer = ({
    from,
    before,
    limit,
  }: {
    from?: number
    before?: number
    limit: number
  }): EntryList => {
    if (from !== undefined) {
      const entries = all.slice(from / 10, from / 10 + limit)
      return { entries, cursor: from + entries.length * 10 }
    }
    const end = before ?? all.length * 10
    const start = Math.max(0, end - limit * 10)
    return {
      entries: all.slice(start / 10, end / 10),
      cursor: end,
      ...(start > 0 ? { before: start } : {}),
    }
  }
  const load = async (at: { from?: number; before?: number; limit: number }) => {
    asked += 1
    const list = answer(at)
    if (isHeld) await new Promise<void>((resolve) => held.push(resolve))
    return list
  }
  const feed = new JournalFeed(load, () => undefined)
  return {
    all,
    feed,
    write,
    asked: () => asked,
    hold: () => {
      isHeld = true
    },
    async release() {
      isHeld = false
      for (const resolve of held.splice(0)) resolve()
      for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
    },
    texts: () => feed.entries.map(({ text }) => Number(text)),
  }
}

const upTo = (end: number, from = 0) =>
  Array.from({ length: end - from }, (_, index) => from + index)

test('entries that continue the feed are added without a request', async () => {
  const { feed, write, texts, asked } = journal(3)
  await feed.begin()
  feed.receive(write(2))
  expect(texts()).toEqual(upTo(5))
  expect(asked()).toBe(1)
})

test('a repeated or late event changes nothing', async () => {
  const { feed, write, texts } = journal(3)
  await feed.begin()
  const first = write(1)
  const second = write(1)
  feed.receive(first)
  feed.receive(second)
  feed.receive(first)
  feed.receive(second)
  expect(texts()).toEqual(upTo(5))
})

test('an entry that is in the log twice is shown once', async () => {
  const { feed, write, texts } = journal(3)
  await feed.begin()
  const event = write(1)
  feed.receive({ ...event, entries: [...feed.entries.slice(0, 1), ...event.entries] })
  expect(texts()).toEqual(upTo(4))
})

test('entries missing from an event are requested, each once', async () => {
  const { feed, write, texts, release } = journal(3)
  await feed.begin()
  write(4)
  feed.receive(write(1))
  await release()
  expect(texts()).toEqual(upTo(8))
})

test('an event during a request is neither lost nor duplicated', async () => {
  const { feed, write, texts, hold, release } = journal(3)
  hold()
  const begun = feed.begin()
  const event = write(2)
  feed.receive(event)
  await release()
  await begun
  await release()
  expect(texts()).toEqual(upTo(5))
  feed.receive(event)
  expect(texts()).toEqual(upTo(5))
})

test('after a reset only new entries are requested, however many there are', async () => {
  const { feed, write, texts, release } = journal(3)
  await feed.begin()
  write(900)
  await feed.catchUp()
  await release()
  expect(texts()).toEqual(upTo(903))
})

test('a rewritten journal is loaded from the start', async () => {
  const { feed, all, texts } = journal(3)
  await feed.begin()
  all.splice(0, 1)
  const rewritten = new JournalFeed(
    async (at) => {
      if (at.from !== undefined)
        throw new ApiFailure({ code: 'CURSOR_GONE', message: 'rewritten' }, 410)
      return { entries: all, cursor: 20 }
    },
    () => undefined,
  )
  await rewritten.begin()
  await rewritten.catchUp()
  expect(rewritten.entries.map(({ id }) => id)).toEqual(['e1', 'e2'])
  expect(rewritten.failure).toBeUndefined()
  expect(texts()).toEqual(upTo(3))
})

test('earlier entries are prepended and counted', async () => {
  const { feed, texts } = journal(450)
  await feed.begin()
  expect(feed.hasEarlier).toBe(true)
  await feed.loadEarlier()
  await feed.loadEarlier()
  expect(feed.hasEarlier).toBe(false)
  expect(feed.earlier).toBe(250)
  expect(texts()).toEqual(upTo(450))
})

test('an entry retracted by a later one is shown as retracted', async () => {
  const { feed, write } = journal(2)
  await feed.begin()
  const event = write(1)
  feed.receive({
    ...event,
    entries: event.entries.map((entry) => ({
      ...entry,
      kind: 'entry.retracted',
      data: { entry: 'e0' },
    })),
  })
  expect(feed.entries.map(({ isRetracted }) => isRetracted)).toEqual([true, false, false])
})

test('a failed request is shown, and the next one recovers', async () => {
  let fails = true
  const feed = new JournalFeed(
    async () => {
      if (fails) throw new ApiFailure({ code: 'unreachable', message: 'nobody' }, 0)
      return { entries: [], cursor: 0 }
    },
    () => undefined,
  )
  await feed.begin()
  expect(feed.failure?.problem.message).toBe('nobody')
  fails = false
  await feed.catchUp()
  expect(feed.failure).toBeUndefined()
  expect(feed.isLoaded).toBe(true)
})
