import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { effectValues, notAgreed, withoutSections } from '../../src/project/config/effects.ts'
import { parseConfig } from '../../src/project/config/config-schema.ts'
import { readConfig } from '../../src/project/config/read-config.ts'
import { findProjectPaths, isRefusedJournal } from '../../src/project/store/project-paths.ts'
import { gitProject, plainProject } from '../support/project.ts'
import { blocks } from '../docs/pages.ts'
import { scratchFolder } from '../support/scratch.ts'
import { parse } from 'yaml'

/** Every setting, from the documentation, which another test compares with the rules. */
const ALL = parse(blocks('docs/configure.md', 'yaml')[0]!) as Record<string, unknown>

describe('a setting', () => {
  test('needs consent unless it only changes display, budgets or reminders', () => {
    const free = (settings: object, prefix = ''): readonly string[] =>
      Object.entries(settings).flatMap(([key, value]) => {
        const name = `${prefix}${key}`
        const isSection = typeof value === 'object' && !Array.isArray(value) && prefix === ''
        return Object.keys(effectValues({ [key]: value })).length === 0
          ? [name]
          : isSection
            ? Object.keys(value).flatMap((inner) =>
                `${key}.${inner}` in effectValues(settings) ? [] : [`${key}.${inner}`],
              )
            : []
      })
    expect(free(ALL).toSorted()).toEqual(
      [
        'auto',
        'budget',
        'checkpoint.max_file_mb',
        'delegates.most',
        'delegates.send_back',
        'nudges',
        'prices',
        'redact.patterns',
        'run.batch',
        'run.batch_leave_above',
        'run.batch_medium',
        'run.batch_places',
        'run.batch_small',
        'run.idle_turns',
        'run.large_from',
        'run.on_failure',
        'run.on_limit',
        'run.silence_minutes',
        'run.small_up_to',
        'run.task_minutes',
        'run.verify_minutes',
      ].toSorted(),
    )
  })

  test('that is new needs consent, in a section or beside it', () => {
    expect(Object.keys(effectValues({ tomorrow: 'on', run: { brand_new: 1 } }))).toEqual([
      'tomorrow',
      'run.brand_new',
    ])
  })

  test('that is left out leaves a valid configuration, whichever it is', () => {
    const keys = Object.keys(effectValues(ALL))
    for (const key of keys)
      expect(() => parseConfig(withoutSections(ALL, [key]), 'config.yaml'), key).not.toThrow()
    expect(effectValues(withoutSections(ALL, keys))).toEqual({})
    expect(parseConfig(withoutSections(ALL, keys), 'config.yaml')).toMatchObject({ share: 'none' })
  })

  test('is the same value for any order of its keys', () => {
    const consent = (values: Readonly<Record<string, string>>) => ({
      root: '/',
      at: '',
      values,
      verify: [],
      journals: true,
    })
    const world = plainProject(scratchFolder())
    world.write(
      '.sessions/config.yaml',
      'api:\n  provider: openai\n  headers: { a: "1", b: "2" }\n',
    )
    expect(readConfig({ root: world.root, sessions: world.path('.sessions') }).withheld).toEqual([])
    writeFileSync(
      world.path('.sessions', 'config.yaml'),
      'api:\n  headers: { b: "2", a: "1" }\n  provider: openai\n',
    )
    expect(readConfig({ root: world.root, sessions: world.path('.sessions') }).withheld).toEqual([])
    expect(notAgreed({ verify: 'a' }, consent({ verify: 'another hash' }))).toEqual(['verify'])
  })
})

describe('consent', () => {
  test('is stored outside the project, for its folder only, readable only by the user', async () => {
    const world = gitProject()
    mkdirSync(world.path('.sessions'))
    writeFileSync(world.path('.sessions', 'config.yaml'), 'verify: npm test\n')
    const review = await world.run((project) => project.trust.grant())
    expect(review).toMatchObject({ isAgreed: true, items: [{ name: 'verify', status: 'agreed' }] })
    const folder = join(process.env.STINT_STATE_HOME!, 'trust')
    const files = readdirSync(folder).map((name) => join(folder, name))
    const own = files.filter((path) => JSON.parse(readFileSync(path, 'utf8')).root === world.root)
    expect(own).toHaveLength(1)
    expect(statSync(own[0]!).mode & 0o077).toBe(0)
    expect(readFileSync(own[0]!, 'utf8')).not.toContain('npm test')
    // The file's name is a short checksum, so another folder could share it.
    writeFileSync(
      own[0]!,
      JSON.stringify({ ...JSON.parse(readFileSync(own[0]!, 'utf8')), root: '/other' }),
    )
    expect((await world.run((project) => project.trust.review())).isAgreed).toBe(false)
  })

  test('covers the values that were shown, not later changes of the file', async () => {
    const world = gitProject()
    mkdirSync(world.path('.sessions'))
    writeFileSync(world.path('.sessions', 'config.yaml'), 'verify: npm test\n')
    const after = await world.run(async (project) => {
      const shown = await project.trust.review()
      writeFileSync(world.path('.sessions', 'config.yaml'), 'verify: rm -rf .\n')
      return project.trust.grant(shown)
    })
    expect(after).toMatchObject({ isAgreed: false, items: [{ name: 'verify', status: 'changed' }] })
  })

  test('can be withdrawn', async () => {
    const world = gitProject()
    world.write('.sessions/config.yaml', 'verify: npm test\n')
    const isAgreed = () => world.run(async (project) => (await project.trust.review()).isAgreed)
    expect(await isAgreed()).toBe(true)
    expect(await world.run((project) => project.trust.withdraw())).toBe(true)
    expect(await isAgreed()).toBe(false)
    expect(await world.run((project) => project.trust.withdraw())).toBe(false)
  })

  test('covers a verify command that the user typed, and not one from a file or the page', async () => {
    const world = gitProject()
    await world.run((project) =>
      project.tasks.add({ title: 'Mine', verify: 'make mine', by: 'cli' }),
    )
    await world.run((project) =>
      project.tasks.add({ title: 'Page', verify: 'make page', by: 'page' }),
    )
    world.write('.tasks/active/file.md', '---\nverify: make file\n---\n# File\n')
    const { items } = await world.run((project) => project.trust.review())
    expect(
      items.filter(({ kind }) => kind === 'verify').map(({ value, status }) => [value, status]),
    ).toEqual(
      expect.arrayContaining([
        ['make mine', 'agreed'],
        ['make page', 'new'],
        ['make file', 'new'],
      ]),
    )
  })
})

describe('a journal', () => {
  test('without git counts as ours where this machine created it, and not in a copy', async () => {
    const world = plainProject(scratchFolder())
    await world.run((project) => project.init({ name: 'mine' }))
    const id = world.sessionId()
    expect(isRefusedJournal(findProjectPaths(world.root), id)).toBe(false)
    const copy = plainProject(scratchFolder())
    mkdirSync(copy.path('.sessions', 'journal', id), { recursive: true })
    writeFileSync(
      copy.path('.sessions', 'journal', id, 'log.jsonl'),
      readFileSync(world.path('.sessions', 'journal', id, 'log.jsonl')),
    )
    expect(isRefusedJournal(findProjectPaths(copy.root), id)).toBe(true)
  })

  test('that another program replaced with more entries needs consent again', async () => {
    const world = gitProject()
    await world.run((project) => project.init({ name: 'mine' }))
    const other = gitProject()
    await other.run((project) => project.init({ name: 'theirs' }))
    const log = (of: typeof world) => of.path('.sessions', 'journal', of.sessionId(), 'log.jsonl')
    const both = Buffer.concat([readFileSync(log(world)), readFileSync(log(other))])
    const path = log(world)
    rmSync(path)
    writeFileSync(path, both)
    const id = world.sessionId()
    expect(isRefusedJournal(findProjectPaths(world.root), id)).toBe(true)
    await expect(
      world.run((project) => project.log({ session: id, entries: [{ note: 'x' }] })),
    ).rejects.toMatchObject({ code: 'FOREIGN_JOURNAL' })
    await world.run((project) => project.trust.grant())
    await world.run((project) => project.log({ session: id, entries: [{ note: 'x' }] }))
    expect(isRefusedJournal(findProjectPaths(world.root), id)).toBe(false)
  })
})
