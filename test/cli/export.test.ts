import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { decode } from '@toon-format/toon'
import { describe, expect, test } from 'vitest'
import { terminal } from '../support/cli.ts'

describe('export', () => {
  test('prints the session in the requested format and nothing else', async () => {
    const { stint } = terminal()
    await stint('init', '--name', 'fix-auth', '--goal', 'Stop the login loop')
    const ran = await stint('export', '--format', 'toon')
    expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
    expect(decode(ran.stdout.trimEnd())).toMatchObject({
      session: { name: 'fix-auth', goal: 'Stop the login loop' },
    })
    expect((await stint('export', 'fix-auth', '--format', 'json')).json()).toMatchObject({
      format: 'stint-state',
      version: 2,
    })
  })

  test('writes --output relative to the current folder and prints the path', async () => {
    const { stint, cwd } = terminal()
    await stint('init', '--name', 'fix-auth')
    const ran = await stint(
      'export',
      '--format',
      'markdown',
      '--output',
      'a folder/the document.md',
    )
    expect(ran.stdout).toMatch(
      /📤 Session Exported: fix-auth\n {3}markdown, \d+ bytes: a folder\/the document\.md\n/,
    )
    expect(readFileSync(join(cwd, 'a folder', 'the document.md'), 'utf8')).toContain(
      '# Session: Fix Auth',
    )
  })

  test('prints the content or the written path with --json', async () => {
    const { stint, cwd } = terminal()
    await stint('init', '--name', 'fix-auth')
    const printed = (await stint('export', '--format', 'toon', '--json')).json<{
      content: string
      bytes: number
    }>()
    expect(printed).toMatchObject({
      session: { name: 'fix-auth', status: 'active' },
      format: 'toon',
    })
    expect(printed.bytes).toBe(Buffer.byteLength(printed.content))
    const written = await stint('export', '--format', 'json', '--output', 'state.json', '--json')
    expect(written.json()).toMatchObject({ format: 'json', path: join(cwd, 'state.json') })
    expect(written.json()).not.toHaveProperty('content')
  })

  test('lists the formats when given an unknown one or none', async () => {
    const { stint } = terminal()
    await stint('init', '--name', 'fix-auth')
    for (const args of [['--format', 'xml'], []]) {
      const ran = await stint('export', ...args)
      expect(ran).toMatchObject({ exitCode: 2, stdout: '' })
      expect(ran.stderr).toContain('json|toon|markdown|session-json|workflow-log')
    }
  })

  test('prints the problem and the next command', async () => {
    const { stint } = terminal()
    expect((await stint('export', '--format', 'json')).stderr).toContain(
      'no session is active here',
    )
    await stint('init', '--name', 'fix-auth')
    const small = await stint('export', '--format', 'session-json', '--output', 'session.json')
    expect(small).toMatchObject({ exitCode: 1, stdout: '' })
    expect(small.stderr).toMatch(/has 0 tasks.*from 6 on.*\n {2}--force writes it all the same/)
    const taken = await stint('export', '--format', 'json', '--output', 'readme.txt', '--json')
    expect(taken.exitCode).toBe(1)
    expect(taken.json()).toMatchObject({
      error: { code: 'EXPORT_EXISTS', hint: expect.stringContaining('--force') },
    })
    expect((await stint('export', 'nothing', '--format', 'json')).stderr).toContain(
      'there is no session "nothing"',
    )
  })
})
