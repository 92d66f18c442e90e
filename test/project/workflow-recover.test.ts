import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { BeginWorkflowOptions } from '../../src/project/workflow/begin.ts'
import { type RecoverOptions, phaseIn } from '../../src/project/workflow/recover.ts'
import { NINE_PHASES, readTemplate } from '../../src/backlog/workflow/templates.ts'
import { type World, gitProject, plainProject } from '../support/project.ts'

const begin = (world: World, more: Partial<BeginWorkflowOptions> = {}) =>
  world.run(async (project) =>
    (await project.workflows()).begin({ id: 'wf-001', name: 'User auth', ...more }),
  )
const phase = (world: World, name: string) =>
  world.run(async (project) =>
    (await project.workflows()).phase({ workflow: 'wf-001', phase: name }),
  )
const approve = (world: World) =>
  world.run(async (project) => (await project.workflows()).approve({ workflow: 'wf-001' }))
const recover = (world: World, more: Partial<RecoverOptions> = {}) =>
  world.run(async (project) => (await project.workflows()).recover({ workflow: 'wf-001', ...more }))
const sessions = (world: World) => world.run(async (project) => [...(await project.list())])

/** Removes everything that Stint wrote, also under the git directory. */
function loseEverything(world: World): void {
  rmSync(world.path('.sessions'), { recursive: true, force: true })
  rmSync(world.path('.git', 'stint'), { recursive: true, force: true })
}

let clock = Date.parse('2030-01-01T00:00:00Z')
function commitAt(world: World, subject: string): string {
  clock += 60_000
  const at = new Date(clock).toISOString()
  const before = {
    author: process.env['GIT_AUTHOR_DATE'],
    committer: process.env['GIT_COMMITTER_DATE'],
  }
  Object.assign(process.env, { GIT_AUTHOR_DATE: at, GIT_COMMITTER_DATE: at })
  try {
    return world.commit(subject)
  } finally {
    for (const [name, value] of [
      ['GIT_AUTHOR_DATE', before.author],
      ['GIT_COMMITTER_DATE', before.committer],
    ] as const) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}

describe('a workflow whose folder was removed', () => {
  test('is restored from the git directory in its phase, and nothing is recreated', async () => {
    const world = gitProject()
    await begin(world)
    await phase(world, '4')
    await approve(world)
    await phase(world, '5b')
    const [before] = await sessions(world)
    rmSync(world.path('.sessions'), { recursive: true })
    const { outcome, because, evidence, overview } = await recover(world)
    expect(outcome).toBe('found')
    expect(because).toContain('.git/stint/journal/')
    expect(evidence[0]).toMatchObject({ source: 'journal', text: 'phase.entered 5b', phase: '5b' })
    expect(overview?.workflow).toMatchObject({
      current: '5b',
      percent: 45,
      approvals: [{ phase: '4' }],
    })
    expect((await sessions(world)).map(({ id }) => id)).toEqual([before!.id])
    expect(world.names('.sessions', 'journal')).toEqual([before!.id])
  })

  test('is found by its original id after a rename', async () => {
    const world = gitProject()
    await begin(world)
    await phase(world, '3')
    await world.view('wf-001')
    world.edit('shortname: wf-001', 'shortname: auth')
    await world.view()
    expect((await sessions(world)).map(({ name }) => name)).toEqual(['auth'])
    const { overview } = await recover(world)
    expect(overview).toMatchObject({ workflow: { id: 'wf-001', current: '3' } })
  })

  test('does not bypass its gates', async () => {
    const world = gitProject()
    await begin(world)
    await expect(recover(world, { phase: '6' })).rejects.toMatchObject({ code: 'GATE_CLOSED' })
    const { overview } = await recover(world, { phase: '3' })
    expect(overview?.workflow.current).toBe('3')
  })
})

describe('a workflow without a journal', () => {
  test('is reopened in the phase that the latest commit names', async () => {
    const world = gitProject()
    commitAt(world, 'wf-001: Phase 2, sketch of the tokens')
    commitAt(world, 'wf-001 phase 5a: login fails without a password')
    commitAt(world, 'Phase 9 of something else')
    commitAt(world, 'wf-0011: Phase 8')
    commitAt(world, 'unrelated work')
    const { outcome, evidence, because, overview } = await recover(world, { name: 'User auth' })
    expect(outcome).toBe('opened')
    expect(because).toContain('wf-001 phase 5a: login fails without a password')
    expect(evidence.filter(({ isNamed }) => isNamed).map((one) => one.phase)).toEqual(['5a', '2'])
    expect(overview).toMatchObject({
      workflow: { id: 'wf-001', name: 'User auth', current: '5a', percent: 28 },
    })
    expect(world.entries('note.added')).toMatchObject([
      { text: expect.stringContaining('Recovered in phase 5a - TDD RED') },
    ])
    expect(world.entries('phase.entered')).toMatchObject([
      { phase: '5a', note: expect.stringContaining('recovered: commit') },
    ])
  })

  test('is inferred from a branch that names it, else from phases without a workflow name', async () => {
    const world = gitProject()
    commitAt(world, 'Phase 3: buttons')
    expect(await recover(world, { dryRun: true })).toMatchObject({
      phase: { id: '3', name: 'UI' },
      because: expect.stringContaining('does not name the workflow'),
    })
    world.git('branch', 'feature/wf-001-phase-6')
    expect(await recover(world, { dryRun: true })).toMatchObject({
      phase: { id: '6' },
      because: expect.stringContaining('branch refs/heads/feature/wf-001-phase-6'),
    })
  })

  test('is inferred from its checkpoints', async () => {
    const world = gitProject()
    await begin(world)
    world.write('design.md', 'half done\n')
    await phase(world, 'design')
    loseEverything(world)
    const { evidence, phase: concluded } = await recover(world)
    expect(concluded.id).toBe('2')
    expect(evidence).toMatchObject([
      { source: 'checkpoint', text: 'stint: Phase 2 - Design (wf-001)' },
    ])
  })

  test("is not inferred from another workflow's checkpoints", async () => {
    const world = gitProject()
    await begin(world, { id: 'wf-002' })
    world.write('design.md', 'half done\n')
    await world.run(async (project) =>
      (await project.workflows()).phase({ workflow: 'wf-002', phase: '3' }),
    )
    loseEverything(world)
    expect(await recover(world, { dryRun: true })).toMatchObject({
      evidence: [],
      phase: { id: '1' },
    })
  })

  test('is inferred from its handoffs and documents', async () => {
    const world = gitProject()
    const folder = world.path(
      '.sessions',
      'journal',
      '019abc12-3456-7def-8901-234567890abc',
      'handoffs',
    )
    mkdirSync(folder, { recursive: true })
    writeFileSync(
      join(folder, '1.md'),
      '# Handoff of wf-001\n\nPhase 5b - TDD GREEN (45% complete)\n\nAfter that comes phase 6.\n',
    )
    writeFileSync(join(folder, '2.md'), '# Handoff of wf-002\n\nPhase 9 - Notify (95% complete)\n')
    utimesSync(join(folder, '1.md'), 1, 1)
    const { evidence, phase: concluded } = await recover(world, { dryRun: true })
    expect(concluded.id).toBe('5b')
    expect(evidence).toMatchObject([
      { source: 'handoff', text: 'Phase 5b - TDD GREEN (45% complete)', phase: '5b' },
    ])
  })

  test('starts in the first phase without evidence, or in the requested one', async () => {
    const world = plainProject()
    expect(await recover(world, { dryRun: true })).toMatchObject({
      evidence: [],
      phase: { id: '1' },
    })
    expect(await sessions(world)).toEqual([])
    const { overview } = await recover(world, { phase: '5', name: 'Feature (recovered)' })
    expect(overview).toMatchObject({ workflow: { name: 'Feature (recovered)', current: '5a' } })
  })

  test('follows the requested template', async () => {
    const world = gitProject()
    world.write('short.yaml', 'phases:\n  - name: Plan\n  - name: Build\n')
    commitAt(world, 'wf-001: phase Build, first part')
    const { overview } = await recover(world, { template: 'short.yaml' })
    expect(overview?.workflow).toMatchObject({ templateName: 'short', current: '2' })
  })
})

test('a session that lost its template follows one again, in the inferred phase', async () => {
  const world = gitProject()
  await world.run((project) => project.init({ name: 'wf-001', title: 'User auth' }))
  commitAt(world, 'wf-001 GREEN: login works')
  const { outcome, overview } = await recover(world)
  expect(outcome).toBe('followed')
  expect(overview?.workflow).toMatchObject({ name: 'User auth', current: '5b' })
  expect(await sessions(world)).toHaveLength(1)
})

const { phases } = readTemplate(NINE_PHASES, 'nine-phases', 'nine-phases')
test.each([
  ['Phase 5b - TDD GREEN', false, '5b'],
  ['phase-5: start', false, '5'],
  ['Phase: Review', false, '6'],
  ['phase 55', false, undefined],
  ['phase 5bc', false, undefined],
  ['add 5b', false, undefined],
  ['add 5b', true, '5b'],
  ['tests are RED', true, '5a'],
  ['paint it red', true, undefined],
  ['tests for the design', true, undefined],
  ['phase 2 before phase 7', false, '2'],
])('%j (names the workflow: %j) names phase %j', (text, isNamed, expected) => {
  expect(phaseIn(text, phases, isNamed)).toBe(expected)
})
