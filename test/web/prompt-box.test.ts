// The prompt box in a real browser with a real server: a scripted agent answers, asks for permission and is interrupted, while the page is
// reloaded and the server killed.
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { launchBrowser } from '../support/browser.ts'
import { type Served, serve } from '../support/serve.ts'
import { type DemoProject, emptyProject } from './demo-project.ts'
import { isAccessible, openPage } from './open-page.ts'

const SCRIPT = `default:
  - - say: "I look **first**. <img src=x onerror=alert(1)>"
    - run: echo looked
    - usage: 30000
    - ask: touch allowed.txt
    - ask: touch refused.txt
    - say: That is all.
`
const LONG = `default:
  - - say: I begin.
    - ask: touch waits.txt
    - say: I go on.
    - run: echo on
    - say: And on and on
    - hang: true
`

let demo: DemoProject
let served: Served
let browser: Browser

beforeAll(async () => {
  demo = emptyProject()
  await demo.stint('init', '--name', 'fix-sweep-bug', '--goal', 'Fix the race')
  demo.env.STINT_REHEARSAL_SCRIPT = join(demo.folder, 'script.yml')
  setScript(SCRIPT)
  ;[served, browser] = await Promise.all([serve(demo.root, demo.env), launchBrowser()])
})

afterAll(async () => {
  await browser?.close()
  await served?.stop()
  rmSync(demo.folder, { recursive: true, force: true })
})

async function openSession(): Promise<Page> {
  const { id } = JSON.parse(await demo.stint('view', 'fix-sweep-bug', '--json')) as { id: string }
  const { page, broken, close } = await openPage(browser, served, `/s/${id}`)
  onTestFinished(async () => {
    await close()
    expect(broken).toEqual([])
  })
  return page
}

/** The server reads the script when the agent starts. */
function setScript(script: string): void {
  writeFileSync(demo.env.STINT_REHEARSAL_SCRIPT!, script)
}

async function send(page: Page, text: string, script: string): Promise<void> {
  setScript(script)
  await page.getByLabel('Harness').selectOption('rehearsal')
  await page.getByLabel('Where', { exact: true }).selectOption('fresh')
  await page.getByLabel('Prompt', { exact: true }).fill(text)
  await page.getByLabel('Prompt', { exact: true }).press('Control+Enter')
}

/** Cuts the page's event connection like a network failure, and blocks new ones. */
async function cutOff(page: Page): Promise<{ mend(): Promise<void> }> {
  await page.route('**/api/events', (route) => route.abort())
  await page.evaluate(
    'for (const source of sources) { source.close(); source.dispatchEvent(new Event("error")) }',
  )
  await page.getByText('Reconnecting').waitFor()
  return { mend: () => page.unroute('**/api/events') }
}

const log = (page: Page) => page.getByRole('log', { name: 'The answer' })

test('streams the answer with tools folded, and obeys allowed and refused permissions', async () => {
  const page = await openSession()
  await send(page, 'Look at it', SCRIPT)
  await log(page).locator('.permission[data-open=true]', { hasText: 'touch allowed.txt' }).waitFor()
  await isAccessible(page)
  await page.getByRole('button', { name: 'Allow', exact: true }).click()
  const second = log(page).locator('.permission', { hasText: 'touch refused.txt' })
  await second.getByRole('button', { name: 'Refuse' }).click()
  await second.getByText('refused', { exact: true }).waitFor()
  await log(page).locator('.answer-end', { hasText: 'completed' }).waitFor()
  expect(await log(page).locator('strong', { hasText: 'first' }).count()).toBe(1)
  await log(page).getByText('<img src=x onerror=alert(1)>').waitFor()
  expect(await log(page).locator('img').count()).toBe(0)
  expect(existsSync(join(demo.root, 'allowed.txt'))).toBe(true)
  expect(existsSync(join(demo.root, 'refused.txt'))).toBe(false)
  const tool = log(page).locator('details', { hasText: 'echo looked' })
  expect(await tool.getAttribute('open')).toBeNull()
  await tool.locator('summary').click()
  await tool.locator('pre').getByText('looked', { exact: false }).waitFor()
  expect(await log(page).locator('.said').allInnerTexts()).toEqual([
    'I look first. <img src=x onerror=alert(1)>',
    'That is all.',
  ])
  // The context usage arrives meanwhile and is drawn beside the answer.
  await expect
    .poll(() => page.getByRole('img', { name: /Tokens in the context/ }).getAttribute('aria-label'))
    .toContain('50k at most')
  await page.getByText('25% of the way to compaction at 200k').waitFor()
  await page.getByRole('button', { name: 'Put the answer away' }).click()
  await log(page).waitFor({ state: 'detached' })
})

test('keeps following the answer after a reload, on another page and after a lost connection', async () => {
  const page = await openSession()
  await page.addInitScript(
    'sources = []; EventSource = class extends EventSource { constructor(at) { super(at); sources.push(this) } }',
  )
  await send(page, 'Take your time', LONG)
  await page.getByRole('button', { name: 'Allow', exact: true }).waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Allow', exact: true }).waitFor()
  expect(await log(page).locator('.said').allInnerTexts()).toEqual(['I begin.'])
  expect(await log(page).getByText('Take your time').count()).toBe(1)

  // Events missed during the outage are shown afterwards, once.
  const cut = await cutOff(page)
  const other = await openSession()
  await log(other).getByText('Take your time').waitFor()
  await other.getByRole('button', { name: 'Allow', exact: true }).click()
  await expect.poll(() => existsSync(join(demo.root, 'waits.txt'))).toBe(true)
  expect(await log(page).locator('.said').allInnerTexts()).toEqual(['I begin.'])
  await cut.mend()
  await log(page).getByText('I go on.').waitFor()
  // An incomplete message grows.
  await log(page).locator('.said[data-growing]', { hasText: 'And on and' }).waitFor()
  expect(await log(page).locator('.said').allInnerTexts()).toEqual([
    'I begin.',
    'I go on.',
    expect.stringContaining('And on and'),
  ])
  expect(await log(page).locator('.permission').count()).toBe(1)

  await page.getByRole('button', { name: 'Interrupt' }).click()
  await log(page).locator('.answer-end', { hasText: 'interrupted' }).waitFor()
  expect(await page.getByRole('button', { name: 'Interrupt' }).count()).toBe(0)
})

test('reports a prompt lost with a killed server, and sends the next one to the new server', async () => {
  const page = await openSession()
  await send(page, 'Take your time', LONG)
  await page.getByRole('button', { name: 'Allow', exact: true }).waitFor()
  await served.stop('SIGKILL')
  await page.getByText('Reconnecting').waitFor()
  served = await serve(demo.root, demo.env, '--port', new URL(served.url).port)
  await log(page).getByText('no longer knows this prompt').waitFor()
  expect(await page.getByRole('button', { name: 'Allow', exact: true }).count()).toBe(0)
  await send(page, 'Once more', SCRIPT)
  await log(page).locator('.permission[data-open=true]', { hasText: 'touch allowed.txt' }).waitFor()
  await page.getByRole('button', { name: 'Interrupt' }).click()
  await log(page).locator('.answer-end').waitFor()
})

test('starts a new session from the session list, and shows why it cannot send', async () => {
  const { page, close } = await openPage(browser, served, '/')
  onTestFinished(close)
  await page.getByLabel('Harness').selectOption('rehearsal')
  await page.getByLabel('Where', { exact: true }).selectOption('new')
  await page.getByLabel('Prompt', { exact: true }).fill('Begin something')
  setScript('sing: loudly\n')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('alert').getByText('script.yml').waitFor()
  setScript(SCRIPT)
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('button', { name: 'Refuse' }).click()
  await expect.poll(() => demo.stint('list')).toMatch(/begin-something/i)
  await page.getByRole('button', { name: 'Interrupt' }).click()
  await log(page).locator('.answer-end').waitFor()
})
