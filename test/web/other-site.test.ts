// Another site in the same browser, beside the open page and its cookie, gets no access.
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser, BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchBrowser } from '../support/browser.ts'
import { type Served, freePort, serve } from '../support/serve.ts'
import { type PageWorld, pageWorld } from './page-world.ts'

const ATTEMPTS = readFileSync(join(import.meta.dirname, '..', 'fixtures', 'other-site.js'), 'utf8')

let world: PageWorld
let served: Served
let browser: Browser
let context: BrowserContext
let other: Server
let port: number

beforeAll(async () => {
  ;[world, browser] = await Promise.all([pageWorld(), launchBrowser()])
  served = await serve(world.root, world.env, '--port', await freePort())
  other = createServer((_, answer) =>
    answer.setHeader('Content-Type', 'text/html').end('<!doctype html><title>other</title>'),
  )
  other.listen(0)
  await once(other, 'listening')
  ;({ port } = other.address() as AddressInfo)
  context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(served.url)
  expect(await page.evaluate(async () => (await fetch('/api/tasks')).status)).toBe(200)
})

afterAll(async () => {
  await browser.close()
  await served.stop()
  other.close()
  rmSync(world.folder, { recursive: true, force: true })
})

test.each(['127.0.0.1', 'localhost'])(
  'a page of another site on %s can read, follow and change nothing',
  async (host) => {
    const page = await context.newPage()
    await page.goto(`http://${host}:${port}/`)
    const results = (await page.evaluate(
      `${ATTEMPTS}; globalThis.tried(${JSON.stringify(served.origin)})`,
    )) as Readonly<Record<string, string>>
    expect(new Set(Object.values(results)), JSON.stringify(results)).toEqual(new Set(['nothing']))
    await page.close()
    const own = await context.newPage()
    await own.goto(`${served.origin}/`)
    const tasks = await own.evaluate(async () => (await fetch('/api/tasks')).text())
    expect(tasks).not.toMatch(/by another site|by a form/)
    await own.close()
  },
)
