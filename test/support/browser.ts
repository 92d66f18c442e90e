// A real browser, from npm alone. It is packed; it is unpacked once for all who want it.
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

/** With its usual protections: the flags that come with the package would switch off what keeps sites apart. */
export async function launchBrowser(): Promise<Browser> {
  const folder = await unpacked()
  return playwright.launch({
    executablePath: join(folder, 'chromium'),
    args: ['--no-sandbox', '--disable-gpu', '--font-render-hinting=none'],
    env: { ...process.env, FONTCONFIG_FILE: join(folder, 'fonts.conf'), HOME: folder },
  })
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
  // Its own fonts, for machines that have none, behind those of the machine.
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
    // Somebody else was first; theirs is as good.
    if (!existsSync(place)) throw error
    rmSync(mine, { recursive: true, force: true })
  }
  return place
}
