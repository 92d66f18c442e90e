import { chmodSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseCheckbox } from '../../../src/run/sources/markdown.ts'
import { parseChecklist } from '../../../src/run/sources/checklist.ts'
import { nextTasks } from '../../../src/backlog/task-graph.ts'
import { gitProject, plainProject } from '../../support/project.ts'
import { named, read, sourceOf, taskLines, workOn, worktree } from './world.ts'

const TODO = `# Things to do

Some words, and [a link](x.md).

## The API

- [ ] Cache the lookup P1 !S #perf
  It is asked a hundred times a second.

  - a remark, not a task
- [x] Measure it
* [ ] Expire the cache (depends: [cache-the-lookup, measure it])

## Web client ##

- [ ] New sign-in {#sign-in} P0
\t- [X] Choose a library
  - [ ] Write the form → code agent
  - [ ] Write tests
- [ ] Old sign-in {#old}
  - [ ] Write tests
1. [ ] Numbered (parallel: g1)
2) [ ] Numbered too

Not a task: [ ] this.
- not one either
- [ ]
- [-] cancelled
> - [ ] quoted
`

describe('a checklist', () => {
  test('is read with its nesting, ticks, short forms, headings and descriptions', async () => {
    const world = plainProject()
    world.write('TODO.md', TODO)
    const backlog = await read(world, 'TODO.md')
    expect(taskLines(backlog)).toEqual([
      'cache-the-lookup ready',
      'measure-it completed',
      'expire-the-cache ready <cache-the-lookup,measure-it',
      'sign-in ready',
      'choose-a-library completed ^sign-in',
      'write-the-form ready ^sign-in',
      'sign-in-write-tests ready ^sign-in',
      'old ready',
      'old-write-tests ready ^old',
      'numbered ready',
      'numbered-too ready',
    ])
    expect(named(backlog, 'cache-the-lookup')).toMatchObject({
      id: 'TODO.md/cache-the-lookup',
      title: 'Cache the lookup',
      priority: 'P1',
      size: 'S',
      labels: ['the-api', 'perf'],
      description: 'It is asked a hundred times a second.\n\n- a remark, not a task',
    })
    expect(named(backlog, 'sign-in')).toMatchObject({
      id: 'TODO.md/sign-in',
      title: 'New sign-in',
      priority: 'P0',
      labels: ['web-client'],
    })
    expect(named(backlog, 'sign-in-write-tests').id).toBe('TODO.md/sign-in/write-tests')
    expect(named(backlog, 'write-the-form').assignee).toBe('code')
    expect(named(backlog, 'numbered').group).toBe('g1')
    const startable = nextTasks(backlog).tasks.map(({ task }) => task.shortname)
    expect(startable).not.toContain('sign-in')
    expect(startable).toContain('write-the-form')
  })

  test.each([
    ['a fenced example', '- [ ] One\n\n```md\n- [ ] Not one\n```\n'],
    ['an example in an item', '- [ ] One\n  ~~~\n  - [ ] Not one\n  ~~~\n'],
    ['a comment', '- [ ] One\n<!-- - [ ] Not one -->\n<!--\n- [ ] Nor this\n-->\n'],
    ['frontmatter', '---\n# a remark\nlist:\n- [ ] no\n---\n- [ ] One\n'],
  ])('has no tasks in %s', (_where, text) => {
    expect(parseChecklist(text).items.map(({ task }) => task.own)).toEqual(['one'])
  })

  test('continues after a code fence that is never closed', () => {
    expect(parseChecklist('- [ ] One\n```\n- [ ] Two\n').items).toHaveLength(2)
  })

  test("labels its items with their heading, unless that heading is the file's only title", () => {
    const labels = (text: string) => parseChecklist(text).items.map(({ task }) => task.labels)
    expect(labels('# Todo\n- [ ] One\n')).toEqual([[]])
    expect(labels('# Now\n- [ ] One\n# Later\n- [ ] Two\n')).toEqual([['now'], ['later']])
  })

  test('accepts an id and short forms in any order', () => {
    const forms = ['Do it {#it} P1 !S', 'Do it P1 !S {#it}', 'Do it P1 {#it} !S']
    for (const form of forms) {
      const [item] = parseChecklist(`- [ ] ${form}`).items
      expect(item!.task).toMatchObject({ own: 'it', title: 'Do it', priority: 'P1', size: 'S' })
    }
  })

  test('reports how a checkbox is written when it has none', async () => {
    const world = plainProject()
    world.write('TODO.md', '# Nothing\n')
    expect((await read(world, 'TODO.md')).tasks).toEqual([])
    expect(world.messages).toEqual(['TODO.md has no line of the form "- [ ] what is to be done"'])
  })

  test('reports all mistakes with their lines, and nothing starts', async () => {
    const world = plainProject()
    const lines = [
      '- [ ] Write tests',
      '- [ ] A {#a} (depends: [nothing])',
      '- [ ] write tests!',
      '- [ ] B {#../b}',
      '- [ ] C (depends: [x])',
      '- [ ] P {#p}',
      '  - [ ] X',
      '- [ ] Q {#q}',
      '  - [ ] X',
    ]
    world.write('TODO.md', lines.join('\n'))
    const error = (await read(world, 'TODO.md').catch((thrown: unknown) => thrown)) as Error & {
      code: string
    }
    expect(error.code).toBe('BACKLOG_INVALID')
    expect(
      error.message
        .split('\n')
        .slice(1)
        .map((line) => line.trim()),
    ).toEqual([
      expect.stringMatching(/^line 4: the id \.\.\/b; letters/),
      'lines 1 and 3: the same name write-tests; give one of them an id of its own at its end, such as {#write-tests-2}',
      'line 2: it depends on nothing, which is not in the file',
      'line 5: it depends on x, which may be any of p/x, q/x',
    ])
  })

  test('is refused when a sub-item depends on its parent', () => {
    expect(parseChecklist('- [ ] A\n  - [ ] B (depends: [a])\n').problems).toEqual([
      'lines 1 and 2: each waits for the next: a → a/b → a',
    ])
  })

  test('may repeat an item when every copy is ticked', () => {
    expect(parseChecklist('- [x] Release\n- [x] Release\n').problems).toEqual([])
    expect(parseChecklist('- [x] Release\n- [ ] Release\n').problems).toHaveLength(1)
  })
})

describe('the id of an item', () => {
  test('stays when lines move, when it is ticked, and when its short forms change', async () => {
    const world = gitProject()
    world.write('TODO.md', '## Next\n- [ ] Fix the crash, please P1\n- [ ] Other\n')
    await workOn(world, 'TODO.md/fix-the-crash-please')
    const moved =
      '## New\n- [ ] Before it\n- [ ] Other\n## Doing\n\n* [ ] Fix the crash please !XL #late\n'
    world.write('TODO.md', moved)
    expect(taskLines(await read(world, 'TODO.md'))).toEqual([
      'before-it ready',
      'other ready',
      'fix-the-crash-please completed',
    ])
  })

  test('differs for long or non-Latin texts that shorten to the same name', () => {
    const long = 'Implement the new authentication flow for the client of the'
    const { items, problems } = parseChecklist(
      `- [ ] ${long} web\n- [ ] ${long} phone\n- [ ] Исправить\n- [ ] Проверить\n- [ ] +++\n`,
    )
    expect(problems).toEqual([])
    expect(new Set(items.map(({ task }) => task.own)).size).toBe(5)
  })

  test('contains no secret from the text', async () => {
    const world = plainProject()
    const secret = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
    // Short enough to be used as a name unshortened.
    world.write('TODO.md', `- [ ] ${secret}\n`)
    const [task] = (await read(world, 'TODO.md')).tasks
    expect(JSON.stringify(task)).not.toContain(secret)
    expect(task!.id).not.toContain(secret.slice(4, 12).toLowerCase())
  })
})

describe('completing an item', () => {
  test("ticks its box in the run's copy and changes no other byte", async () => {
    const world = gitProject()
    const text = `\uFEFF${TODO.replaceAll('\n', '\r\n')}trailing  \r\n`
    world.commit('todo', { 'TODO.md': text })
    const tree = worktree(world)
    const source = await sourceOf(world, 'TODO.md')
    const backlog = await source.read()
    let expected = text
    for (const [name, line] of [
      ['old-write-tests', '- [ ] Old sign-in {#old}\r\n  - [ ] Write tests'],
      ['cache-the-lookup', '- [ ] Cache the lookup'],
      ['numbered-too', '2) [ ] Numbered too'],
    ] as const) {
      expect(await source.complete(named(backlog, name), 'done', tree)).toEqual(['TODO.md'])
      const at = line.lastIndexOf('[ ]')
      expected = expected.replace(line, `${line.slice(0, at)}[x]${line.slice(at + 3)}`)
      expect(readFileSync(join(tree, 'TODO.md'), 'utf8')).toBe(expected)
    }
    expect(world.read('TODO.md')).toBe(text)
    expect(await source.complete(named(backlog, 'choose-a-library'), 'done', tree)).toEqual([])
  })

  test('finds it after the agent moved it, and does not write the file after the agent reworded it', async () => {
    const world = gitProject()
    world.commit('todo', { 'TODO.md': '- [ ] One\n- [ ] Two\n' })
    const source = await sourceOf(world, 'TODO.md')
    const backlog = await source.read()
    world.write('TODO.md', '- [ ] New\n- [ ] Two\n- [ ] One\n')
    expect(await source.complete(named(backlog, 'one'), '', world.root)).toEqual(['TODO.md'])
    expect(world.read('TODO.md')).toBe('- [ ] New\n- [ ] Two\n- [x] One\n')
    world.write('TODO.md', '- [ ] Something else\n')
    expect(await source.complete(named(backlog, 'two'), '', world.root)).toEqual([])
    expect(world.read('TODO.md')).toBe('- [ ] Something else\n')
    expect(world.messages).toContain(
      'TODO.md has no single line for two any more; it was left as it is',
    )
  })

  test("keeps the file's permissions, and returns no path to commit when git does not track it", async () => {
    const world = gitProject()
    world.write('TODO.md', '- [ ] One\n')
    const source = await sourceOf(world, 'TODO.md')
    chmodSync(world.path('TODO.md'), 0o640)
    expect(await source.complete((await source.read()).tasks[0]!, '', world.root)).toEqual([])
    expect(world.read('TODO.md')).toBe('- [x] One\n')
    expect(statSync(world.path('TODO.md')).mode & 0o777).toBe(0o640)
  })
})

test('parses any text, and every checkbox it returns is at the reported position', () => {
  const piece = fc.constantFrom(
    '- [ ] a',
    '  - [x] b',
    '\t* [ ] c {#d}',
    '```',
    '<!--',
    '-->',
    '# H',
    '---',
    '',
    '  text',
    '1. [ ] e P1',
    '\r',
    '\uFEFF',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 30 }), (pieces) => {
      const text = pieces.join('\n')
      const lines = text.split('\n')
      for (const { line, box } of parseChecklist(text).items)
        expect(parseCheckbox(lines[line - 1]!)).toEqual(box)
    }),
  )
})
