import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { countHere, root } from './count-here.ts'
import { tokensOnPage } from './tokens-on-page.ts'

/** This project grows, so the documented number may be off by a quarter. */
const TOLERANCE = 0.25

/** The sources may come without git history or belong to another user. */
const isRepository =
  spawnSync('git', ['ls-files', '--error-unmatch', 'package.json'], { cwd: root }).status === 0

describe('the context of this project', () => {
  test.skipIf(!isRepository)('has the token count that the docs state', () => {
    const actual = countHere()
    const figures = tokensOnPage()
    const isNear = (figure: number, measured: number) =>
      Math.abs(figure - measured) <= TOLERANCE * measured
    expect([
      isNear(figures.context, actual.context),
      isNear(figures.condensed, actual.condensed),
      actual,
    ]).toEqual([true, true, actual])
  })
})
