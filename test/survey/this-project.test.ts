import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { countHere, root } from './count-here.ts'
import { saidOnPage } from './said-on-page.ts'

/** The files of this project grow; a figure is wrong when it is a quarter off. */
const TOLERANCE = 0.25

/** The sources may come without their history, or belong to somebody else. */
const isRepository =
  spawnSync('git', ['ls-files', '--error-unmatch', 'package.json'], { cwd: root }).status === 0

describe('the context of this project', () => {
  test.skipIf(!isRepository)('takes as many tokens, of as many, as the docs say', () => {
    const actual = countHere()
    const figures = saidOnPage()
    const isNear = (figure: number, measured: number) =>
      Math.abs(figure - measured) <= TOLERANCE * measured
    expect([
      isNear(figures.context, actual.context),
      isNear(figures.condensed, actual.condensed),
      actual,
    ]).toEqual([true, true, actual])
  })
})
