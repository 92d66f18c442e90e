import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Sensitivity, Study } from '../../src/cli/study/study.ts'
import { terminal } from '../support/cli.ts'
import { measuredRates } from '../../src/cli/study/measured-rates.ts'

const FEW = ['--sessions', '500']

describe('stint simulate', () => {
  test('shows every arm, the origin of its figures, and the bound of each rate', async () => {
    const { stint } = terminal({ git: false })
    const ran = await stint('simulate', ...FEW, '--seed', '7')
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
    expect(ran.stdout).toContain('500 sessions, seed 7')
    expect(ran.stdout).toMatch(/none +session\.json +enhanced log +plan once +stint\n/)
    expect(ran.stdout).toMatch(/stale after a kill +0 of 1,000 +≤ 0\.300 % +155 of 200\n/)
    expect(ran.stdout).toMatch(/stale +0 +\d+ +0 +\d+ +≤ \d+\n/)
    expect(ran.stdout).toMatch(/success .*≥ \d\d\.\d %\n/)
    expect(ran.stdout).toContain(
      `Measured on ${measuredRates.at.slice(0, 10)} with Stint ${measuredRates.version}, ${measuredRates.machine}.`,
    )
    expect(ran.stdout).toContain(
      'above 3 do not implement, above 1.5 marginal, above 0.8 optional, else consider',
    )
  })

  test('draws the same sessions for the same seed, and others for another', async () => {
    const { stint } = terminal({ git: false })
    const drawn = async (...args: string[]) =>
      (await stint('simulate', ...FEW, '--json', ...args)).json<Study>().arms
    expect(await drawn()).toEqual(await drawn('--seed', '42'))
    expect(await drawn('--seed', '43')).not.toEqual(await drawn())
  })

  test('prints the study and its sensitivity with --json', async () => {
    const { stint } = terminal({ git: false })
    const study = (await stint('simulate', '--quick', '--json')).json<
      Study & { sensitivity: Sensitivity }
    >()
    expect(study).toMatchObject({ sessions: 10_000, seed: 42, measured: 'shipped' })
    expect(study.arms.map(({ name, basis }) => `${name}: ${basis}`)).toEqual([
      'none: assumed',
      'session-json: assumed',
      'enhanced-log: matrix',
      'plan-once: assumed',
      'stint: measured',
    ])
    expect(
      study.sensitivity.rows.every(({ arms }) => arms.every(({ ratio }) => Number.isFinite(ratio))),
    ).toBe(true)
  })

  test('shows progress on a terminal and removes it at the end', async () => {
    const { run } = terminal({ git: false })
    const { stderr } = await run(['simulate', '--sessions', '20000'], { canAsk: true })
    expect(stderr).toContain('░')
    expect(stderr.endsWith('\r\u001B[K')).toBe(true)
  })

  test.each([
    { args: ['--sessions', '0'], message: 'a number from 1 to 10,000,000' },
    { args: ['--sessions', '1e9'], message: 'a number from 1 to 10,000,000' },
    { args: ['--sessions', 'many'], message: 'many is not a whole number' },
    { args: ['--sessions', '-5'], message: 'whole number' },
    { args: ['--seed', '0.5'], message: '0.5 is not a whole number' },
    { args: ['--seed', '9007199254740992'], message: 'below 2^53' },
    { args: ['--full', '--quick'], message: 'give one of them' },
    { args: ['--quick', '--sessions', '5'], message: 'give one of them' },
  ])('refuses $args', async ({ args, message }) => {
    const { stint } = terminal({ git: false })
    const ran = await stint('simulate', ...args)
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' })
    expect(ran.stderr).toContain(message)
  })
})

describe('the HTML report', () => {
  test('is written beside the tables, and may replace an earlier report', async () => {
    const { stint, cwd } = terminal({ git: false })
    const path = join(cwd, 'study.html')
    const ran = await stint('simulate', ...FEW, '--report', 'study.html')
    expect(ran).toMatchObject({ exitCode: 0, stderr: 'stint: the page is study.html\n' })
    const first = readFileSync(path, 'utf8')
    expect(
      (await stint('simulate', ...FEW, '--seed', '3', '--report', path, '--json')).json(),
    ).toMatchObject({ report: path })
    expect(readFileSync(path, 'utf8')).not.toBe(first)
    expect(readdirSync(cwd)).toEqual(['study.html'])
  })

  test('never replaces any other file', async () => {
    const { stint, cwd } = terminal({ git: false })
    writeFileSync(join(cwd, 'mine.html'), '<!doctype html>\n<p>mine</p>\n')
    mkdirSync(join(cwd, 'folder'))
    const refused = async (name: string) => {
      const ran = await stint('simulate', ...FEW, '--report', name)
      expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
      return ran.stderr
    }
    expect(await refused('mine.html')).toContain('was not written by stint simulate')
    expect(readFileSync(join(cwd, 'mine.html'), 'utf8')).toContain('mine')
    expect(await refused('folder')).toContain('is a folder')
    expect(await refused('not-there/study.html')).toContain('there is no folder')
  })
})
