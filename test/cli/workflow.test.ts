import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { terminal } from '../support/cli.ts'
import { agreeTo } from '../support/trust.ts'

interface WorkflowJson {
  readonly percent: number
  readonly status: string
  readonly phase: { readonly id: string; readonly status: string }
  readonly isSplitHere: boolean
  readonly isWaitingForApproval: boolean
  readonly focus?: string
  readonly conversation?: {
    readonly name: string
    readonly number: number
    readonly of: number
    readonly tokens: readonly number[]
  }
  readonly next: { readonly command: string; readonly who: string }
  readonly phases: readonly {
    readonly id: string
    readonly status: string
    readonly enteredAt?: string
  }[]
  readonly approvals: readonly {
    readonly phase: string
    readonly note?: string
    readonly said?: string
  }[]
  readonly deliverables: readonly {
    readonly path: string
    readonly phase?: string
    readonly exists: boolean
  }[]
}

async function workflow(...more: string[]) {
  const world = terminal()
  const began = await world.stint('workflow', 'init', 'wf-001', 'User auth', ...more)
  const workflowJson = async (...args: string[]) =>
    (await world.stint('workflow', ...args, '--json')).json<WorkflowJson>()
  return { ...world, began, workflowJson }
}

/** Advances to phase 5 through its gate. */
async function approvedPlan() {
  const world = await workflow()
  await world.stint('workflow', 'phase', 'wf-001', '4')
  await world.stint('workflow', 'approve', 'wf-001')
  return world
}

describe('workflow init', () => {
  test('opens a session named after the id, in the first phase', async () => {
    const { stint, began } = await workflow('--goal', 'People log in')
    expect(began).toMatchObject({ exitCode: 0, stderr: '' })
    expect(began.stdout).toContain('wf-001: phase 1 Requirements, 0% complete')
    expect((await stint('view', 'wf-001', '--json')).json()).toMatchObject({
      name: 'wf-001',
      title: 'User auth',
      goal: 'People log in',
    })
  })

  test('applies the template to an open session and names it after the id', async () => {
    const { stint } = terminal()
    await stint('init', '--name', 'fix-login')
    await stint('log', '--progress', 'begun before')
    const ran = await stint(
      'workflow',
      'init',
      'wf-001',
      'User auth',
      '--session',
      'fix-login',
      '--json',
    )
    expect(ran.json<WorkflowJson>()).toMatchObject({
      id: 'wf-001',
      name: 'User auth',
      phase: { id: '1' },
    })
    expect((await stint('view', 'wf-001')).stdout).toContain('begun before')
    expect((await stint('view', 'fix-login')).exitCode).toBe(1)
  })

  test.each([
    ['WF 001', 'wf-001 can: small letters'],
    ['../x', 'x can: small letters'],
    ['a'.repeat(41), `${'a'.repeat(40)} can: small letters`],
  ])('refuses %j as an id and prints the reason', async (id, message) => {
    const { stint } = terminal()
    const ran = await stint('workflow', 'init', id, 'User auth')
    expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ran.stderr).toContain(message)
    expect((await stint('list')).stdout).toBe('No sessions.\n')
  })

  test('refuses an id in use and prints the alternative', async () => {
    const { stint } = await workflow()
    const again = await stint('workflow', 'init', 'wf-001', 'User auth')
    expect(again).toMatchObject({ exitCode: 1 })
    expect(again.stderr).toContain(
      'wf-001 follows the template nine-phases already\n  stint workflow status wf-001',
    )
    expect(
      (await stint('workflow', 'init', 'wf-001', 'x', '--session', 'wf-001')).stderr,
    ).toContain('follows the template nine-phases already')
    await stint('close', '--complete')
    expect((await stint('workflow', 'init', 'wf-001', 'x')).stderr).toContain(
      'it is completed\n  stint reopen wf-001',
    )
    await stint('init', '--name', 'plain')
    expect((await stint('workflow', 'init', 'plain', 'x')).stderr).toContain(
      '--session plain lets it follow one',
    )
    expect((await stint('workflow', 'init', 'wf-002', 'x')).stderr).toContain(
      'plain is active on main\n  stint pause',
    )
    expect((await stint('workflow', 'init', 'wf-002', ' ')).exitCode).toBe(2)
  })

  test('keeps following the template as it was at the start, even if the file changes', async () => {
    const { stint, cwd, env } = terminal()
    mkdirSync(join(cwd, '.sessions', 'workflows'), { recursive: true })
    const path = join(cwd, '.sessions', 'workflows', 'short.yaml')
    writeFileSync(path, 'phases:\n  - name: Plan\n    deliverables: [plan.md]\n  - name: Build\n')
    agreeTo(cwd, env)
    await stint('workflow', 'init', 'wf-001', 'Short', '--template', 'short')
    writeFileSync(path, 'phases:\n  - name: Something else\n')
    const ran = await stint('workflow', 'status', 'wf-001', '--json')
    expect(ran.json<WorkflowJson>()).toMatchObject({
      template: 'short',
      phases: [{ name: 'Plan' }, { name: 'Build' }],
    })
    expect(ran.json<WorkflowJson>().deliverables).toMatchObject([
      { path: 'plan.md', phase: '1', exists: false },
    ])
  })

  test('opens nothing with an invalid or missing template', async () => {
    const { stint, cwd } = terminal()
    writeFileSync(join(cwd, 'bad.yaml'), 'phases:\n  - name: Plan\n    gate: maybe\n')
    const ran = await stint('workflow', 'init', 'wf-001', 'x', '--template', 'bad.yaml')
    expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ran.stderr).toContain('bad.yaml:3: gate is one of approval, none')
    expect((await stint('workflow', 'init', 'wf-001', 'x', '--template', 'none')).stderr).toContain(
      'there is no template "none"; there are nine-phases',
    )
    expect((await stint('list')).stdout).toBe('No sessions.\n')
  })
})

describe('workflow phase', () => {
  test('enters the next phase, or one named by number, sub-number or name', async () => {
    const { workflowJson } = await approvedPlan()
    expect((await workflowJson('phase', 'wf-001')).phase.id).toBe('5a')
    expect((await workflowJson('phase', 'wf-001', '5c')).phase.id).toBe('5c')
    expect((await workflowJson('phase', 'wf-001', 'green')).phase.id).toBe('5b')
    expect((await workflowJson('phase', 'wf-001', 'TDD Implementation')).phase.id).toBe('5a')
    expect((await workflowJson('phase', 'wf-001', 'Requirements')).phase.id).toBe('1')
  })

  test('lists the phases when given an unknown one', async () => {
    const { stint } = await workflow()
    expect((await stint('workflow', 'phase', 'wf-001', '12')).stderr).toContain(
      'wf-001 has no phase "12"\n  there are 1 Requirements, 2 Design',
    )
    expect((await stint('workflow', 'phase', 'wf-001', 'tdd')).stderr).toContain(
      'fits several phases',
    )
  })

  test('explains how a session without a template gets one', async () => {
    const { stint } = terminal()
    await stint('init', '--name', 'plain')
    const ran = await stint('workflow', 'phase', 'plain')
    expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ran.stderr).toContain('stint workflow init plain "NAME" --session plain gives it one')
  })

  test('keeps the code in a checkpoint', async () => {
    const { stint, cwd, git } = await workflow()
    writeFileSync(join(cwd, 'design.md'), 'half done\n')
    await stint('workflow', 'phase', 'wf-001', '--note', 'sketched')
    const checkpoints = (await stint('checkpoint', 'list', '--json')).json<
      { note: string; code: { commit: string } }[]
    >()
    expect(checkpoints.at(-1)).toMatchObject({ note: 'Phase 2 - Design: sketched' })
    expect(git('show', `${checkpoints.at(-1)!.code.commit}:design.md`)).toBe('half done\n')
  })

  test("passes a gate only after the user's approval, and prints the command", async () => {
    const { stint, workflowJson } = await workflow()
    const skipping = await stint('workflow', 'phase', 'wf-001', '5')
    expect(skipping).toMatchObject({ exitCode: 1, stdout: '' })
    expect(skipping.stderr).toContain('stint workflow phase wf-001 4 enters it')
    expect((await workflowJson('status')).phase).toMatchObject({ id: '1', status: 'current' })

    await stint('workflow', 'phase', 'wf-001', '4')
    const refused = await stint('workflow', 'phase', 'wf-001')
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' })
    expect(refused.stderr).toContain("phase 4 Tests waits for a person's approval")
    expect(refused.stderr).toContain('stint workflow approve wf-001 4')
    const waiting = await workflowJson('status', 'wf-001')
    expect(waiting).toMatchObject({
      isWaitingForApproval: true,
      phase: { id: '4' },
      next: { who: 'person' },
    })

    const entries = (await stint('view', '--entries', '--json')).stdout
    await stint('workflow', 'phase', 'wf-001', '5a')
    expect((await stint('view', '--entries', '--json')).stdout).toBe(entries)
    expect((await workflowJson('approve', 'wf-001', '4')).phase.status).toBe('done')
    expect((await workflowJson('phase', 'wf-001')).phase.id).toBe('5a')
  })

  test('closes later gates again when going back', async () => {
    const { stint, workflowJson } = await approvedPlan()
    await stint('workflow', 'phase', 'wf-001')
    expect(await workflowJson('phase', 'wf-001', '2')).toMatchObject({ percent: 7, approvals: [] })
    expect((await stint('workflow', 'phase', 'wf-001', '5')).stderr).toContain('phase 4 Tests')
  })

  test('finishes the last phase at 100%', async () => {
    const { stint, workflowJson } = await approvedPlan()
    await stint('workflow', 'phase', 'wf-001', '5c')
    await stint('workflow', 'approve', 'wf-001', '5')
    expect(await workflowJson('phase', 'wf-001', '9')).toMatchObject({ percent: 95 })
    expect(await workflowJson('phase', 'wf-001')).toMatchObject({
      percent: 100,
      phase: { status: 'done' },
    })
    const over = await stint('workflow', 'phase', 'wf-001')
    expect(over).toMatchObject({ exitCode: 1 })
    expect(over.stderr).toContain('stint close --complete --session wf-001')
    expect((await stint('close', '--complete', '--session', 'wf-001')).exitCode).toBe(0)
    expect((await stint('workflow', 'phase', 'wf-001', '1')).stderr).toContain(
      'stint reopen wf-001',
    )
    expect(await workflowJson('status', 'wf-001')).toMatchObject({
      status: 'completed',
      percent: 100,
    })
  })
})

describe('workflow approve', () => {
  test.each(['CLAUDECODE', 'STINT_CONVERSATION', 'CLAUDE_CODE_SESSION_ID'])(
    "is refused to an agent with %s unless it quotes the person's approval",
    async (name) => {
      const world = await workflow()
      await world.stint('workflow', 'phase', 'wf-001', '4')
      const agent = (...args: string[]) =>
        world.run(['workflow', 'approve', 'wf-001', ...args], {
          env: { ...world.env, [name]: '1' },
        })
      const refused = await agent()
      expect(refused).toMatchObject({ exitCode: 1, stdout: '' })
      expect(refused.stderr).toContain("an approval is a person's: run it in your own terminal")
      expect((await world.workflowJson('status')).approvals).toEqual([])
      expect((await agent('--person-said', ' ')).exitCode).toBe(2)
      expect((await agent('--person-said', 'Plan is fine, build it')).exitCode).toBe(0)
      expect((await world.workflowJson('status')).approvals).toMatchObject([
        { phase: '4', said: 'Plan is fine, build it' },
      ])
    },
  )

  test('approves only whole phases that were reached, and once', async () => {
    const { stint, workflowJson } = await workflow()
    expect((await stint('workflow', 'approve', 'wf-001', '4')).stderr).toContain(
      'stint workflow phase wf-001 4 enters it',
    )
    expect((await workflowJson('approve', 'wf-001', '--note', 'good')).approvals).toMatchObject([
      { phase: '1', note: 'good' },
    ])
    expect((await stint('workflow', 'approve', 'wf-001', '1')).stderr).toContain('approved already')
    await stint('workflow', 'phase', 'wf-001', '4')
    await stint('workflow', 'approve', 'wf-001')
    await stint('workflow', 'phase', 'wf-001')
    expect((await stint('workflow', 'approve', 'wf-001', '5b')).stderr).toContain(
      'has no phase "5b"',
    )
    expect((await stint('workflow', 'approve', 'wf-001')).stderr).toContain(
      'phase wf-001 5c enters its last part',
    )
  })

  test('prints where and how to start the next conversation', async () => {
    const { stint, workflowJson } = await workflow()
    await stint('workflow', 'phase', 'wf-001', '4')
    expect((await workflowJson('status')).isSplitHere).toBe(false)
    const ran = await stint('workflow', 'approve', 'wf-001')
    expect(ran.stdout).toContain(
      'The place for a fresh conversation: stint handoff create wf-001, then /clear',
    )
    expect(await workflowJson('status')).toMatchObject({
      isSplitHere: true,
      conversation: { number: 1, of: 3, tokens: [50_000, 80_000] },
    })
    expect((await stint('workflow', 'phase', 'wf-001')).stdout).toContain(
      'stint handoff create wf-001',
    )
    expect((await stint('workflow', 'phase', 'wf-001')).stdout).not.toContain(
      'stint handoff create',
    )
  })
})

describe('workflow set', () => {
  test('adds deliverables relative to the root, and removes them', async () => {
    const { stint, workflowJson, run, cwd } = await workflow()
    await stint('workflow', 'set', 'wf-001', 'deliverables', 'tests/auth/Login.test.tsx')
    mkdirSync(join(cwd, 'src'))
    writeFileSync(join(cwd, 'src', 'login.ts'), '')
    await run(['workflow', 'set', 'wf-001', 'deliverables', 'login.ts'], { cwd: join(cwd, 'src') })
    expect((await workflowJson('status')).deliverables).toMatchObject([
      { path: 'tests/auth/Login.test.tsx', phase: '1', exists: false },
      { path: 'src/login.ts', exists: true },
    ])
    expect((await stint('workflow', 'status')).stdout).toContain(
      '✗ tests/auth/Login.test.tsx (phase 1), not there\n   ✓ src/login.ts (phase 1)\n',
    )
    await stint('workflow', 'set', 'wf-001', 'deliverables', 'src/login.ts', '--remove')
    expect((await workflowJson('status')).deliverables).toHaveLength(1)
    expect(
      (await stint('workflow', 'set', 'wf-001', 'deliverables', 'src/login.ts', '--remove')).stderr,
    ).toContain('it has tests/auth/Login.test.tsx')
  })

  test('refuses a deliverable outside the project', async () => {
    const { stint, workflowJson } = await workflow()
    expect(
      (await stint('workflow', 'set', 'wf-001', 'deliverables', '../other.ts')).stderr,
    ).toContain('a file or a folder of the project')
    expect((await stint('workflow', 'set', 'wf-001', 'deliverables', '/etc/passwd')).exitCode).toBe(
      1,
    )
    expect((await workflowJson('status')).deliverables).toEqual([])
  })

  test('sets the name and the focus, and lists the keys when given an unknown one', async () => {
    const { stint, workflowJson } = await workflow()
    await stint('workflow', 'set', 'wf-001', 'name', 'User auth, without SSO')
    expect(await workflowJson('set', 'wf-001', 'focus', 'only the login form')).toMatchObject({
      name: 'User auth, without SSO',
      focus: 'only the login form',
    })
    expect((await workflowJson('set', 'wf-001', 'focus', '-', '--remove')).focus).toContain(
      'what is wanted',
    )
    const ran = await stint('workflow', 'set', 'wf-001', 'colour', 'red')
    expect(ran).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ran.stderr).toContain('there are deliverables, name, focus')
  })

  test('redacts secrets before journalling', async () => {
    const { stint } = await workflow()
    const secret = `ghp_${'a1B2'.repeat(9)}`
    await stint('workflow', 'set', 'wf-001', 'focus', `use ${secret}`)
    await stint('workflow', 'phase', 'wf-001', '--note', `with ${secret}`)
    for (const args of [
      ['workflow', 'status', '--json'],
      ['view', '--entries', '--json'],
      ['checkpoint', 'list', '--json'],
    ]) {
      expect((await stint(...args)).stdout).not.toContain(secret)
    }
  })
})

describe('workflow list', () => {
  test('shows id, name, phase, percentage and status', async () => {
    const { stint, git } = await workflow()
    git('switch', '-q', '-c', 'other')
    await stint('init', '--name', 'plain')
    await stint('workflow', 'phase', 'wf-001', '4')
    await stint('workflow', 'phase', 'wf-001')
    expect((await stint('workflow', 'list')).stdout).toBe(
      [
        'ID      NAME       PHASE    DONE  STATUS',
        'wf-001  User auth  4 Tests  21%   waiting for approval',
        '',
      ].join('\n'),
    )
    expect((await stint('workflow', 'list', '--json')).json<WorkflowJson[]>()).toHaveLength(1)
  })

  test('explains how to start when empty, and creates nothing', async () => {
    const { stint } = terminal()
    expect((await stint('workflow', 'list')).stdout).toContain('stint workflow init wf-001')
    expect((await stint('workflow', 'list', '--json')).json()).toEqual([])
  })
})

describe('workflow status', () => {
  test("shows the current session's workflow without an id", async () => {
    const { stint } = await workflow()
    expect((await stint('workflow', 'status')).stdout).toBe(
      (await stint('workflow', 'status', 'wf-001')).stdout,
    )
    expect((await stint('resume')).stdout).toContain(
      'Workflow: Phase 1 - Requirements (0% complete)',
    )
  })
})

describe('workflow template', () => {
  test('lists templates, and prints one that can be used as it is', async () => {
    const { stint, cwd } = terminal()
    expect((await stint('workflow', 'template')).stdout).toBe('nine-phases  (built in)\n')
    writeFileSync(
      join(cwd, 'mine.yaml'),
      (await stint('workflow', 'template', 'nine-phases')).stdout,
    )
    const ran = await stint(
      'workflow',
      'init',
      'wf-001',
      'x',
      '--template',
      './mine.yaml',
      '--json',
    )
    expect(ran.json<WorkflowJson>().phases).toHaveLength(9)
  })
})
