import { pathToFileURL } from 'node:url'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Sensitivity, Study } from '../../src/cli/study/study.ts'
import { reportPage, writeReport } from '../../src/cli/study/report-page.ts'
import { analyseSensitivity } from '../../src/cli/study/study.ts'
import { runStudy } from '../../src/cli/study/study.ts'
import { launchBrowser } from '../support/browser.ts'
import { fitsItsWidth, isAccessible } from '../web/open-page.ts'
import { anyMeasurement } from './any-measurement.ts'

const folder = mkdtempSync(join(tmpdir(), 'stint-report-'))
const path = join(folder, 'study.html')
let study: Study
let sensitivity: Sensitivity
let browser: Browser

beforeAll(async () => {
  study = await runStudy({
    sessions: 1000,
    seed: 42,
    measurement: anyMeasurement(),
  })
  sensitivity = await analyseSensitivity(study)
  writeReport(path, study, sensitivity)
  browser = await launchBrowser()
})
afterAll(async () => {
  await browser.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('the page of the study', () => {
  test.each([
    { scheme: 'light', width: 1280 },
    { scheme: 'dark', width: 360 },
  ] as const)(
    'is accessible, fits and makes no request, $scheme and $width wide',
    async ({ scheme, width }) => {
      const context = await browser.newContext({
        viewport: { width, height: 800 },
        colorScheme: scheme,
      })
      const page = await context.newPage()
      const asked: string[] = []
      page.on('request', (request) => asked.push(request.url()))
      await page.goto(pathToFileURL(path).href)
      await isAccessible(page)
      await fitsItsWidth(page)
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(
        scheme === 'light' ? 'rgb(250, 250, 248)' : 'rgb(19, 20, 23)',
      )
      expect(asked).toEqual([pathToFileURL(path).href])
      await context.close()
    },
  )

  test('draws nothing outside a chart', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    await page.goto(pathToFileURL(path).href)
    const beyond =
      await page.evaluate(`[...document.querySelectorAll('svg.chart')].flatMap((chart) => {
      const { left, right, bottom } = chart.getBoundingClientRect()
      return [...chart.querySelectorAll('*')].flatMap((part) => {
        const box = part.getBoundingClientRect()
        return box.left < left - 1 || box.right > right + 1 || box.bottom > bottom + 1 ? [part.outerHTML] : []
      })
    })`)
    expect(beyond).toEqual([])
    await page.close()
  })

  test('has no script, and escapes measured text', () => {
    const measurement = anyMeasurement({
      machine: '<script>alert(1)</script>\u001B[31m',
      version: '"><img src=x>',
    })
    const hostile = reportPage({ ...study, measurement }, sensitivity)
    for (const part of ['<script', '<img', '\u001B']) expect(hostile).not.toContain(part)
    expect(hostile).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  })
})
