import { describe, expect, test } from 'vitest'
import type { LiveEvent } from '../../src/serve/contract.ts'
import { EventFeed, type FeedSubscriber } from '../../src/serve/event-feed.ts'

class Page implements FeedSubscriber {
  readonly got: string[] = []
  pendingBytes = 0
  isDropped = false

  declare readonly project?: string

  constructor(project?: string) {
    if (project !== undefined) Object.assign(this, { project })
  }

  write(text: string): void {
    this.got.push(text)
  }

  drop(): void {
    this.isDropped = true
  }

  get events(): readonly LiveEvent[] {
    return this.got.flatMap((text) => {
      const data = /^data: (.*)$/m.exec(text)?.[1]
      return data === undefined ? [] : [JSON.parse(data) as LiveEvent]
    })
  }

  get lastId(): string | undefined {
    return this.got.flatMap((text) => /^id: (.*)$/m.exec(text)?.[1] ?? []).at(-1)
  }
}

const tasks = (project: string): LiveEvent => ({ type: 'tasks', project })
const run = (id: number): LiveEvent => ({ type: 'run', project: 'a', id: String(id) })
const join = (feed: EventFeed, page: Page, last?: string) => {
  feed.connect(page, last)
  return page
}

describe('a reconnecting page', () => {
  test('receives all missed events once', () => {
    const feed = new EventFeed()
    const page = join(feed, new Page())
    for (let number = 0; number < 3; number += 1) feed.publish('a', run(number))
    feed.disconnect(page)
    for (let number = 3; number < 6; number += 1) feed.publish('a', run(number))
    const again = join(feed, new Page(), page.lastId)
    feed.publish('a', run(6))
    expect([...page.events, ...again.events]).toEqual([0, 1, 2, 3, 4, 5, 6].map(run))
    feed.close()
  })

  test('starts from the beginning when it had received nothing', () => {
    const feed = new EventFeed()
    const page = join(feed, new Page())
    feed.disconnect(page)
    feed.publish('a', run(1))
    expect(join(feed, new Page(), page.lastId).events).toEqual([run(1)])
    feed.close()
  })

  test('receives only a reset when events are lost', () => {
    const feed = new EventFeed({ events: 3 })
    const page = join(feed, new Page())
    feed.publish('a', run(0))
    for (let number = 1; number < 5; number += 1) feed.publish('b', run(number))
    const { epoch } = feed
    for (const last of [`${epoch}.0`, `${epoch}.99`, 'other.4', 'nonsense', '', `${epoch}.1e0`]) {
      const again = join(feed, new Page(), last)
      expect(again.events).toEqual([{ type: 'reset' }])
      expect(again.lastId).toBe(page.lastId)
      feed.disconnect(again)
    }
    feed.close()
  })

  test('has missed what happened while the project was not watched', () => {
    const feed = new EventFeed()
    feed.begin('a')
    const page = join(feed, new Page('a'))
    feed.publish('b', run(1))
    feed.begin('a')
    expect(join(feed, new Page('a'), page.lastId).events).toEqual([{ type: 'reset' }])
    expect(join(feed, new Page('b'), page.lastId).events).toEqual([run(1)])
    feed.close()
  })
})

describe('a page', () => {
  test('receives events of its project only, or of all', () => {
    const feed = new EventFeed()
    const [own, all] = [join(feed, new Page('a')), join(feed, new Page())]
    feed.publish('a', tasks('a'))
    feed.publish('b', tasks('b'))
    expect([own.events, all.events]).toEqual([[tasks('a')], [tasks('a'), tasks('b')]])
    feed.close()
  })

  test('is dropped when it does not read', () => {
    const feed = new EventFeed({ pendingBytes: 100 })
    const [slow, quick] = [join(feed, new Page()), join(feed, new Page())]
    slow.pendingBytes = 101
    feed.publish('a', run(1))
    feed.publish('a', run(2))
    expect([slow.isDropped, slow.events.length, quick.isDropped, quick.events.length]).toEqual([
      true,
      1,
      false,
      2,
    ])
    feed.close()
  })
})
