import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { program, terminal } from '../support/cli.ts'

describe('a session', () => {
  test('named from another branch stays bound to its own', async () => {
    const { stint, git } = terminal()
    await stint('init', '--name', 'on-main')
    git('switch', '-q', '-c', 'feature')
    await stint('init', '--name', 'on-feature')
    git('switch', '-q', 'main')
    await stint('log', '--session', 'on-feature', '--progress', 'told')
    await stint('checkpoint', '--session', 'on-feature')
    expect((await stint('log', '--progress', 'here')).stdout).toContain('on-main: 0/0 steps')
    git('switch', '-q', 'feature')
    expect((await stint('log', '--progress', 'there')).stdout).toContain('on-feature: 0/0 steps')
  })

  test("resumed on another session's branch leaves that branch to it", async () => {
    const { stint, git } = terminal()
    await stint('init', '--name', 'on-main')
    git('switch', '-q', '-c', 'feature')
    await stint('init', '--name', 'on-feature')
    git('switch', '-q', 'main')
    expect((await stint('resume', 'on-feature')).exitCode).toBe(0)
    expect((await stint('log', '--progress', 'here')).stdout).toContain('on-main: 0/0 steps')
  })

  test('resumed on a free branch is bound to it', async () => {
    const { stint, git } = terminal()
    await stint('init', '--name', 'moves')
    git('switch', '-q', '-c', 'feature')
    await stint('resume', 'moves')
    expect(
      (await stint('list', '--branch', 'feature', '--json'))
        .json<{ name: string }[]>()
        .map((row) => row.name),
    ).toEqual(['moves'])
  })

  test('on a detached HEAD has no branch, and is not observed repeatedly', async () => {
    const { stint, git } = terminal()
    await stint('init', '--name', 'on-main')
    git('checkout', '-q', '--detach')
    await stint('init', '--name', 'detached')
    await stint('log', '--progress', 'one')
    const ran = await stint('log', '--progress', 'two')
    expect(ran.stdout).toContain('detached: 0/0 steps')
    const kinds = (await stint('view', '--entries', '--json'))
      .json<{ entries: { kind: string }[] }>()
      .entries.map((entry) => entry.kind)
    expect(kinds).toEqual(['session.opened', 'progress.made', 'progress.made'])
  })

  test('refuses entries and checkpoints when closed, and prints how to reopen it', async () => {
    const { stint } = terminal()
    await stint('init', '--name', 'done')
    await stint('close', '--complete')
    for (const line of [
      ['log', '--session', 'done', '--progress', 'late'],
      ['checkpoint', '--session', 'done'],
    ]) {
      const ran = await stint(...line)
      expect(ran.exitCode).toBe(1)
      expect(ran.stderr).toContain('stint reopen done')
    }
  })

  test('is found by the name that the user typed', async () => {
    const { stint } = terminal()
    const made = await stint('init', '--name', 'Fix Auth!')
    expect(made.stderr).toContain('the session is named fix-auth')
    expect((await stint('view', 'Fix Auth!', '--progress')).exitCode).toBe(0)
  })
})

describe('when git cannot run', () => {
  test('sessions still work', async () => {
    const world = terminal()
    const { stint } = world
    const path = process.env.PATH
    process.env.PATH = join(world.folder, 'empty')
    try {
      for (const line of [
        ['init', '--name', 'no-git'],
        ['log', '--progress', 'p'],
        ['checkpoint'],
        ['resume'],
        ['pause'],
        ['resume'],
        ['close', '--complete'],
      ]) {
        const ran = await stint(...line)
        expect(`${line[0]}: ${ran.exitCode} ${ran.exitCode === 0 ? '' : ran.stderr}`).toBe(
          `${line[0]}: 0 `,
        )
      }
    } finally {
      process.env.PATH = path
    }
  })
})

describe('outside git', () => {
  test('a backlog is found from a subfolder, and searching creates no folder', async () => {
    const world = terminal({ git: false })
    expect((await world.stint('task', 'list')).exitCode).toBe(0)
    expect(readdirSync(world.cwd)).toEqual([])
    await world.stint('task', 'add', 'Do it')
    const below = join(world.cwd, 'below')
    mkdirSync(below)
    expect((await world.run(['task', 'list'], { cwd: below })).stdout).toContain('do-it')
    expect(readdirSync(below)).toEqual([])
  })
})

describe('a missing index', () => {
  test('is rebuilt with one notice, and without one in a new project', async () => {
    const { stint, git, cwd } = terminal()
    expect((await stint('init', '--name', 'one')).stderr).toBe('')
    expect((await stint('log', '--progress', 'p')).stderr).toBe('')
    git('switch', '-q', '-c', 'other')
    expect((await stint('init', '--name', 'two')).stderr).toBe('')
    rmSync(join(cwd, '.sessions', 'index.db'))
    expect((await stint('list')).stderr).toBe(
      'stint: the index was missing and is built again from 2 journals\n',
    )
    expect((await stint('list')).stderr).toBe('')
  })
})

describe('a redaction', () => {
  test('is reported by every command that writes text', async () => {
    const { stint } = terminal()
    const secret = `ghp_${'a1B2'.repeat(9)}`
    await stint('init', '--name', 'r')
    for (const line of [
      ['log', '--note', secret],
      ['checkpoint', '--note', secret],
      ['task', 'add', `Use ${secret}`],
      ['pause', '--note', secret],
    ]) {
      expect((await stint(...line)).stderr).toContain('was redacted')
    }
  })
})

describe('a full disk', () => {
  const blocked = (world: ReturnType<typeof terminal>, ...args: string[]) =>
    spawnSync('bash', ['-c', 'ulimit -f 0; exec "$0" "$@"', process.execPath, program, ...args], {
      cwd: world.cwd,
      env: world.env,
      encoding: 'utf8',
    })

  test('does not prevent resuming, and warns that the resume is not recorded', async () => {
    const world = terminal()
    await world.stint('init', '--name', 'r', '--goal', 'Be resumed')
    await world.stint('log', '--progress', 'halfway')
    const resumed = blocked(world, 'resume')
    expect(resumed.stdout).toContain('Latest: halfway')
    expect(resumed.stderr).toContain('that it was resumed is not recorded')
    expect(resumed.status).toBe(0)
  })

  test('is named when a save fails, and nothing is lost', async () => {
    const world = terminal()
    await world.stint('init', '--name', 'r')
    await world.stint('log', '--progress', 'before')
    const refused = blocked(world, 'log', '--progress', 'after')
    expect(refused.status).toBe(1)
    expect(refused.stderr).toContain('not saved')
    expect((await world.stint('view', '--progress')).stdout).toContain('before')
  })
})
