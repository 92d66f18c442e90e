import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { gatherInstructions } from '../../../src/run/agent-prompts/setup-text.ts'
import { redact } from '../../../src/text/redact.ts'
import { scratchFolder } from '../../support/scratch.ts'

function gathered(
  content: Readonly<Record<string, string | { link: string }>>,
  options: { readByHarness?: readonly string[]; files?: readonly string[] } = {},
) {
  const folder = scratchFolder()
  const root = join(folder, 'project')
  for (const [path, text] of Object.entries(content)) {
    const full = join(root, path)
    mkdirSync(dirname(full), { recursive: true })
    if (typeof text === 'string') writeFileSync(full, text)
    else symlinkSync(text.link, full)
  }
  const withoutSecrets = (text: string) => redact(text).text
  return gatherInstructions(root, { readByHarness: [], withoutSecrets, ...options })
}

const paths = ({ instructions }: ReturnType<typeof gathered>) =>
  instructions.map(({ path }) => path)

describe('project instructions', () => {
  test('are AGENTS.md and CLAUDE.md where they differ', () => {
    expect(gathered({ 'AGENTS.md': 'a', 'CLAUDE.md': 'b' })).toEqual({
      instructions: [
        { path: 'AGENTS.md', text: 'a' },
        { path: 'CLAUDE.md', text: 'b' },
      ],
      files: [],
      notes: [],
    })
    expect(gathered({ 'readme.txt': '' })).toEqual({ instructions: [], files: [], notes: [] })
  })

  test.each([
    ['have the same content', { 'AGENTS.md': 'same', 'CLAUDE.md': 'same' }, ['AGENTS.md']],
    [
      'are one file through a link',
      { 'AGENTS.md': { link: 'CLAUDE.md' }, 'CLAUDE.md': 'b' },
      ['AGENTS.md'],
    ],
    ['import AGENTS.md', { 'AGENTS.md': 'a', 'CLAUDE.md': '@AGENTS.md\n' }, ['AGENTS.md']],
    ['import CLAUDE.md', { 'AGENTS.md': '@./CLAUDE.md', 'CLAUDE.md': 'b' }, ['CLAUDE.md']],
    ['include an empty file', { 'AGENTS.md': '\n', 'CLAUDE.md': 'b' }, ['CLAUDE.md']],
  ])('are injected once where they %s', (_what, content, expected) => {
    expect(paths(gathered(content))).toEqual(expected)
  })

  test.each([
    ['the harness reads it', { 'AGENTS.md': 'a' }, ['AGENTS.md'], []],
    ['the harness reads the other only', { 'AGENTS.md': 'a' }, ['CLAUDE.md'], ['AGENTS.md']],
    [
      'the harness reads one that imports it',
      { 'AGENTS.md': 'a', 'CLAUDE.md': 'First:\n@AGENTS.md\nThen b.' },
      ['CLAUDE.md'],
      [],
    ],
    [
      'the harness reads one that links to it',
      { 'AGENTS.md': 'a', 'CLAUDE.md': { link: 'AGENTS.md' } },
      ['CLAUDE.md'],
      [],
    ],
    [
      'the harness reads one of two',
      { 'AGENTS.md': 'a', 'CLAUDE.md': 'b' },
      ['claude.md'],
      ['AGENTS.md'],
    ],
  ])(
    'are injected only where the harness does not read them itself: %s',
    (_what, content, readByHarness, expected) => {
      expect(paths(gathered(content, { readByHarness }))).toEqual(expected)
    },
  )
})

describe('an injected file', () => {
  test('is cut where it is too long, and that is reported', () => {
    const { instructions, notes } = gathered({ 'AGENTS.md': 'a line of text\n'.repeat(10_000) })
    expect(instructions[0]!.text.length).toBeLessThan(33_000)
    expect(instructions[0]!.text).toMatch(
      /a line of text\n\[cut here: \d+ of 150000 characters; open the file for the rest\]$/,
    )
    expect(notes).toEqual([
      'AGENTS.md is cut: the agent is given about 32000 of its 150000 characters',
    ])
  })

  test('contains no secret', () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const { instructions, files } = gathered(
      { 'AGENTS.md': `token ${secret}`, '.env': `KEY=${secret}` },
      { files: ['.env'] },
    )
    expect(JSON.stringify([instructions, files])).not.toContain(secret)
    expect(files).toHaveLength(1)
  })

  test.each([
    ['/etc/hostname', /a path from the root/],
    ['../outside.txt', /no such file|not in the repository/],
    ['link', /not in the repository/],
    ['folder', /cannot be read as text/],
    ['.git/config', /belongs to git/],
    ['binary', /cannot be read as text/],
    ['missing.md', /there is no such file/],
    ['', /a path from the root/],
  ])('is left out and reported when it is %j', (path, note) => {
    const { files, notes } = gathered(
      {
        link: { link: '/etc/hostname' },
        'folder/x': '',
        '.git/config': '[x]',
        binary: 'a\0b',
        'AGENTS.md': { link: '/etc/passwd' },
      },
      { files: [path] },
    )
    expect(files).toEqual([])
    expect(notes.at(-1)).toMatch(note)
    expect(notes[0]).toBe('AGENTS.md is not given to the agent: it is not in the repository')
  })

  test('is skipped without waiting when it is a pipe', () => {
    const root = scratchFolder()
    execFileSync('mkfifo', [join(root, 'pipe')])
    const { notes } = gatherInstructions(root, {
      readByHarness: [],
      files: ['pipe'],
      withoutSecrets: (text) => text,
    })
    expect(notes).toEqual(['pipe is not given to the agent: it cannot be read as text'])
  })

  test('is injected once, and all of them stay within a total size', () => {
    const content = Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`f${n}`, 'x'.repeat(15_000)]))
    const { files, notes } = gathered(
      { ...content, 'AGENTS.md': 'a' },
      { files: ['AGENTS.md', ...Object.keys(content), 'f1'] },
    )
    expect(files.map(({ path }) => path)).toEqual(['f1', 'f2', 'f3', 'f4', 'f5'])
    expect(files.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(65_000)
    expect(notes).toEqual([
      'f5 is cut: the agent is given about 4000 of its 15000 characters',
      'f6 is not given to the agent: the files before it take all the room',
    ])
  })
})
