// Another user of this machine reads the list of processes while `stint serve --open` starts a browser.
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { launchBrowser } from '../support/browser.ts'
import { terminal } from '../support/cli.ts'
import { freePort, serve } from '../support/serve.ts'

let browser: Browser
beforeAll(async () => {
  browser = await launchBrowser()
})
afterAll(() => browser?.close())

/** A project in which starting the browser only records its command line. */
function projectWithRecordedBrowser() {
  const world = terminal()
  const bin = join(world.folder, 'bin')
  const record = join(world.folder, 'command-line')
  mkdirSync(bin)
  for (const name of ['xdg-open', 'open']) {
    writeFileSync(
      join(bin, name),
      `#!/bin/sh\nprintf '%s\\n' "$@" > '${record}.new'\nmv '${record}.new' '${record}'\n`,
    )
    chmodSync(join(bin, name), 0o755)
  }
  const env = { ...world.env, STINT_SERVE_TOKEN: '', PATH: `${bin}:${world.env.PATH}` }
  return { ...world, env, record }
}

async function until(isTrue: () => boolean) {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 20))
}

test('serve --open puts no token on a command line, only the path of a file for this user', async () => {
  const world = projectWithRecordedBrowser()
  const served = await serve(world.cwd, world.env, '--open', '--port', await freePort())
  onTestFinished(() => served.stop('SIGKILL'))
  await until(() => existsSync(world.record))
  const path = readFileSync(world.record, 'utf8').trim()
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const page = readFileSync(path, 'utf8')
  const oneTime = /token=([\w.-]+)/.exec(page)![1]!
  expect(path).not.toContain(oneTime)
  const { token } = JSON.parse(readFileSync(path.replace(/\.html$/, '.json'), 'utf8')) as {
    token: string
  }
  // The token of the server itself is in none of them: it opens everything for as long as the server runs.
  expect([path, page, served.url].filter((text) => text.includes(token))).toEqual([])

  const context = await browser.newContext()
  const tab = await context.newPage()
  await tab.goto(pathToFileURL(path).href)
  await tab.waitForURL(`${served.origin}/`)
  await tab.waitForSelector('nav')
  const [cookie] = await context.cookies()
  expect(cookie).toMatchObject({ value: token, httpOnly: true, sameSite: 'Strict' })
  expect(existsSync(path)).toBe(false)

  // Whoever copied the file in time is too late.
  const thief = await fetch(`${served.origin}/?token=${oneTime}`, { redirect: 'manual' })
  expect([thief.status, thief.headers.get('set-cookie')]).toEqual([401, null])
  await context.close()
})

test('the file of serve --open is removed when the server ends unused', async () => {
  const world = projectWithRecordedBrowser()
  const served = await serve(world.cwd, world.env, '--open', '--port', await freePort())
  await until(() => existsSync(world.record))
  const path = readFileSync(world.record, 'utf8').trim()
  expect(existsSync(path)).toBe(true)
  await served.stop()
  expect(existsSync(path)).toBe(false)
})

test('serve takes no token on its own command line', async () => {
  const world = terminal()
  expect((await world.stint('serve', '--token', 'a-token-of-my-own')).exitCode).toBe(2)
})
