// Runs, delegates, workflows, the backlog, handoffs, usage and the token curve in a real browser, with a real server and data that the
// real program wrote.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { DelegateRow } from '../../src/run/delegate/delegate-row.ts'
import type { HistoryItem } from '../../src/history/items.ts'
import { conversationStore } from '../../src/history/store.ts'
import { draftEntry } from '../../src/session/entries.ts'
import { launchBrowser } from '../support/browser.ts'
import { type Served, serve } from '../support/serve.ts'
import { type DemoProject, demoProject, emptyProject } from './demo-project.ts'
import { type OpenedPage, fitsItsWidth, isAccessible, openPage } from './open-page.ts'
import { journal } from './page-world.ts'

const CURVED = '0a1b2c3d-0000-4000-8000-0000000000c1'
const VIEWS = ['/runs', '/delegates', '/workflows', '/tasks', '/handoffs', '/usage', '/ledger']

let demo: DemoProject
let served: Served
let browser: Browser

beforeAll(async () => {
  ;[demo, browser] = await Promise.all([demoProject(), launchBrowser()])
  conversationStore(join(demo.root, '.sessions'), {}).append(CURVED, curved())
  served = await serve(demo.root, demo.env)
}, 300_000)

afterAll(async () => {
  await browser?.close()
  await served?.stop()
  rmSync(demo.folder, { recursive: true, force: true })
})

async function open(path: string, look?: OpenedPage): Promise<Page> {
  const { page, broken, close } = await openPage(browser, served, path, look)
  onTestFinished(async () => {
    await close()
    expect(broken).toEqual([])
  })
  return page
}

async function ask<T>(page: Page, path: string): Promise<T> {
  return (await page.evaluate(async (at) => (await fetch(at)).json(), path)) as T
}

describe('a run', () => {
  test('is listed with its outcome, and shows its task graph, attempt lanes and report', async () => {
    const page = await open('/runs')
    await page.getByRole('row').nth(1).getByText('2 done, 2 failed').waitFor()
    await page.getByRole('row').nth(1).getByRole('link').click()
    const graph = page.getByRole('region', { name: 'Tasks and what they wait for' })
    await graph.waitFor()
    const outcomes = await graph
      .getByRole('link')
      .evaluateAll((links) =>
        links.map((link) => [
          link.querySelector('.graph-name')?.textContent,
          link.getAttribute('data-outcome'),
        ]),
      )
    expect(outcomes).toEqual(
      expect.arrayContaining([
        ['Log each sweep', 'done'],
        ['Count the sweeps', 'done'],
        ['Alert on failures', 'parked'],
        ['Choose a dashboard', 'blocked'],
      ]),
    )
    const left = async (name: string) =>
      (await graph.getByRole('link', { name }).boundingBox())?.x ?? 0
    expect(await left('Log each sweep')).toBeLessThan(await left('Count the sweeps'))

    const lanes = page.getByRole('region', { name: 'Sessions over time' })
    const first = lanes.getByRole('link', { name: 'Log each sweep: attempt 1, failed' })
    const second = lanes.getByRole('link', { name: 'Log each sweep: attempt 2, done' })
    expect((await first.boundingBox())?.x).toBeLessThan((await second.boundingBox())?.x ?? 0)

    const report = page.getByRole('region', { name: 'Report by task' })
    await graph.getByRole('link', { name: 'Alert on failures' }).click()
    await expect
      .poll(() => report.locator('tr[data-chosen=true]').textContent())
      .toContain('Alert on failures')
    await page.getByText('Earlier tasks that were read again').waitFor()
  })
})

describe('a delegate', () => {
  test('waits in the merge queue, shows its diff, and is merged after a confirmation', async () => {
    const page = await open('/delegates')
    await page.getByText('it conflicts with main in log.go').waitFor()
    expect(
      await page
        .getByRole('rowheader', { name: /^(Merge queue|Needs somebody|Over)/ })
        .allTextContents(),
    ).toEqual(['Merge queue 1', 'Needs somebody 1', 'Over 1'])
    await page.getByRole('link', { name: 'describe-the-sweeper' }).click()
    await page.getByText('It sweeps. <img src=x onerror=alert(1)>').waitFor()
    expect(await page.locator('main img').count()).toBe(0)
    const removed = page.locator('tr[data-kind=removed]')
    expect(await removed.allTextContents()).toEqual(['-\tcheck()'])
    await page.getByRole('button', { name: 'Merge describe-the-sweeper' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Not now' }).click()
    expect(demo.git('log', '--format=%s', 'main')).not.toContain('describe the sweeper')
    await page.getByRole('button', { name: 'Merge describe-the-sweeper' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Merge', exact: true }).click()
    await page.locator('.view-head .badge', { hasText: 'merged' }).waitFor()
    expect(demo.git('log', '--format=%s', 'main')).toContain('describe the sweeper')
  })

  test('that conflicts is discarded after a confirmation', async () => {
    const page = await open('/delegates')
    await page.getByRole('button', { name: 'Discard label-each-sweep' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
    await page.getByText('discarded').waitFor()
    const rows = await ask<readonly DelegateRow[]>(page, '/api/delegates')
    expect(rows.find(({ name }) => name === 'label-each-sweep')?.status).toBe('discarded')
  })
})

describe('a workflow', () => {
  test('is approved by the user with a note and continues', async () => {
    const page = await open('/workflows')
    const card = page.getByRole('region', { name: 'User authentication' })
    await card.getByText('waits for a person').waitFor()
    await card.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('Without single sign-on')
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
    await card.getByText('waits for a person').waitFor({ state: 'detached' })
    const status = JSON.parse(await demo.stint('workflow', 'status', 'wf-001', '--json')) as {
      approvals: readonly object[]
    }
    expect(status.approvals).toEqual([
      expect.objectContaining({ phase: '4', note: 'Without single sign-on' }),
    ])
  })
})

describe('the backlog', () => {
  test('shows sub-tasks below their parents, and moves and adds tasks like the command line', async () => {
    const page = await open('/tasks')
    const keys = page.getByRole('listitem').filter({ hasText: 'Rotate the keys' }).first()
    await keys.getByText('Generate new keys').waitFor()
    await keys.getByText('Rotate the keys', { exact: true }).click()
    await page.getByText('Every <b>ninety</b> days, by the book.').waitFor()
    await page.getByLabel('Status of Generate new keys').selectOption('in_progress')
    await expect
      .poll(async () => await demo.stint('task', 'show', 'generate-new-keys'))
      .toMatch(/in.progress/)

    await page.getByRole('button', { name: 'Add a task' }).click()
    await page.getByLabel('What is to be done').fill('Tell everybody')
    await page.getByLabel('Priority').selectOption('P1')
    await page.getByLabel('What is to be done').press('Enter')
    await page.getByLabel('Status of Tell everybody').waitFor()
    expect(await demo.stint('task', 'list')).toContain('P1 M  Tell everybody')
  })

  test('is filtered by words and status, and shows the changes others make', async () => {
    const page = await open('/tasks')
    await page.getByText('Write the runbook').waitFor()
    expect(await page.getByText('Log each sweep', { exact: true }).count()).toBe(0)
    await page.getByRole('button', { name: 'All', exact: true }).click()
    await page.getByText('Log each sweep', { exact: true }).waitFor()
    await page.getByLabel('Filter the tasks').fill('revoke')
    await page.getByText('Revoke old keys').waitFor()
    expect(await page.getByText('Write the runbook').count()).toBe(0)
    await demo.stint('task', 'add', 'Revoke the last one too')
    await page.getByText('Revoke the last one too').waitFor()
  })
})

describe('handoffs and usage', () => {
  test('lists handoffs and opens one', async () => {
    const page = await open('/handoffs')
    await page.getByRole('link', { name: 'fix-sweep-bug/1' }).click()
    await page.getByRole('heading', { name: 'Next action' }).waitFor()
    await page.getByText('stint handoff accept fix-sweep-bug/1').waitFor()
  })

  test('sums usage by day and by model, and lists models without a price', async () => {
    const page = await open('/usage')
    await page.getByRole('rowheader', { name: 'claude-nobody' }).waitFor()
    expect(await page.locator('.bars-days > li').count()).toBe(30)
    expect(await page.locator('.remark').textContent()).toContain('claude-nobody')
    await page.getByRole('button', { name: '7 days' }).click()
    await expect.poll(() => page.locator('.bars-days > li').count()).toBe(7)
    expect(new URL(page.url()).search).toContain('days=7')
  })
})

describe('the ledger', () => {
  const figure = (page: Page, name: string) =>
    page.locator('.figures > div', { has: page.getByText(name, { exact: true }) }).locator('dd')

  test('shows tokens injected and avoided, by source and certainty, and keeps counting', async () => {
    const session = await sessionOf('fix-sweep-bug')
    journal(demo, session, [
      draftEntry('context.given', {
        conversation: CURVED,
        event: 'SessionStart',
        mark: 'm1',
        chars: 8_000,
        whole: 48_000,
      }),
      draftEntry('hooks.ran', {
        conversation: CURVED,
        events: { PostToolUse: { times: 12, ms: 360, chars: 0, gave: 0 } },
        writes: 15,
      }),
    ])
    const page = await open('/runs')
    await page.getByRole('row').nth(1).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('l')
    const avoided = page.getByRole('region', { name: 'Tokens avoided, by what avoided them' })
    const row = (name: string) => avoided.getByRole('row', { name: new RegExp(`^${name}`) })
    await expect
      .poll(() => row('Pointers').innerText())
      .toMatch(/What a context names[^]*estimated[^]*9\.3k/)
    await row('Batching').waitFor()
    await page.getByText('by the lengths of texts').waitFor()
    expect(await figure(page, 'Hooks').textContent()).toBe('12')
    expect(await figure(page, 'Model calls').textContent()).toBe('none')
    const bars = page.locator('.bars-days > li')
    expect(await bars.count()).toBe(30)
    expect(await bars.last().innerText()).toMatch(/tokens given, .* avoided, 12 hooks in 360 ms/)
    journal(demo, session, [
      draftEntry('hooks.ran', {
        conversation: CURVED,
        events: { Stop: { times: 1, ms: 40, chars: 0, gave: 0 } },
        writes: 2,
      }),
    ])
    await expect.poll(() => figure(page, 'Hooks').textContent()).toBe('13')
    await page.getByRole('button', { name: '7 days' }).click()
    await expect.poll(() => bars.count()).toBe(7)
  })

  test('links the costliest row to its session, and the session to its own ledger', async () => {
    const page = await open('/ledger')
    await page
      .getByRole('region', { name: 'Costs' })
      .getByRole('link', { name: 'fix-sweep-bug' })
      .click()
    await page.getByText(/^Stint itself: .* tokens given/).waitFor()
    await page.locator('.overview').getByRole('link', { name: 'Ledger' }).click()
    await page.locator('h1').getByRole('link', { name: 'fix-sweep-bug' }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/ledger')
  })
})

describe('the token curve', () => {
  test("is drawn in the theme's colours with its reference lines, and is readable as a table", async () => {
    const page = await open(`/c/${CURVED}`)
    const figure = page.getByRole('figure')
    await figure.getByRole('img', { name: /over 40 turns: .* 1 compaction/ }).waitFor()
    const light = await countPixels(page)
    expect(light.curve).toBeGreaterThan(50)
    expect(light.zone).toBeGreaterThan(20)
    await page.keyboard.press('t')
    await page.keyboard.press('t')
    await expect.poll(() => page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    await expect.poll(async () => (await countPixels(page)).curve).toBeGreaterThan(50)
    await figure.getByText('As a table').click()
    expect(await figure.getByRole('row').count()).toBe(41)
  })
})

test.each([{ width: 1280, scheme: 'light' } as const, { width: 360, scheme: 'dark' } as const])(
  'every view is accessible and fits, %o',
  async (look) => {
    const page = await open('/runs', look)
    await page.getByRole('row').nth(1).waitFor()
    const run = await page.getByRole('row').nth(1).getByRole('link').getAttribute('href')
    const [delegate] = await ask<readonly DelegateRow[]>(page, '/api/delegates')
    const things = [run ?? '', `/delegates/${delegate?.id}`, `/c/${CURVED}`]
    for (const path of [...VIEWS, ...things]) {
      await page.goto(served.origin + path)
      await page.locator('.skeleton').waitFor({ state: 'detached' })
      await page.locator('main h1').first().waitFor()
      await fitsItsWidth(page)
      await isAccessible(page)
    }
  },
)

test('an empty view shows the next step, and a failed view shows the error', async () => {
  const empty = emptyProject()
  const bare = await serve(empty.root, empty.env)
  onTestFinished(async () => {
    await bare.stop()
    rmSync(empty.folder, { recursive: true, force: true })
  })
  const { page, broken, close } = await openPage(browser, bare, '/runs')
  onTestFinished(close)
  for (const path of VIEWS) {
    await page.goto(bare.origin + path)
    await page.locator('.state-title').waitFor()
    await isAccessible(page)
  }
  await page.route('**/api/runs', (route) =>
    route.fulfill({ status: 500, json: { code: 'X', message: 'It broke.', hint: 'Do `this`.' } }),
  )
  await page.goto(`${bare.origin}/runs`)
  await page.getByRole('alert').getByText('It broke.').waitFor()
  await page.unroute('**/api/runs')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Nothing has run here yet').waitFor()
  expect(broken).toEqual([])
})

async function sessionOf(name: string): Promise<string> {
  const { id } = JSON.parse(await demo.stint('view', name, '--json')) as { id: string }
  return id
}

/** Counts the canvas pixels in the colours of the curve and of the smart zone. */
async function countPixels(page: Page): Promise<{ readonly curve: number; readonly zone: number }> {
  return page.evaluate(`(() => {
    const canvas = document.querySelector('canvas')
    const probe = document.body.appendChild(document.createElement('span'))
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    const [curve, zone] = ['--accent', '--good'].map((name) => {
      probe.style.color = 'var(' + name + ')'
      const [red, green, blue] = getComputedStyle(probe).color.match(/\\d+/g).map(Number)
      let count = 0
      for (let at = 0; at < data.length; at += 4)
        if (data[at] === red && data[at + 1] === green && data[at + 2] === blue && data[at + 3] === 255) count += 1
      return count
    })
    probe.remove()
    return { curve, zone }
  })()`)
}

/** Forty requests that fill a context, with a compaction on the way. */
function curved(): readonly HistoryItem[] {
  const start = Date.now() - 40 * 60_000
  const at = (index: number): string => new Date(start + index * 60_000).toISOString()
  const items: HistoryItem[] = [
    { type: 'began', conversation: CURVED, harness: 'claude', at: at(0), model: 'claude-nobody-1' },
  ]
  for (let index = 0; index < 40; index += 1) {
    const cacheRead = 20_000 + (index % 30) * 4_600
    if (index === 30)
      items.push({
        type: 'compaction',
        id: 'boundary',
        at: at(index),
        trigger: 'auto',
        tokensBefore: 157_000,
      })
    items.push(
      {
        type: 'message',
        id: `u${index}`,
        at: at(index),
        role: 'user',
        parts: [{ type: 'text', text: `Question ${index}` }],
      },
      {
        type: 'message',
        id: `a${index}`,
        at: at(index),
        role: 'assistant',
        model: 'claude-nobody-1',
        request: `r${index}`,
        usage: { input: 10, cacheWritten: 400, cacheRead, output: 300 },
        parts: [{ type: 'text', text: `Answer ${index}` }],
      },
    )
  }
  return items
}
