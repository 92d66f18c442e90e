// A page in the real browser, and what must be true of every view.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Served } from '../support/serve.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export interface OpenedPage {
  readonly width?: number
  readonly scheme?: 'light' | 'dark'
}

/** Opens an authorised page at a path. Errors in it fail the test that checks `broken`. */
export async function openPage(
  browser: Browser,
  served: Served,
  path: string,
  { width = 1280, scheme = 'light' }: OpenedPage = {},
) {
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme: scheme,
    bypassCSP: false,
  })
  const page = await context.newPage()
  const broken: string[] = []
  page.on('pageerror', (error) => broken.push(error.message))
  page.on('request', (request) => {
    if (!request.url().startsWith(served.origin) && !request.url().startsWith('data:'))
      broken.push(`asked ${request.url()}`)
  })
  await page.goto(served.url)
  await page.goto(served.origin + path)
  return { page, broken, close: () => context.close() }
}

/** The axe violations of the current page. Run through the browser's inspector, so that the page's CSP stays in force. */
export async function isAccessible(page: Page): Promise<void> {
  await page.evaluate(axe)
  const found = await page.evaluate(async () => {
    const { axe: checker } = globalThis as unknown as {
      axe: {
        run(): Promise<{
          violations: { id: string; nodes: { html: string; failureSummary: string }[] }[]
        }>
      }
    }
    const { violations } = await checker.run()
    return violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`,
    )
  })
  expect(found).toEqual([])
}

export async function fitsItsWidth(page: Page): Promise<void> {
  expect(
    await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
  ).toBeLessThanOrEqual(0)
}
