import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { planInstall, planUninstall } from '../../src/harness/claude/setup/install.ts'
import { applyPlan } from '../../src/harness/setup/plan.ts'
import { scratchFolder } from '../support/scratch.ts'

const OPTIONS = {
  scope: 'local',
  notify: false,
  instructions: false,
  statusLine: true,
  tokenEfficientTools: false,
  mcp: 'no',
} as const

function project() {
  const root = scratchFolder()
  const environment = {
    root,
    gitCommonDir: undefined,
    env: { HOME: root, STINT_STATE_HOME: join(root, 'state') },
  }
  mkdirSync(join(root, '.claude'))
  return { around: environment, settings: join(root, '.claude', 'settings.local.json') }
}

describe('settings that the harness writes during a setup', () => {
  test.each(['{"a":1}', undefined])('are not overwritten: %j', async (before) => {
    const { around: environment, settings } = project()
    if (before !== undefined) writeFileSync(settings, before)
    const plan = await planInstall(OPTIONS, environment, undefined)
    writeFileSync(settings, '{"theirs":1}')
    expect(() => applyPlan(plan)).toThrow(/was changed by another program just now/)
    expect(readFileSync(settings, 'utf8')).toBe('{"theirs":1}')
  })

  test('can be set up, and restored, right after', async () => {
    const { around: environment, settings } = project()
    const plan = await planInstall(OPTIONS, environment, undefined)
    writeFileSync(settings, '{"theirs":1}')
    expect(() => applyPlan(plan)).toThrow()
    applyPlan(await planInstall(OPTIONS, environment, undefined))
    expect(JSON.parse(readFileSync(settings, 'utf8'))).toMatchObject({ theirs: 1, hooks: {} })
    applyPlan(await planUninstall('local', environment))
    expect(readFileSync(settings, 'utf8')).toBe('{"theirs":1}')
    expect(readdirSync(join(environment.root, '.claude'))).toEqual(['settings.local.json'])
  })
})
