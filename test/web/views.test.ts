import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { conversationStore } from '../../src/history/store.ts'
import { launchBrowser } from '../support/browser.ts'
import { type Served, freePort, serve } from '../support/serve.ts'
import { emptyProject } from './demo-project.ts'
import { type PageWorld, pageWorld } from './page-world.ts'

let world: PageWorld
let served: Served
let port: string
let browser: Browser
let context: BrowserContext
let page: Page
const wrong: string[] = []

beforeAll(async () => {
  ;[world, browser] = await Promise.all([pageWorld(), launchBrowser()])
  port = await freePort()
  served = await serve(world.root, world.env, '--port', port)
  context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  page = await context.newPage()
  page.on('pageerror', (error) => wrong.push(String(error)))
  await page.goto(served.url)
})

afterAll(async () => {
  await browser.close()
  await served.stop()
  rmSync(world.folder, { recursive: true, force: true })
})

beforeEach(() => page.goto(`${served.origin}/`))
// Each test reports its own errors only.
afterEach(() => expect(wrong.splice(0)).toEqual([]))

const titles = () => page.locator('.session-title > bdi')
const open = (path: string) => page.goto(served.origin + path)
const journalled = (text: string) => page.locator('.entry-text', { hasText: text })

async function eventually<T>(look: () => Promise<T>, expected: T): Promise<void> {
  await expect.poll(look).toEqual(expected)
}

describe('sessions', () => {
  test('are all listed, the most recently updated first', async () => {
    await eventually(
      () => titles().allTextContents(),
      ['Sweeper drops records under load', 'Flaky Ci', 'Import Speed', 'Rotate Keys'],
    )
    await eventually(() => page.locator('.view-head [role=status]').textContent(), '4')
  })

  test('are filtered by status, branch and words, and the URL holds the filters', async () => {
    await page.getByRole('button', { name: 'completed' }).click()
    await eventually(() => titles().allTextContents(), ['Rotate Keys'])
    expect(page.url()).toContain('status=completed')
    await page.getByRole('button', { name: 'All' }).click()
    await page.getByLabel('Branch').fill('import-speed')
    await eventually(() => titles().allTextContents(), ['Import Speed'])
    await page.getByLabel('Branch').fill('')
    await page.getByLabel('Search sessions').fill('gigab')
    // The branch filter shows the same list, so only the URL tells that the words are in effect.
    await eventually(async () => page.url().includes('gigab'), true)
    await eventually(() => titles().allTextContents(), ['Import Speed'])
    await page.reload()
    await eventually(() => titles().allTextContents(), ['Import Speed'])
    await page.getByLabel('Search sessions').fill('nowhere')
    await page.getByText('No session matches').waitFor()
    await page.getByRole('button', { name: 'Show all sessions' }).click()
    await eventually(() => titles().count(), 4)
  })

  test('are navigated and opened by keys, and Back returns to the list', async () => {
    await titles().first().waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await eventually(
      () =>
        page.evaluate<string>(
          'document.activeElement.querySelector(".session-title > bdi")?.textContent',
        ),
      'Flaky Ci',
    )
    await page.keyboard.press('o')
    await page.getByRole('heading', { level: 1, name: 'Flaky Ci' }).waitFor()
    await page.goBack()
    await titles().first().waitFor()
    await page.keyboard.press('/')
    await eventually(
      () => page.evaluate<string>('document.activeElement.ariaLabel'),
      'Search sessions',
    )
    await page.keyboard.press('Escape')
    await page.keyboard.press('?')
    await page.getByRole('dialog').getByText('Next session').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('g')
    await page.keyboard.press('f')
    await page.getByRole('heading', { level: 1, name: 'Search' }).waitFor()
  })
})

describe('a session', () => {
  test('shows its head, overview, document, conversations and handoffs', async () => {
    await open(`/s/${world.session}`)
    await page
      .getByRole('heading', { level: 1, name: 'Sweeper drops records under load' })
      .waitFor()
    const facts = page.locator('.session-facts')
    expect(await facts.textContent()).toMatch(/active.*fix\/sweep-race.*2\/5.*1 open blocker/s)
    const aside = page.locator('.session-aside')
    for (const text of [
      'Take the lock before the check',
      'A compare-and-swap per record',
      'The race only shows',
      'The staging database',
      'The context is nearly full',
    ])
      expect(await aside.textContent()).toContain(text)
    await page.getByRole('tab', { name: 'Document' }).click()
    await page.locator('.document h3', { hasText: 'TL;DR' }).waitFor()
    expect(await page.locator('.document [data-box=done]').count()).toBe(2)
    expect(await page.locator('.document').textContent()).not.toContain('<!--')
    await page.getByRole('tab', { name: /Conversations/ }).click()
    await page.getByRole('link', { name: 'The sweeper drops records under load' }).click()
    await page.locator('.item[data-speaker=you]').first().waitFor()
  })

  test('shows new entries at the end as they are written, each once', async () => {
    await open(`/s/${world.session}`)
    await journalled('Race reproduced').waitFor()
    for (const text of ['first live', 'second live', 'third live'])
      await world.stint('log', '--session', 'fix-sweep-bug', '--progress', text)
    await journalled('third live').waitFor()
    for (const text of ['first live', 'second live', 'third live'])
      expect(await journalled(text).count()).toBe(1)
    // Heights are measured a frame after the rows are there, and the list follows then.
    await eventually(
      () =>
        page
          .locator('.virtual')
          .first()
          .evaluate((list) => list.scrollTop + list.clientHeight >= list.scrollHeight - 24),
      true,
    )
  })

  test('can be left while its journal scrolls', async () => {
    await open(`/s/${world.session}`)
    await journalled('Race reproduced').waitFor()
    const list = await page.locator('.virtual').first().elementHandle()
    await page.getByRole('link', { name: 'Search' }).first().click()
    await page.getByRole('heading', { level: 1, name: 'Search' }).waitFor()
    // As the browser does with the next frame.
    await list!.evaluate((element) => element.dispatchEvent(new Event('scroll')))
  })

  test('shows only the entries of the chosen kinds', async () => {
    await open(`/s/${world.session}`)
    await journalled('Race reproduced').waitFor()
    await page.getByRole('button', { name: 'Decisions' }).click()
    await eventually(() => page.locator('.entry-kind').allTextContents(), ['decision', 'decision'])
    await page.getByRole('button', { name: 'Blockers', exact: true }).click()
    await eventually(() => page.locator('.entry').count(), 3)
  })

  test('opens at the entry in the link', async () => {
    await open(`/s/${world.session}`)
    await journalled('Race reproduced').waitFor()
    const link = page.locator('.entry', { hasText: 'The race only shows' }).locator('.entry-time')
    const address = await link.first().getAttribute('href')
    await open(`/s/${world.session}${address}`)
    await page.locator('.entry[data-wanted=true]', { hasText: 'The race only shows' }).waitFor()
  })

  test('continues without loss or duplicates after its server was killed and restarted', async () => {
    await open(`/s/${world.session}`)
    await journalled('Race reproduced').waitFor()
    await served.stop('SIGKILL')
    await page.getByText('Reconnecting').waitFor()
    for (const text of ['while away one', 'while away two'])
      await world.stint('log', '--session', 'fix-sweep-bug', '--progress', text)
    served = await serve(world.root, world.env, '--port', port)
    await journalled('while away two').waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    await world.stint('log', '--session', 'fix-sweep-bug', '--progress', 'back again')
    await journalled('back again').waitFor()
    for (const text of ['while away one', 'while away two', 'back again'])
      expect(await journalled(text).count()).toBe(1)
    expect(await page.getByText('Not up to date').count()).toBe(0)
  })

  test('that does not exist shows a message and a link back', async () => {
    await open('/s/nothing-of-that-name')
    await page.locator('[role=alert]').waitFor()
    await page.getByRole('button', { name: 'Try again' }).waitFor()
  })
})

describe('a conversation', () => {
  test('folds tools and thinking to one line, and unfolds them', async () => {
    await open(`/c/${world.conversation}`)
    const failed = page.getByRole('button', { name: /Failed.*FAIL sweep 3.1s.*122 lines/ })
    await failed.waitFor()
    expect(await page.getByText('WARNING: DATA RACE').count()).toBe(0)
    await failed.click()
    await page.getByRole('button', { name: /Show more/ }).click()
    await page.locator('pre', { hasText: 'WARNING: DATA RACE' }).waitFor()
    await page.keyboard.press('e')
    await page.locator('pre', { hasText: 'go test -race' }).first().waitFor()
    expect(await page.getByRole('button', { name: /Thinking/ }).getAttribute('aria-expanded')).toBe(
      'true',
    )
  })

  test('shows its text, its images, and the usage of each request', async () => {
    await open(`/c/${world.conversation}?item=4`)
    const answer = page.locator('.item[data-wanted=true]')
    await answer.locator('strong', { hasText: 'before' }).waitFor()
    expect(await answer.locator('ol li').count()).toBe(3)
    expect(await answer.locator('td').count()).toBe(6)
    expect(await answer.locator('.item-facts').textContent()).toContain('22.8k in · 540 out')
    await open(`/c/${world.conversation}?item=6`)
    await eventually(
      () =>
        page
          .locator('img.picture')
          .evaluate((picture: unknown) => (picture as { naturalWidth: number }).naturalWidth),
      1,
    )
  })

  test('is navigated by requests and compactions', async () => {
    await open(`/c/${world.conversation}`)
    await page.setViewportSize({ width: 1280, height: 400 })
    const place = page.locator('.reader-bar > [role=status]')
    await eventually(() => place.textContent(), '1 of 16')
    await page.getByRole('button', { name: 'Next compaction' }).click()
    await eventually(() => place.textContent(), '10 of 16')
    await page
      .locator('.mark-line[data-type=compaction]', { hasText: 'auto · 151k to 12.4k tokens' })
      .waitFor()
    await page.keyboard.press('p')
    await eventually(() => place.textContent(), '7 of 16')
    await page.locator('.outline-line', { hasText: 'Yes, keep them' }).click()
    await eventually(() => place.textContent(), '6 of 16')
    await page.setViewportSize({ width: 1280, height: 800 })
  })
})

test('a search highlights hits, groups them by session and links to them', async () => {
  await open('/search?q=race')
  await page.locator('.hits h2', { hasText: 'fix-sweep-bug' }).waitFor()
  expect(
    new Set((await page.locator('.hit mark').allTextContents()).map((text) => text.toLowerCase())),
  ).toEqual(new Set(['race']))
  await page.locator('.hit', { hasText: 'only shows with GOMAXPROCS' }).click()
  await page
    .locator('.entry[data-wanted=true]', { hasText: 'only shows with GOMAXPROCS' })
    .waitFor()
  await page.goBack()
  await page.getByLabel('Words to look for').fill('nothinglikethis')
  await page.getByText('Nothing found').waitFor()
})

test('a search reports how much is not searched yet', async () => {
  await page.route('**/api/search?*', (route) =>
    route.fulfill({ json: { hits: [], unreadBytes: 42_000_000 } }),
  )
  await open('/search?q=race')
  await page.getByText('42 MB of what was said are not searched yet').waitFor()
  await page.getByText('Nothing found').waitFor()
  await page.unroute('**/api/search?*')
  // It searches again by itself.
  await page.locator('.hit').first().waitFor()
})

test('all conversations are listed, also without a session, and link to transcript and session', async () => {
  conversationStore(join(world.root, '.sessions'), {}).append('imported-1', [
    { type: 'began', conversation: 'imported-1', harness: 'codex', at: '2026-03-01T09:00:00.000Z' },
    {
      type: 'message',
      id: 'm1',
      role: 'user',
      at: '2026-03-01T09:00:01.000Z',
      parts: [{ type: 'text', text: 'Feed the okapi' }],
    },
  ])
  await page.keyboard.press('g')
  await page.keyboard.press('c')
  const rows = page.locator('.conversation-row')
  await eventually(() => rows.count(), 2)
  expect(await rows.first().innerText()).toMatch(/Feed the okapi[^]*codex[^]*1 message/)
  await eventually(() => page.locator('.view-head [role=status]').textContent(), '2')
  expect(await rows.first().getByText('its session').count()).toBe(0)
  await page.keyboard.press('j')
  await page.keyboard.press('o')
  await page.waitForURL('**/c/imported-1')
  await page.goBack()
  await rows.nth(1).getByText('its session').click()
  await page.waitForURL(`**/s/${world.session}`)
})

test('the chosen theme is remembered', async () => {
  await page.getByRole('button', { name: 'Theme: system' }).click()
  await page.getByRole('button', { name: 'Theme: light' }).click()
  const ground = () =>
    page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor')
  await eventually(ground, 'rgb(19, 20, 23)')
  await page.reload()
  await eventually(ground, 'rgb(19, 20, 23)')
  await page.getByRole('button', { name: 'Theme: dark' }).click()
  await eventually(ground, 'rgb(250, 250, 248)')
})

test('every page fits a phone, and the menu links to every view', async () => {
  await page.setViewportSize({ width: 360, height: 740 })
  for (const path of [
    '/',
    `/s/${world.session}`,
    `/s/${world.session}?tab=overview`,
    `/s/${world.session}?tab=document`,
    `/c/${world.conversation}`,
    '/search?q=race',
    '/conversations',
  ]) {
    await open(path)
    await page.locator('main h1').waitFor()
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(360)
  }
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('link', { name: 'Sessions', exact: true }).first().click()
  await titles().first().waitFor()
  await page.setViewportSize({ width: 1280, height: 800 })
})

test('a project without sessions shows how to start', async () => {
  const empty = emptyProject()
  const other = await serve(empty.root, empty.env)
  const mine = await browser.newContext()
  try {
    const tab = await mine.newPage()
    await tab.goto(other.url)
    await tab.getByRole('link', { name: 'Conversations' }).last().click()
    await tab.getByText('No conversations yet').waitFor()
    await tab.goBack()
    await tab.getByText('No sessions yet').waitFor()
    await empty.stint('init', '--name', 'the-first', '--goal', 'Begin')
    await tab.locator('.session-title', { hasText: 'The First' }).waitFor()
  } finally {
    await mine.close()
    await other.stop()
    rmSync(empty.folder, { recursive: true, force: true })
  }
})
