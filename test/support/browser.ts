// A real browser from an npm package, which is unpacked once for all tests.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import chromium from '@sparticuz/chromium'
import { type Browser, chromium as playwright } from 'playwright-core'

const modules = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), 'node_modules')

/** A busy machine may take long for anything, and a test ends at its own limit just after this. */
const PATIENCE_MS = 170_000

/** With the usual protections: the package's own flags would disable site isolation. */
export async function launchBrowser(): Promise<Browser> {
  const folder = await unpacked()
  const browser = await playwright.launch({
    timeout: PATIENCE_MS,
    executablePath: join(folder, 'chromium'),
    args: ['--no-sandbox', '--disable-gpu', '--font-render-hinting=none'],
    env: { ...process.env, FONTCONFIG_FILE: join(folder, 'fonts.conf'), HOME: folder },
  })
  const newContext = browser.newContext.bind(browser)
  browser.newContext = async (options) => {
    const context = await newContext(options)
    context.setDefaultTimeout(PATIENCE_MS)
    return context
  }
  return browser
}

async function unpacked(): Promise<string> {
  const { version } = JSON.parse(
    readFileSync(join(modules, '@sparticuz', 'chromium', 'package.json'), 'utf8'),
  ) as {
    version: string
  }
  const caches = join(modules, '.cache')
  const place = join(caches, `chromium-${version}`)
  if (existsSync(place)) return place
  mkdirSync(caches, { recursive: true })
  const mine = mkdtempSync(`${place}-`)
  const before = process.env.TMPDIR
  process.env.TMPDIR = mine
  try {
    await chromium.executablePath()
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
  // The package's fonts, as a fallback for machines without fonts.
  const folders = ['/usr/share/fonts', join(place, 'fonts')]
    .map((folder) => `<dir>${folder}</dir>`)
    .join('')
  writeFileSync(
    join(mine, 'fonts.conf'),
    `<fontconfig>${folders}<cachedir>${join(place, 'fonts-cache')}</cachedir></fontconfig>\n`,
  )
  try {
    renameSync(mine, place)
  } catch (error) {
    // Another process was first.
    if (!existsSync(place)) throw error
    rmSync(mine, { recursive: true, force: true })
  }
  return place
}
