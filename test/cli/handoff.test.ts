import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { terminal } from '../support/cli.ts'

async function projectWithSession() {
  const world = terminal()
  await world.stint('init', '--name', 'fix-auth', '--goal', 'Stop the login loop')
  await world.stint('log', '--progress', 'Reproduced it', '--next', 'Look at the refresh path')
  return world
}

describe('handoff create', () => {
  test("prints the document's path, its tokens and how to accept it", async () => {
    const { stint, cwd } = await projectWithSession()
    const ran = await stint('handoff', 'create', '--reason', 'The context is nearly full')
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
    expect(ran.stdout).toContain('🤝 Handoff 1: fix-auth')
    expect(ran.stdout).toContain('stint handoff accept fix-auth/1')
    const [, file] = /File: (\S+)/.exec(ran.stdout)!
    expect(readFileSync(join(cwd, file!), 'utf8')).toContain('because: The context is nearly full')
  })

  test('prints the whole handoff with its document with --json', async () => {
    const { stint } = await projectWithSession()
    const handoff = (await stint('handoff', 'create', '--json', '--draft', '--tokens', '600')).json<
      Record<string, unknown>
    >()
    expect(handoff).toMatchObject({
      number: 1,
      sessionName: 'fix-auth',
      isDraft: true,
      git: { branch: 'main', dirty: 0 },
      accepted: [],
    })
    expect(handoff.tokens).toBeLessThanOrEqual(600)
    expect(handoff.document).toContain(`hash: ${String(handoff.hash)}`)
  })

  test.each([
    [['--tokens', '12'], 1, 'at least 600'],
    [['--tokens', 'few'], 2, 'few is not a whole number'],
    [['--to', 'nobody'], 1, 'there is no task and no session "nobody"'],
    [['nobody'], 1, 'there is no session "nobody"'],
  ])('explains why %j is refused', async (args, exitCode, message) => {
    const { stint } = await projectWithSession()
    const ran = await stint('handoff', 'create', ...args)
    expect(ran.exitCode).toBe(exitCode)
    expect(ran.stderr).toContain(message)
  })

  test('is refused for a closed session', async () => {
    const { stint } = await projectWithSession()
    await stint('close', '--complete')
    expect(await stint('handoff', 'create', 'fix-auth')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('stint reopen'),
    })
  })
})

describe('handoff show', () => {
  test('prints the recorded document only, even when the file was edited', async () => {
    const { stint, cwd } = await projectWithSession()
    const { path, document } = (await stint('handoff', 'create', '--json')).json<{
      path: string
      document: string
    }>()
    expect((await stint('handoff', 'show')).stdout).toBe(document)
    writeFileSync(join(cwd, path.slice(path.indexOf('.sessions'))), 'mine\n')
    const ran = await stint('handoff', 'show', 'fix-auth/1')
    expect(ran).toMatchObject({
      exitCode: 0,
      stdout: document,
      stderr: expect.stringContaining('edited or damaged'),
    })
  })

  test('exits with 0 from --check while it holds, and with 1 and the changes otherwise', async () => {
    const { stint } = await projectWithSession()
    await stint('handoff', 'create')
    expect(await stint('handoff', 'show', '--check')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('as it was'),
    })
    await stint('log', '--progress', 'More')
    const ran = await stint('handoff', 'show', '--check')
    expect(ran).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining('the journal went on'),
    })
  })

  test('explains how to create one when there is none', async () => {
    const { stint } = await projectWithSession()
    expect(await stint('handoff', 'show')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('stint handoff create makes one'),
    })
  })
})

describe('handoff list', () => {
  test('shows each handoff with its outcome', async () => {
    const { stint } = await projectWithSession()
    expect((await stint('handoff', 'list')).stdout).toContain('No handoffs yet')
    await stint('handoff', 'create', '--reason', 'First')
    await stint('handoff', 'create', '--draft')
    await stint('handoff', 'accept', '1')
    const [first, second] = (await stint('handoff', 'list')).stdout.split('\n')
    expect(first).toMatch(/^ {2}1 {2}[0-9a-f]{6} .* taken up {2}First$/)
    expect(second).toMatch(/^ {2}2 .* waiting {3}draft$/)
    expect((await stint('handoff', 'list', '--json')).json<unknown[]>()).toHaveLength(2)
  })
})

describe('handoff accept', () => {
  test('prints the document and resumes the session', async () => {
    const { stint } = await projectWithSession()
    await stint('handoff', 'create')
    const ran = await stint('handoff', 'accept')
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
    expect(ran.stdout).toMatch(
      /^🤝 Handoff 1 of fix-auth: loaded\n {3}Going on with: fix-auth\n\n---\nformat: stint-handoff\/1\n/,
    )
  })

  test('exits with 1 for a stale handoff, lists the changes, and needs --force for the document', async () => {
    const { stint } = await projectWithSession()
    await stint('handoff', 'create')
    await stint('log', '--progress', 'More')
    const refused = await stint('handoff', 'accept')
    expect(refused.exitCode).toBe(1)
    expect(refused.stdout).toContain('Handoff 1 of fix-auth: stale')
    expect(refused.stdout).toContain(
      '- the journal went on, 1 added (1 progress.made): stint view fix-auth --entries',
    )
    expect(refused.stdout).not.toContain('## Objective')
    const json = await stint('handoff', 'accept', '--json')
    expect(json.exitCode).toBe(1)
    expect(json.json()).toMatchObject({
      outcome: 'stale',
      isTakenUp: false,
      moved: [expect.any(String)],
    })
    const forced = await stint('handoff', 'accept', '--force')
    expect(forced).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('stale, taken up all the same'),
    })
    expect(forced.stdout).toContain('## Objective')
  })

  test('resumes a paused session without its name', async () => {
    const { stint } = await projectWithSession()
    await stint('handoff', 'create')
    await stint('pause')
    expect((await stint('handoff', 'accept')).exitCode).toBe(0)
    expect((await stint('list', '--json')).json<{ status: string }[]>()).toMatchObject([
      { status: 'active' },
    ])
  })

  test('refuses a document that is not a handoff', async () => {
    const { stint, cwd } = await projectWithSession()
    writeFileSync(join(cwd, 'notes.md'), '# Notes\n')
    expect(await stint('handoff', 'accept', 'notes.md')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('no handoff of Stint'),
    })
    rmSync(join(cwd, 'notes.md'))
    expect(await stint('handoff', 'accept', 'notes.md')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('no file'),
    })
  })
})

describe('a handoff for another task', () => {
  test('is announced in one line by every command that starts the task', async () => {
    const { stint } = await projectWithSession()
    await stint('task', 'add', 'Document it')
    await stint('handoff', 'create', '--to', 'document-it')
    const line = 'Handoff 1 of fix-auth waits: stint handoff accept fix-auth/1'
    expect((await stint('task', 'show', 'document-it')).stderr).toContain(line)
    expect((await stint('task', 'next')).stderr).toContain(line)
    expect((await stint('task', 'start', 'document-it')).stderr).toContain(line)
    expect(
      (await stint('init', '--task', 'document-it', '--name', 'docs', '--force')).stderr,
    ).toContain(line)
    expect((await stint('resume', 'docs')).stdout).toContain(line)
    expect((await stint('resume', 'docs', '--json')).json()).toMatchObject({
      waitingHandoffs: [{ sessionName: 'fix-auth', number: 1 }],
    })
    await stint('handoff', 'accept', 'fix-auth/1', '--force')
    expect((await stint('resume', 'docs')).stdout).not.toContain('waits')
  })

  test('is announced when its session is resumed', async () => {
    const { stint } = await projectWithSession()
    await stint('init', '--name', 'other', '--force')
    await stint('reopen', 'fix-auth')
    await stint('handoff', 'create', 'fix-auth', '--to', 'other')
    expect((await stint('resume', 'other')).stdout).toContain('Handoff 1 of fix-auth waits')
    expect((await stint('resume', 'fix-auth')).stdout).not.toContain('waits')
  })
})
