import { rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { conversationStore } from '../../src/history/store.ts'
import type { HistoryItem } from '../../src/history/items.ts'
import { loadSqlite } from '../../src/index/sqlite.ts'
import { launchBrowser } from '../support/browser.ts'
import { type Served, serve } from '../support/serve.ts'
import { type DemoProject, emptyProject } from './demo-project.ts'
import { message } from './page-world.ts'

const SESSIONS = 100_000
const ITEMS = 50_000
const LARGE = '0a1b2c3d-0000-4000-8000-0000000000aa'
/** The limit of DOM elements: some dozens of rows and the page around them. */
const BOUND = 2500
const STEPS = 61
const VIEWPORT = { width: 1280, height: 800 }

let full: DemoProject
let server: Served
let browser: Browser
let page: Page

beforeAll(async () => {
  full = emptyProject()
  await full.stint('init', '--name', 'the-real-one', '--goal', 'Be one of many')
  // An index that knows all sessions reads none of them again unless their folder has changed since.
  const hourAgo = Date.now() / 1000 - 3600
  utimesSync(join(full.root, '.sessions', 'journal'), hourAgo, hourAgo)
  await full.stint('list')
  fillIndex(full)
  const store = conversationStore(join(full.root, '.sessions'), {})
  store.append(LARGE, longConversation(ITEMS), { isUnsynced: true })
  server = await serve(full.root, full.env)
  browser = await launchBrowser()
  page = await (await browser.newContext({ viewport: VIEWPORT })).newPage()
  await page.goto(server.url)
}, 180_000)

afterAll(async () => {
  await browser.close()
  await server.stop()
  rmSync(full.folder, { recursive: true, force: true })
})

/** Index rows of a hundred thousand sessions. Creating the sessions themselves takes minutes. */
function fillIndex({ root }: DemoProject): void {
  const database = new (loadSqlite().DatabaseSync)(join(root, '.sessions', 'index.db'))
  database.exec(`
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${SESSIONS})
    INSERT INTO sessions (id, name, title, status, branch, goal, created_at, updated_at, compactions, steps_done, steps_total, decisions,
      discoveries, open_blockers, entry_count, tasks, inode, size, mtime, offset, prefix)
    SELECT printf('01900000-0000-7000-8000-%012d', n), 'session-' || n, 'Session number ' || n, CASE n % 3 WHEN 0 THEN 'completed' ELSE 'paused' END,
      'branch-' || (n % 50), 'The goal of number ' || n, '2026-01-01T00:00:00.000Z', strftime('%Y-%m-%dT%H:%M:%fZ', 1767225600 + n, 'unixepoch'),
      0, n % 7, 7, 0, 0, n % 11 = 0, 9, '[]', 0, 0, 0, 0, 0
    FROM numbers;
  `)
  database.close()
}

/** The items of a long conversation: requests, answers with code, tools with results, sometimes a compaction. */
function longConversation(count: number): readonly HistoryItem[] {
  return Array.from({ length: count }, (_, index): HistoryItem => {
    const at = new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString()
    const id = `m${index}`
    if (index % 2000 === 1999)
      return { type: 'compaction', id, at, trigger: 'auto', tokensBefore: 150_000 }
    switch (index % 5) {
      case 0:
        return message('user', `Request ${index}: please look at file ${index}.`)(at, id)
      case 1:
        return message('assistant', [
          { type: 'thinking', text: 'I have to look at it first. '.repeat(20) },
          {
            type: 'tool use',
            id: `t${index}`,
            name: 'Read',
            input: { file_path: `src/file-${index}.ts` },
          },
        ])(at, id)
      case 2:
        return message('user', [
          {
            type: 'tool result',
            use: `t${index - 1}`,
            isError: false,
            parts: [{ type: 'text', text: 'a line\n'.repeat(30) }],
          },
        ])(at, id)
      default:
        return message(
          'assistant',
          `Answer ${index}.\n\n${'Some prose about it. '.repeat(index % 40)}\n\n- one\n- two\n\n\`\`\`ts\nconst n = ${index}\n\`\`\``,
        )(at, id)
    }
  })
}

const elements = () => page.evaluate<number>(`document.querySelectorAll('*').length`)

/** Loads a view and scrolls its list from end to end. Returns the most elements there were and how often the busiest code ran. */
async function walk(
  address: string,
  ready: string,
): Promise<{ readonly most: number; readonly busiest: number }> {
  const context = await browser.newContext({ viewport: VIEWPORT })
  const page = await context.newPage()
  const profiler = await context.newCDPSession(page)
  await profiler.send('Profiler.enable')
  // In a new context, before anything is loaded: loops are counted only in code that is compiled from now on.
  await profiler.send('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  await page.goto(server.url)
  await page.goto(address)
  await page.locator(ready).first().waitFor()
  await profiler.send('Profiler.takePreciseCoverage')
  const most = await page.evaluate<number>(`(async () => {
    const list = document.querySelector('.virtual') ?? document.querySelector('main')
    let most = 0
    const frame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)))
    for (let step = 0; step < ${STEPS}; step += 1) {
      // Some wheel steps, then a jump.
      list.scrollTop = step % 6 === 0 ? (list.scrollHeight * ((step * 37) % ${STEPS})) / ${STEPS} : list.scrollTop + 300
      await frame()
      most = Math.max(most, document.querySelectorAll('*').length)
    }
    return most
  })()`)
  const { result } = await profiler.send('Profiler.takePreciseCoverage')
  await context.close()
  const ranges = result.flatMap(({ functions }) => functions).flatMap((each) => each.ranges)
  // A loop over the whole list that runs at every step shows here, on any machine.
  return { most, busiest: Math.max(...ranges.map(({ count }) => count)) }
}

test('scrolls a hundred thousand sessions with few DOM rows, without looping over all of them per step', async () => {
  const { most, busiest } = await walk(`${server.origin}/`, '.session-title')
  expect(most).toBeLessThan(BOUND)
  expect(busiest).toBeLessThan(STEPS * SESSIONS)
})

test('the last of a hundred thousand sessions is reached directly', async () => {
  await page.goto(`${server.origin}/`)
  await page.getByText('Session number 100000', { exact: true }).waitFor()
  await page.locator('.virtual').evaluate((list: unknown) => {
    ;(list as { scrollTop: number }).scrollTop = 1e9
  })
  await page.getByText('Session number 1', { exact: true }).waitFor()
  expect(await elements()).toBeLessThan(BOUND)
})

test('scrolls fifty thousand items with few DOM rows, without looping over all of them per step', async () => {
  const { most, busiest } = await walk(`${server.origin}/c/${LARGE}`, '.item')
  expect(most).toBeLessThan(BOUND)
  expect(busiest).toBeLessThan(STEPS * ITEMS)
})

test('a link opens an item deep in a long conversation, and it stays in place while rows are measured', async () => {
  await page.goto(`${server.origin}/c/${LARGE}?item=31415`)
  const item = page.locator('.item[data-wanted=true]', { hasText: 'Request 31415' })
  await item.waitFor()
  const offset = async () => {
    const [own, list] = await Promise.all([
      item.boundingBox(),
      page.locator('.virtual').first().boundingBox(),
    ])
    return Math.round(own!.y - list!.y)
  }
  await expect.poll(offset).toBeLessThan(20)
  expect(await offset()).toBeGreaterThanOrEqual(0)
  expect(await elements()).toBeLessThan(BOUND)
})
