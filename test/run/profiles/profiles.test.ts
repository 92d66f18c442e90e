import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  BUILT_IN_PROFILES,
  LoadedProfiles,
  loadProfiles,
  profileFor,
} from '../../../src/run/profiles/profile.ts'
import { SPECIALISTS } from '../../../src/backlog/specialist.ts'
import { scratchFolder } from '../../support/scratch.ts'
import { agreeTo } from '../../support/trust.ts'

function loaded(content: Readonly<Record<string, string>>) {
  const root = scratchFolder()
  for (const [path, text] of Object.entries(content)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  agreeTo(root)
  const { profiles, problems } = loadProfiles(root, root)
  return { own: profiles.filter(({ file }) => file !== undefined), profiles, problems, root }
}

/** A YAML alias bomb: each line expands to ten of the one before. */
const endless = 'abcdefghij'
  .split('')
  .map(
    (key, index, all) =>
      `${key}: &${key} [${Array.from({ length: 10 }, () => (index === 0 ? 'x' : `*${all[index - 1]}`)).join(', ')}]`,
  )
  .join('\n')

const file = (head: string, body = 'Do it well.') => `---\n${head}\n---\n${body}\n`

describe('the built-in profiles', () => {
  test('are one per specialist, each of at most 120 tokens', () => {
    expect(BUILT_IN_PROFILES.map(({ name }) => name)).toEqual([...SPECIALISTS])
    for (const { name, tokens, description, body } of BUILT_IN_PROFILES) {
      expect({ name, isShort: tokens <= 120, tokens }).toEqual({ name, isShort: true, tokens })
      expect(description).toMatch(/^[A-Z][^\n]{10,80}$/)
      expect(body).not.toContain('\n')
    }
  })

  test('are the only ones in a repository without its own', () => {
    expect(loaded({})).toMatchObject({ profiles: BUILT_IN_PROFILES, problems: [] })
  })
})

describe('the profiles of a repository', () => {
  test('have a name, description, labels, model and body', () => {
    const text = file(
      'name: Frontend-Dev\ndescription: Builds pages\nlabels: [ui, css]\nmodel: opus\ntools: Read, Edit',
      '# Pages\n\nUse tabs.',
    )
    expect(loaded({ '.agents/frontend.md': text }).own).toEqual([
      {
        name: 'frontend-dev',
        description: 'Builds pages',
        labels: ['ui', 'css'],
        model: 'opus',
        body: '# Pages\n\nUse tabs.',
        tokens: expect.any(Number),
        file: '.agents/frontend.md',
      },
    ])
  })

  test('override built-in ones, and the first of a name wins', () => {
    const { own, profiles, problems } = loaded({
      '.claude/agents/reviewer.md': file('name: reviewer\ndescription: theirs'),
      '.agents/my-reviewer.md': file('name: reviewer\ndescription: ours'),
    })
    expect(own.map(({ description }) => description)).toEqual(['ours'])
    expect(profiles).toHaveLength(SPECIALISTS.length)
    expect(problems).toEqual([
      '.claude/agents/reviewer.md is left out: .agents/my-reviewer.md is called reviewer already',
    ])
  })

  test('may have a head that is not valid YAML', () => {
    const description =
      'Use this agent when asked. Examples: <example>Context: "x" user: y</example>'
    const { own, problems } = loaded({
      '.claude/agents/a.md': file(`name: a\ndescription: ${description}\nmodel: inherit`),
    })
    expect(own).toMatchObject([{ name: 'a', description }])
    expect(own[0]).not.toHaveProperty('model')
    expect(problems).toEqual([])
  })

  test.each([
    ['no head', 'Just text.', [], /a\.md has no head/],
    ['no body', file('name: a', ''), [], /a\.md says nothing under its head/],
    [
      'no description',
      file('name: x', '# How\n\nText.'),
      [{ name: 'x', description: 'How' }],
      /a\.md has no description/,
    ],
    [
      'a head that is a list',
      file('- a\n- b'),
      [{ name: 'a' }],
      /a\.md has a head that is not a list of keys/,
    ],
    ['an invalid head', file('{ [ : '), [{ name: 'a' }], /a\.md has a head that cannot be read/],
    [
      'a head with endless aliases',
      file(`name: a\n${endless}`),
      [{ name: 'a' }],
      /a\.md has a head that cannot be read: it refers to itself too often/,
    ],
  ])('that have %s are reported', (_what, text, own, problem) => {
    const found = loaded({ '.agents/a.md': text })
    expect(found.problems[0]).toMatch(problem)
    expect(found.own).toHaveLength(own.length)
    expect(found.own).toMatchObject(own)
    expect(found.profiles.length).toBeGreaterThanOrEqual(SPECIALISTS.length)
  })

  test('get names that can be typed', () => {
    const { own } = loaded({
      '.agents/a.md': file('description: no name'),
      '.agents/b.md': file('name: "Ünser Prüfer; rm -rf"\ndescription: x'),
      '.agents/pruefer.md': file('name: 审查\ndescription: x'),
      '.agents/README.md': 'About these.',
      '.agents/c.txt': 'no',
    })
    expect(own.map(({ name }) => name)).toEqual(['a', 'unser-prufer-rm-rf', 'pruefer'])
  })

  test('are read only from their folders, and without secrets', () => {
    const { root } = loaded({
      '.agents/a.md': file('name: a\ndescription: x', `token ghp_${'a1B2'.repeat(9)}`),
    })
    symlinkSync('/etc/hostname', join(root, '.agents', 'out.md'))
    agreeTo(root)
    const { profiles, problems } = loadProfiles(root, root)
    expect(problems).toEqual(['.agents/out.md is not read: it is not in the repository'])
    expect(profiles[0]!.body).toBe('token [redacted:github-token]')
  })

  test('may have CRLF line ends and a byte order mark', () => {
    const { own } = loaded({
      '.agents/a.md': `\uFEFF${file('name: a\ndescription: x').replaceAll('\n', '\r\n')}`,
    })
    expect(own).toMatchObject([{ name: 'a', body: 'Do it well.' }])
  })
})

describe('the profile for a task', () => {
  const task = (
    fields: {
      title?: string
      labels?: readonly string[]
      assignee?: string
      description?: string
    } = {},
  ) => ({
    title: 'Something',
    description: '',
    labels: [],
    ...fields,
  })
  const own = {
    name: 'pages',
    description: 'x',
    labels: ['UI'],
    body: 'y',
    tokens: 5,
    file: '.agents/pages.md',
  }
  const profiles = [own, ...BUILT_IN_PROFILES]

  test.each([
    [{ assignee: 'pages' }, 'pages', 'assigned to pages'],
    [{ assignee: 'Pages agent' }, 'pages', 'assigned to Pages agent'],
    [{ assignee: 'qa', labels: ['docs'] }, 'tests', 'assigned to qa'],
    [{ assignee: 'alice', labels: ['ui'] }, 'pages', 'label ui'],
    [{ labels: ['later', 'docs'] }, 'documentation', 'label docs'],
    [{ labels: ['code'] }, 'code', 'label code'],
    [{ title: 'Investigate the cache' }, 'research', 'the title says "Investigate"'],
  ])(
    '%#: is the assigned one, else the one its label asks for, else by its words',
    (fields, name, because) => {
      const chosen = profileFor(task(fields), profiles)
      expect({ name: chosen?.profile.name, because: chosen?.because }).toEqual({ name, because })
    },
  )

  test('is none unless something asks for one or the project has its own code profile', () => {
    expect(profileFor(task({ title: 'Add a flag' }), profiles)).toBeUndefined()
    expect(profileFor(task(), profiles)).toBeUndefined()
    const code = { ...own, name: 'code' }
    expect(profileFor(task({ title: 'Add a flag' }), [code])?.profile).toBe(code)
    expect(profileFor(task({ title: 'Investigate' }), [code])).toBeUndefined()
  })
})

describe('loaded profiles', () => {
  const [architect, code] = BUILT_IN_PROFILES as unknown as [
    (typeof BUILT_IN_PROFILES)[0],
    (typeof BUILT_IN_PROFILES)[0],
  ]
  const total = architect.tokens + code.tokens

  test('inject a body once per conversation, and again after a compaction', () => {
    const ledger = new LoadedProfiles([architect, code])
    ledger.beginConversation()
    expect(ledger.inject(undefined)).toEqual({})
    expect(ledger.inject(architect)).toEqual({
      profile: { name: 'architect', body: architect.body },
    })
    expect(ledger.inject(architect)).toEqual({ profileAgain: 'architect' })
    ledger.forgetBodies()
    expect(ledger.inject(architect)).toHaveProperty('profile')
    ledger.beginConversation()
    expect(ledger.inject(architect)).toHaveProperty('profile')
  })

  test('count the bodies that no conversation needed', () => {
    const ledger = new LoadedProfiles([architect, code])
    expect(ledger.notLoaded).toBe(0)
    ledger.beginConversation()
    expect(ledger.notLoaded).toBe(total)
    ledger.inject(code)
    ledger.forgetBodies()
    expect(ledger.notLoaded).toBe(architect.tokens)
    ledger.beginConversation()
    expect(ledger.notLoaded).toBe(architect.tokens + total)
  })
})
