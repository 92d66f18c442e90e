import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { conversationStore } from '../../src/history/store.ts'
import { mintId } from '../../src/journal/ids.ts'
import { encodeRecord } from '../../src/journal/record.ts'
import type { LedgerReport } from '../../src/serve/contract.ts'
import { launchBrowser } from '../support/browser.ts'
import { type Served, serve } from '../support/serve.ts'
import { type DemoProject, emptyProject } from './demo-project.ts'
import { type PageWorld, conversationOf, message, pageWorld } from './page-world.ts'

const EVIL = [
  `<script>top.pwned=1</script>`,
  `<img src=x onerror="top.pwned=1">`,
  `<svg/onload=top.pwned=1>`,
  `[click](javascript:top.pwned=1)`,
  `"><iframe srcdoc="<script>top.pwned=1</script>"></iframe>`,
  '\u202Egnp.exe\u2066',
  `{{constructor.constructor('top.pwned=1')()}}`,
].join(' ')
const PLAIN_END = `{{constructor.constructor('top.pwned=1')()}}`
const CONVERSATION = '0a1b2c3d-0000-4000-8000-00000000000e'

let world: DemoProject & { readonly session: string }
let calm: PageWorld
let servers: Served[] = []
let browser: Browser
let context: BrowserContext
let page: Page
/** What a page did that no text may cause. */
const violations: string[] = []

beforeAll(async () => {
  ;[world, calm, browser] = await Promise.all([hostileWorld(), pageWorld(), launchBrowser()])
  servers = await Promise.all([serve(world.root, world.env), serve(calm.root, calm.env)])
  context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  page = await context.newPage()
  page.on('pageerror', (error) => violations.push(`failed: ${error}`))
  page.on('dialog', (dialog) => violations.push(`asked: ${dialog.message()}`))
  // A CSP violation means that a text became markup.
  page.on(
    'console',
    (message) =>
      message.text().includes('Content Security Policy') && violations.push(message.text()),
  )
  context.on('request', (request) => {
    const { origin } = new URL(request.url())
    if (
      !servers.some((served) => served.origin === origin) &&
      !request.url().startsWith('data:image/png')
    )
      violations.push(`asked for ${request.url()}`)
  })
  // Sessions cannot have such names; tasks of other tools might.
  await page.route('**/api/ledger?*', async (route) => {
    const answer = await route.fetch()
    const { whole, rows, days } = (await answer.json()) as LedgerReport
    await route.fulfill({
      json: {
        whole: { ...whole, name: EVIL },
        rows: rows.map((row) => ({ ...row, name: EVIL })),
        days,
      },
    })
  })
  for (const served of servers) await page.goto(served.url)
})

afterAll(async () => {
  await browser.close()
  for (const served of servers) await served.stop()
  for (const { folder } of [world, calm]) rmSync(folder, { recursive: true, force: true })
})

/** A project with markup in every field, written without the usual cleaning. */
async function hostileWorld() {
  const demo = emptyProject()
  await demo.stint('init', '--name', 'hostile', '--goal', 'Be shown as text')
  const session = (JSON.parse(await demo.stint('view', '--json')) as { id: string }).id
  let id: string | undefined
  const line = (kind: string, data: Record<string, unknown>) => {
    id = mintId(id)
    return encodeRecord({ id, at: '2027-01-01T00:00:00.000Z', kind, by: EVIL, data })
  }
  appendFileSync(
    join(demo.root, '.sessions', 'journal', session, 'log.jsonl'),
    Buffer.concat([
      line('session.titled', { title: EVIL }),
      line('goal.set', { text: EVIL }),
      line('tldr.written', { text: EVIL }),
      line('git.observed', { git: { branch: EVIL } }),
      line('step.added', { text: EVIL }),
      line('next.added', { text: EVIL }),
      line('decision.made', {
        title: EVIL,
        context: EVIL,
        options: EVIL,
        choice: EVIL,
        rationale: EVIL,
        whose: EVIL,
      }),
      line('discovery.made', { text: EVIL }),
      line('gotcha.found', { text: EVIL }),
      line('blocker.raised', { text: EVIL }),
      line('key.added', { text: EVIL }),
      line('file.noted', { path: EVIL, description: EVIL }),
      line('note.added', { text: EVIL }),
      line('section.written', { title: EVIL, body: EVIL, after: 'title' }),
      line('task.linked', { task: EVIL }),
      line('conversation.joined', { conversation: CONVERSATION, harness: EVIL, source: EVIL }),
      line('request.made', { text: EVIL, conversation: CONVERSATION }),
      line(`strange.${EVIL}`, { [EVIL]: EVIL, text: EVIL }),
      line('note.added', { text: `begin ${'x'.repeat(1024 * 1024)} end` }),
    ]),
  )
  const items = conversationOf(
    (at) => ({
      type: 'began',
      conversation: CONVERSATION,
      harness: EVIL,
      at,
      cwd: EVIL,
      model: EVIL,
      forkOf: EVIL,
    }),
    message('user', EVIL),
    message('system', EVIL),
    message('user', EVIL, { isMeta: true, agent: EVIL }),
    message(
      'assistant',
      [
        { type: 'thinking', text: EVIL },
        {
          type: 'text',
          text: `# ${EVIL}\n\n- ${EVIL}\n\n> ${EVIL}\n\n| ${EVIL.replaceAll('|', '')} | b |\n|---|---|\n| ${EVIL} | c |\n\n\`\`\`${EVIL}\n${EVIL}\n\`\`\``,
        },
        {
          type: 'tool use',
          id: 't1',
          name: EVIL,
          input: { [EVIL]: EVIL, command: EVIL, deep: { [EVIL]: [EVIL] } },
        },
        {
          type: 'image',
          mediaType: 'image/svg+xml',
          data: Buffer.from('<svg onload="top.pwned=1"/>').toString('base64'),
        },
        { type: 'image', mediaType: 'image/png', data: `x" onerror="top.pwned=1` },
        { type: 'image link', url: 'https://outside.invalid/pixel.png' },
        { type: 'other', block: { type: EVIL } },
      ],
      { model: EVIL, isFailure: true },
    ),
    message('user', [
      { type: 'tool result', use: 't1', isError: true, parts: [{ type: 'text', text: EVIL }] },
    ]),
    (at, itemId) => ({ type: 'compaction', id: itemId, at, trigger: EVIL }),
    message('assistant', `begin ${'y'.repeat(1024 * 1024)} end`),
    (at) => ({ type: 'ended', at, reason: EVIL }),
  )
  conversationStore(join(demo.root, '.sessions'), {}).append(CONVERSATION, items)
  return { ...demo, session }
}

async function expectHarmless(): Promise<void> {
  expect(await page.evaluate('top.pwned')).toBeUndefined()
  expect(
    await page
      .locator(
        'main :is(script, iframe, object, embed, svg, style, link, base, meta, form[action])',
      )
      .count(),
  ).toBe(0)
  expect(await page.locator('main img:not(.picture)').count()).toBe(0)
  expect(
    await page.evaluate(`[...document.querySelectorAll('main *')].filter((element) =>
    [...element.attributes].some(({ name, value }) => name.startsWith('on') || /^\\s*javascript:/i.test(value))).length`),
  ).toBe(0)
  expect(violations).toEqual([])
}

describe('hostile text', () => {
  test.each([
    ['in the list of sessions', () => '/', '.session-title'],
    [
      'in a journal',
      () => `/s/${world.session}?kinds=decisions,findings,blockers,steps,requests,tasks`,
      '.entry-text',
    ],
    ['in the overview of a session', () => `/s/${world.session}`, '.session-aside .facts'],
    ['in the head of a session', () => `/s/${world.session}`, '.session-head h1'],
    ['in a document', () => `/s/${world.session}?tab=document`, '.document'],
    ['in the list of conversations', () => `/s/${world.session}?tab=conversations`, '.line'],
    ['in a conversation', () => `/c/${CONVERSATION}`, '.item[data-speaker=you]'],
    ['in search results', () => '/search?q=pwned', '.hit'],
    ['in the ledger', () => '/ledger', '.row-link'],
    ['in the ledger of a session', () => `/ledger?session=${world.session}`, 'h1'],
  ] as readonly (readonly [string, () => string, string])[])(
    '%s is shown as text and does nothing',
    async (_, path, where) => {
      await page.goto(servers[0]!.origin + path())
      await expect.poll(() => page.locator(where).first().textContent()).toContain('<script>')
      await page.mouse.move(700, 400)
      await expectHarmless()
    },
  )

  test('in an unfolded block is shown as text and does nothing', async () => {
    await page.goto(`${servers[0]!.origin}/c/${CONVERSATION}`)
    const item = page.locator('.item', { hasText: 'A picture that cannot be shown' })
    await item.waitFor()
    await page.keyboard.press('e')
    await expect.poll(() => item.locator('.fold-body').last().textContent()).toContain(PLAIN_END)
    expect(await page.locator('img').count()).toBe(0)
    await expectHarmless()
  })

  test('that would reverse the text around it is shown by code point', async () => {
    await page.goto(`${servers[0]!.origin}/c/${CONVERSATION}`)
    const item = page.locator('.item[data-speaker=you]').first()
    await item.waitFor()
    expect(await item.locator('.unseen').allTextContents()).toEqual(['U+202E', 'U+2066'])
  })

  test('of a megabyte in one line is shown from its start, and more on request', async () => {
    await page.goto(`${servers[0]!.origin}/s/${world.session}`)
    const long = page.locator('.entry', { hasText: 'begin xxx' })
    await long.waitFor()
    expect((await long.textContent())!.length).toBeLessThan(5000)
    await long.getByRole('button', { name: /Show more \(1023 KB left\)/ }).click()
    await expect.poll(async () => (await long.textContent())!.length).toBeGreaterThan(40_000)
    await page.goto(`${servers[0]!.origin}/c/${CONVERSATION}`)
    await page.locator('.item').first().waitFor()
    await page.keyboard.press('G')
    const item = page.locator('.item', { hasText: 'begin yyy' })
    await item.waitFor()
    expect((await item.textContent())!.length).toBeLessThan(20_000)
    await expectHarmless()
  })
})

describe('accessibility', () => {
  test.each(['light', 'dark'] as const)('passes in the %s theme', async (scheme) => {
    await page.emulateMedia({ colorScheme: scheme })
    const found: string[] = []
    // Only the colours differ between the two.
    const rules = scheme === 'light' ? '' : `runOnly: ['color-contrast']`
    for (const [width, path, ready] of [
      [1280, '/', '.session-title'],
      [1280, '/?text=nowhere', '.state-title'],
      [1280, `/s/${calm.session}`, '.entry'],
      [1280, `/s/${calm.session}?tab=document`, '.document'],
      [1280, `/s/${calm.session}?tab=conversations`, '.line'],
      [1280, `/c/${calm.conversation}`, '.item'],
      [1280, '/search?q=race', '.hit'],
      [1280, '/s/nothing', '[role=alert]'],
      [390, `/s/${calm.session}?tab=overview`, '.overview'],
      [390, '/', '.session-title'],
    ] as const) {
      await page.setViewportSize({ width, height: 800 })
      await page.goto(servers[1]!.origin + path)
      await page.locator(ready).first().waitFor()
      if (path.startsWith('/c/')) await page.keyboard.press('e')
      await page.evaluate(axe.source)
      const problems = await page.evaluate<
        string[]
      >(`axe.run(document, { resultTypes: ['violations'], ${rules} }).then(({ violations }) =>
        violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`)
      found.push(...problems.map((problem) => `${path} ${problem}`))
    }
    await page.setViewportSize({ width: 1280, height: 800 })
    expect(found).toEqual([])
  })

  test('passes for the help dialog', async () => {
    await page.goto(servers[1]!.origin)
    // A page handles keys once it is rendered.
    await page.locator('.session-title').first().waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
    await page.evaluate(axe.source)
    expect(
      await page.evaluate(
        `axe.run(document).then(({ violations }) => violations.map(({ id }) => id))`,
      ),
    ).toEqual([])
  })
})
