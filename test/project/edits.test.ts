import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { encodeRecord } from '../../src/journal/record.ts'
import { refreshViews } from '../../src/project/store/refresh-views.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import { type World, projectOf } from '../support/project.ts'
import { type Story, sweepStory } from '../support/worlds.ts'

type Sweep = ReturnType<typeof sweepStory>

interface Edited {
  readonly world: World
  readonly story: Sweep
}

/** The project of the example in the format's documentation. */
async function sweep(addTo: (story: Sweep) => void = () => {}): Promise<Edited> {
  const story = sweepStory()
  addTo(story)
  return { story, world: await projectOf(story) }
}

/** Runs a command, checks that another one changes nothing, and returns the entries of the edit. */
async function absorb(
  world: World,
  command = () => world.view() as Promise<unknown>,
): Promise<readonly unknown[]> {
  const before = new Set(world.journal().map((entry) => entry.id))
  await command()
  const fresh = world.journal().filter((entry) => !before.has(entry.id) && entry.by === 'document')
  await expectUnchanged(world)
  return fresh.map(({ kind, data }) => ({ kind, ...data }))
}

/** Another command absorbs nothing and writes nothing, and no file was left behind. */
async function expectUnchanged(world: World): Promise<void> {
  const [document, count] = [world.document(), world.journal().length]
  await world.view(world.sessionId())
  expect(world.document()).toBe(document)
  expect(world.journal()).toHaveLength(count)
  expect(
    world
      .names('.sessions', 'journal', world.sessionId())
      .filter((name) => name.startsWith('taken-')),
  ).toEqual([])
}

function idOf(story: Story, kind: string, nth = 0): string {
  return story.entries.filter((entry) => entry.kind === kind)[nth]!.id
}

/** The lines between a heading and the next one, without blank lines. */
function under(world: World, heading: string): readonly string[] {
  const lines = world.document().split('\n')
  const start = lines.indexOf(heading)
  expect(start, `no ${heading} in\n${world.document()}`).not.toBe(-1)
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => /^(?:#|\*\*Key |<!-- stint)/.test(line))
  return rest.slice(0, end).filter((line) => line !== '')
}

const KEY = '**Key Context** (survives compaction):'

describe('steps', () => {
  test('a step ticked in the document is done', async () => {
    const { world, story } = await sweep()
    world.edit('- [ ] Add regression test', '- [x] Add regression test')
    expect(await absorb(world)).toEqual([{ kind: 'step.done', step: story.steps[4] }])
    expect(under(world, '### Completed').at(-1)).toMatch(
      /^- \[x\] Add regression test \(\d{4}-\d\d-\d\dT\d\d:\d\d\)$/,
    )
    expect(under(world, '### Remaining')).toEqual(['- None yet'])
    expect(world.document()).toContain('**Progress**: 4/5 steps complete')
  })

  test('a step ticked with a time is done at that time', async () => {
    const { world, story } = await sweep()
    world.edit('- [ ] Add regression test', '- [x] Add regression test (2025-01-15T16:40)')
    expect(await absorb(world)).toEqual([
      { kind: 'step.done', step: story.steps[4], when: '2025-01-15T16:40:00.000Z' },
    ])
    expect(under(world, '### Completed').at(-1)).toBe(
      '- [x] Add regression test (2025-01-15T16:40)',
    )
  })

  test('a step unticked in the document is open again', async () => {
    const { world, story } = await sweep()
    world.edit('- [x] Identify root cause', '- [ ] Identify root cause')
    expect(await absorb(world)).toEqual([{ kind: 'step.reopened', step: story.steps[1] }])
    expect(under(world, '### Completed')).toHaveLength(2)
    expect(under(world, '### Remaining')).toEqual([
      '- [ ] Identify root cause',
      '- [ ] Add regression test',
    ])
  })

  test('a step moved under In Progress is started', async () => {
    const { world, story } = await sweep()
    world.edit('### In Progress\n', '### In Progress\n- [ ] Add regression test\n')
    world.edit('### Remaining\n- [ ] Add regression test\n', '### Remaining\n')
    expect(await absorb(world)).toEqual([{ kind: 'step.started', step: story.steps[4] }])
    expect(under(world, '### In Progress').at(-1)).toBe(
      '- [ ] Add regression test          <- CURRENT',
    )
  })

  test('a step added in the middle stays in the middle', async () => {
    const { world } = await sweep((journal) => {
      journal.add('step.added', { text: 'Write the changelog' })
      journal.add('step.added', { text: 'Ask for a review' })
    })
    world.edit('- [ ] Write the changelog\n', '- [ ] Write the changelog\n- [ ] Measure the lock\n')
    const [entry] = await absorb(world)
    expect(entry).toMatchObject({ kind: 'step.added', text: 'Measure the lock' })
    const wanted = [
      'Add regression test',
      'Write the changelog',
      'Measure the lock',
      'Ask for a review',
    ]
    expect(under(world, '### Remaining')).toEqual(wanted.map((text) => `- [ ] ${text}`))
  })

  test('a step added at the top stays at the top', async () => {
    const { world } = await sweep()
    world.edit('### Remaining\n', '### Remaining\n- [ ] Measure the lock\n')
    expect(await absorb(world)).toMatchObject([{ kind: 'step.added', text: 'Measure the lock' }])
    expect(under(world, '### Remaining')).toEqual([
      '- [ ] Measure the lock',
      '- [ ] Add regression test',
    ])
  })

  test('a step added as done under Completed stays between its neighbours', async () => {
    const { world } = await sweep()
    world.edit('(2025-01-15T10:10)\n', '(2025-01-15T10:10)\n- [x] Read the issue\n')
    expect(await absorb(world)).toMatchObject([
      { kind: 'step.added', text: 'Read the issue' },
      { kind: 'step.done' },
    ])
    const texts = under(world, '### Completed').map((line) => line.replace(/ \(.*/, '').slice(6))
    expect(texts).toEqual([
      'Reproduce bug in test',
      'Read the issue',
      'Identify root cause',
      'Draft fix approach',
    ])
  })

  test('a reworded step is the same step', async () => {
    const { world, story } = await sweep()
    world.edit('- [ ] Implement fix ', '- [ ] Implement the mutex fix ')
    expect(await absorb(world)).toEqual([
      {
        kind: 'entry.amended',
        entry: story.steps[3],
        changes: { text: 'Implement the mutex fix' },
      },
    ])
    expect(world.document()).toContain('- [ ] Implement the mutex fix          <- CURRENT')
    expect(world.document()).toContain('**Current**: Implement the mutex fix (step 4)')
  })

  test('a step can be reworded and ticked at once', async () => {
    const { world, story } = await sweep()
    world.edit('- [ ] Add regression test', '- [x] Add two regression tests')
    expect(await absorb(world)).toEqual([
      {
        kind: 'entry.amended',
        entry: story.steps[4],
        changes: { text: 'Add two regression tests' },
      },
      { kind: 'step.done', step: story.steps[4] },
    ])
    expect(under(world, '### Completed').at(-1)).toContain('- [x] Add two regression tests (')
  })

  test('a plain line under Completed becomes a progress entry', async () => {
    const { world } = await sweep()
    world.edit('(2025-01-15T10:12)\n', '(2025-01-15T10:12)\n- Talked to the team\n')
    expect(await absorb(world)).toEqual([{ kind: 'progress.made', text: 'Talked to the team' }])
    expect(under(world, '### Completed').at(-1)).toMatch(/^- Talked to the team \(/)
  })
})

describe('decisions', () => {
  test('a decision in the usual form becomes a decision entry', async () => {
    const { world } = await sweep()
    world.edit(
      '\n## Discoveries',
      '\n### 2. Keep the old API\n**Context**: Two callers remain\n**Options**: (1) Keep, (2) Break\n**Choice**: Keep\n**Rationale**: Nobody has time\n\n## Discoveries',
    )
    expect(await absorb(world)).toEqual([
      {
        kind: 'decision.made',
        title: 'Keep the old API',
        context: 'Two callers remain',
        options: '(1) Keep, (2) Break',
        choice: 'Keep',
        rationale: 'Nobody has time',
      },
    ])
    expect(world.document()).toMatch(
      /\n\n### 2\. Keep the old API \([^)]*\)\n\*\*Context\*\*: Two callers remain\n\*\*Options\*\*: \(1\) Keep, \(2\) Break\n\*\*Choice\*\*: Keep\n\*\*Rationale\*\*: Nobody has time\n\n## Disc/,
    )
  })

  test('a decision between two others is numbered by position', async () => {
    const { world } = await sweep((journal) =>
      journal.add('decision.made', { title: 'Ship on Friday' }),
    )
    world.edit(
      '\n### 2. Ship',
      '\n### Keep the old API\n**Rationale**: Nobody has time\n\n### 2. Ship',
    )
    expect(await absorb(world)).toMatchObject([
      { kind: 'decision.made', title: 'Keep the old API' },
    ])
    const headings =
      under(world, '## Decisions').length === 0 ? world.document().match(/^### \d.*?(?= \()/gm) : []
    expect(headings).toEqual([
      '### 1. Lock-first approach',
      '### 2. Keep the old API',
      '### 3. Ship on Friday',
    ])
  })

  test('a bullet under Decisions becomes a short decision', async () => {
    const { world } = await sweep()
    world.edit('## Decisions\n', '## Decisions\n- Keep the old API\n')
    expect(await absorb(world)).toMatchObject([
      { kind: 'decision.made', title: 'Keep the old API' },
    ])
    expect(world.document()).toMatch(
      /## Decisions\n### 1\. Keep the old API \(.*\)\n\*\*Choice\*\*: Keep the old API\n/,
    )
    expect(world.document()).toContain('### 2. Lock-first approach')
  })

  test('the first decision of a session may be a bullet', async () => {
    const { world } = await sweep((journal) =>
      journal.add('entry.retracted', { entry: idOf(journal, 'decision.made') }),
    )
    world.edit('## Decisions\n- None yet\n', '## Decisions\n- Keep the old API\n')
    expect(await absorb(world)).toEqual([{ kind: 'decision.made', title: 'Keep the old API' }])
    expect(world.document()).toContain('### 1. Keep the old API')
    expect(world.document()).toContain('**Rationale**: not recorded')
  })

  test('rewording a rationale changes only that decision', async () => {
    const { world, story } = await sweep()
    world.edit('Simplest fix, performance impact minimal', 'It was measured')
    expect(await absorb(world)).toEqual([
      {
        kind: 'entry.amended',
        entry: idOf(story, 'decision.made'),
        changes: { rationale: 'It was measured' },
      },
    ])
    expect(under(world, '### 1. Lock-first approach (2025-01-15T10:14)').at(-1)).toBe(
      '**Rationale**: It was measured',
    )
  })

  test('a rationale may span several lines', async () => {
    const { world, story } = await sweep()
    world.edit('impact minimal\n', 'impact minimal\nand it was measured twice\n')
    expect(await absorb(world)).toEqual([
      {
        kind: 'entry.amended',
        entry: idOf(story, 'decision.made'),
        changes: {
          rationale: 'Simplest fix, performance impact minimal\nand it was measured twice',
        },
      },
    ])
    expect(world.document()).toContain(
      'impact minimal\nand it was measured twice\n\n## Discoveries',
    )
  })
})

describe('the sections a resuming agent reads first', () => {
  test('an edited TL;DR replaces the old one', async () => {
    const { world } = await sweep()
    world.edit('Currently implementing mutex fix.', 'The mutex is in.')
    const text =
      'Fixing race condition in sweep trigger. Found root cause in sweeper.go:245.\nThe mutex is in. Next: complete mutex, add tests.'
    expect(await absorb(world)).toEqual([{ kind: 'tldr.written', text }])
    expect(world.document()).toContain(`## TL;DR (Read This First)\n${text}\n\n**Progress**`)
    expect(world.read('.sessions', 'journal', world.sessionId(), 'progress.md')).toContain(text)
  })

  test('an edited objective replaces the old one', async () => {
    const { world } = await sweep()
    world.edit('causing intermittent sweep failures', 'for good')
    expect(await absorb(world)).toEqual([{ kind: 'goal.set', text: 'Fix race condition for good' }])
    expect(world.document()).toContain('**Objective**: Fix race condition for good\n')
  })

  test('an edited line of key context stays the same entry', async () => {
    const { world, story } = await sweep()
    world.edit(
      'state check before lock acquisition',
      'the state is checked before the lock is taken',
    )
    const text = 'Race condition: the state is checked before the lock is taken'
    expect(await absorb(world)).toEqual([
      { kind: 'entry.amended', entry: idOf(story, 'key.added'), changes: { text } },
    ])
    expect(under(world, KEY)[0]).toBe(`- ${text}`)
  })

  test('a line added to the key context stays where it was put', async () => {
    const { world, story } = await sweep()
    world.edit('- Test command', '- Lock ordering: watcher first\n- Test command')
    expect(await absorb(world)).toEqual([
      { kind: 'key.added', text: 'Lock ordering: watcher first', after: idOf(story, 'key.added') },
    ])
    expect(under(world, KEY)[1]).toBe('- Lock ordering: watcher first')
    expect(under(world, KEY)).toHaveLength(3)
  })

  test('a line removed from the key context is retracted', async () => {
    const { world, story } = await sweep()
    world.edit(/- Race condition: .*\n/, '')
    expect(await absorb(world)).toMatchObject([
      { kind: 'entry.retracted', entry: idOf(story, 'key.added') },
    ])
    expect(under(world, KEY)).toEqual([
      '- Test command: `go test -v -run TestSweepTrigger ./itest`',
    ])
  })

  test('reordered lines of key context stay in that order', async () => {
    const { world, story } = await sweep()
    const [first, second] = under(world, KEY)
    world.edit(`${first}\n${second}\n`, `${second}\n${first}\n`)
    expect(await absorb(world)).toMatchObject([{ kind: 'item.moved' }])
    expect(under(world, KEY)).toEqual([second, first])
    expect(world.entries('key.added')).toHaveLength(
      story.entries.filter(({ kind }) => kind === 'key.added').length,
    )
  })

  test('next steps may be added, removed and reordered', async () => {
    const { world, story } = await sweep((journal) =>
      journal.add('next.added', { text: 'Document lock ordering' }),
    )
    world.edit(
      /1\. Complete mutex[\s\S]*3\. .*\n/,
      '1. Document lock ordering\n2. Run the linter\n3. Complete mutex implementation in sweeper.go\n',
    )
    const entries = await absorb(world)
    expect(entries).toContainEqual(
      expect.objectContaining({ kind: 'entry.retracted', entry: idOf(story, 'next.added', 1) }),
    )
    expect(entries).toContainEqual(
      expect.objectContaining({ kind: 'next.added', text: 'Run the linter' }),
    )
    expect(under(world, '## Next Steps')).toEqual([
      '1. Document lock ordering',
      '2. Run the linter',
      '3. Complete mutex implementation in sweeper.go',
    ])
  })

  test('a next step inserted without a correct number is numbered', async () => {
    const { world } = await sweep()
    world.edit('2. Add regression test', '- Run the linter\n2. Add regression test')
    expect(await absorb(world)).toMatchObject([{ kind: 'next.added', text: 'Run the linter' }])
    expect(under(world, '## Next Steps')).toEqual([
      '1. Complete mutex implementation in sweeper.go',
      '2. Run the linter',
      '3. Add regression test',
    ])
  })

  test('a blocker may be added and removed', async () => {
    const { world } = await sweep()
    world.edit('- None currently', '- Waiting on API docs')
    expect(await absorb(world)).toEqual([{ kind: 'blocker.raised', text: 'Waiting on API docs' }])
    expect(world.document()).toContain('**Blocker**: Waiting on API docs')
    world.edit(/- Waiting on API docs \(.*\)/, '- [x] Waiting on API docs')
    expect(await absorb(world)).toMatchObject([{ kind: 'blocker.resolved' }])
    expect(world.document()).toContain('**Blocker**: None')
    expect(under(world, '## Blockers')[0]).toMatch(/^- \[x\] Waiting on API docs \(resolved /)
  })

  test('a key file may be redescribed and removed', async () => {
    const { world } = await sweep()
    world.edit('- Main sweeper logic', '- The sweeper')
    world.edit(/- `contractcourt.*\n/, '')
    expect(await absorb(world)).toEqual([
      { kind: 'file.noted', path: 'sweep/sweeper.go', description: 'The sweeper' },
      { kind: 'file.dropped', path: 'contractcourt/chain_watcher.go', list: 'key' },
    ])
    expect(under(world, '**Key Files**:')).toEqual(['- `sweep/sweeper.go` - The sweeper'])
  })
})

describe("the user's own text", () => {
  test.each([
    '## TL;DR (Read This First)',
    '## Context',
    '## Progress',
    '## Decisions',
    '## Blockers',
    '## Next Steps',
  ])("a user's section stays above %s", async (heading) => {
    const { world } = await sweep()
    const own = '## Ideas\nAn *idea*, and\n\n- a list\n  - in a list\n'
    world.edit(`\n${heading}\n`, `\n${own}\n${heading}\n`)
    expect(await absorb(world)).toMatchObject([{ kind: 'section.written', title: 'Ideas' }])
    expect(world.document()).toContain(`\n${own}\n${heading}\n`)
    await world.run((project) =>
      project.log({ entries: [{ next: 'More' }, { key: 'More' }, { progress: 'More' }] }),
    )
    expect(world.document()).toContain(`\n${own}\n${heading}\n`)
  })

  test("a user's section at the end stays there", async () => {
    const { world } = await sweep()
    world.edit('\n<!-- stint', '\n## Ideas\nOne.\n\n<!-- stint')
    expect(await absorb(world)).toMatchObject([
      { kind: 'section.written', title: 'Ideas', body: 'One.', after: 'next' },
    ])
    expect(world.document()).toMatch(/## Ideas\nOne\.\n\n<!-- stint: [^\n]*\n$/)
  })

  test('a section below the marker is kept', async () => {
    const { world } = await sweep()
    world.save(`${world.document()}\n## Ideas\nOne.\n`)
    expect(await absorb(world)).toMatchObject([{ kind: 'section.written', title: 'Ideas' }])
    expect(world.document()).toContain('## Ideas\nOne.\n')
  })

  test('user sections keep their order', async () => {
    const { world } = await sweep()
    world.edit('\n## Decisions\n', '\n## One\n1\n\n## Two\n2\n\n## Decisions\n')
    await absorb(world)
    world.edit('\n## Two\n', '\n## Between\n1.5\n\n## Two\n')
    await absorb(world)
    expect(world.document()).toContain(
      '## One\n1\n\n## Between\n1.5\n\n## Two\n2\n\n## Decisions\n',
    )
  })

  test("a user's section may be changed and removed", async () => {
    const { world } = await sweep()
    world.edit('\n## Decisions\n', '\n## Ideas\nOne.\n\n## Decisions\n')
    await absorb(world)
    const written = world.journal().find(({ kind }) => kind === 'section.written')
    world.edit('One.', 'Two.')
    expect(await absorb(world)).toEqual([
      { kind: 'entry.amended', entry: written!.id, changes: { body: 'Two.' } },
    ])
    world.edit('## Ideas\nTwo.\n\n', '')
    expect(await absorb(world)).toMatchObject([{ kind: 'entry.retracted', entry: written!.id }])
    expect(world.document()).not.toContain('Ideas')
  })

  test.each(['### Completed', '## Discoveries', '## Decisions', '## Next Steps'])(
    'free text under %s stays there',
    async (heading) => {
      const { world } = await sweep()
      const own = 'Mind that this was\nwritten by hand.\n'
      world.edit(`\n${heading}\n`, `\n${heading}\n${own}\n`)
      expect(await absorb(world)).toMatchObject([{ kind: 'remark.placed' }])
      expect(world.document()).toContain(`\n${heading}\n${own}`)
      await world.run((project) =>
        project.log({ entries: [{ next: 'More' }, { discovery: 'More' }, { progress: 'More' }] }),
      )
      expect(world.document()).toContain(`\n${heading}\n${own}`)
    },
  )

  test.each(['**Objective**', '**Key Files**'])(
    'free text in front of %s moves below the objective',
    async (line) => {
      const { world } = await sweep()
      world.edit(line, `Mind that this was\nwritten by hand.\n\n${line}`)
      expect(await absorb(world)).toMatchObject([{ kind: 'remark.placed', section: 'context' }])
      expect(world.document()).toContain(
        'sweep failures\n\nMind that this was\nwritten by hand.\n\n**Key Files**',
      )
      world.edit('sweep failures', 'sweep errors')
      expect(await absorb(world)).toEqual([
        { kind: 'goal.set', text: 'Fix race condition causing intermittent sweep errors' },
      ])
    },
  )

  test('free text between two items stays between them', async () => {
    const { world } = await sweep()
    world.edit('\n2. Add regression test', '\n\nOnly then:\n\n2. Add regression test')
    expect(await absorb(world)).toMatchObject([{ kind: 'remark.placed', section: 'next' }])
    expect(world.document()).toContain('sweeper.go\n\nOnly then:\n\n2. Add regression test\n')
  })

  test('a fenced block with a heading inside stays one block', async () => {
    const { world } = await sweep()
    const own =
      '```md\n## Not a heading\n- [ ] not a step\n### 1. not a decision\n<<<<<<< not a conflict\n```\n'
    world.edit('\n## Discoveries\n', `\n## Discoveries\n${own}\n`)
    expect(await absorb(world)).toMatchObject([{ kind: 'remark.placed', section: 'discoveries' }])
    expect(world.document()).toContain(`## Discoveries\n${own}`)
    expect(world.entries('section.written')).toEqual([])
  })

  test('a section whose body is a fenced block keeps it', async () => {
    const { world } = await sweep()
    const own = '## Transcript\n~~~\n## Next Steps\n1. not one of ours\n~~~\n'
    world.edit('\n## Discoveries\n', `\n${own}\n## Discoveries\n`)
    expect(await absorb(world)).toMatchObject([{ kind: 'section.written', title: 'Transcript' }])
    expect(world.document()).toContain(`\n${own}\n## Discoveries\n`)
    expect(under(world, '## Blockers')).toEqual(['- None currently'])
  })

  test("a user's key in the frontmatter stays as written", async () => {
    const { world } = await sweep()
    world.edit(
      'git_last_commit: abc123f\n',
      'git_last_commit: abc123f\nowner: "Zoë"   # for now\nlabels:\n  - a\n  - b\n',
    )
    expect(await absorb(world)).toEqual([
      { kind: 'field.set', key: 'owner', value: ' "Zoë"   # for now' },
      { kind: 'field.set', key: 'labels', value: '\n  - a\n  - b' },
    ])
    expect(world.document()).toContain('\nowner: "Zoë"   # for now\nlabels:\n  - a\n  - b\n---\n')
    world.edit('owner: "Zoë"   # for now\n', '')
    expect(await absorb(world)).toEqual([{ kind: 'field.set', key: 'owner', value: '' }])
    expect(world.document()).not.toContain('owner')
  })
})

describe('the frontmatter', () => {
  test('an edited shortname renames the session and its document', async () => {
    const { world } = await sweep()
    world.edit('shortname: fix-sweep-bug', 'shortname: Sweep Race')
    expect(await absorb(world)).toEqual([{ kind: 'session.renamed', name: 'sweep-race' }])
    expect(world.documentPath()).toBe(join('.sessions', 'active', 'sweep-race-890abc.md'))
    expect(world.document()).toContain('shortname: sweep-race\n')
    const { state } = await world.view('sweep-race')
    expect(state.name).toBe('sweep-race')
  })

  test('the status can be changed to paused and back to active', async () => {
    const { world } = await sweep()
    world.edit('status: active', 'status: paused')
    expect(await absorb(world)).toEqual([{ kind: 'session.paused' }])
    expect(world.document()).toContain('status: paused\n')
    expect(world.document()).toContain('paused_at: ')
    world.edit('status: paused', 'status: active')
    expect(await absorb(world, () => world.view('fix-sweep-bug'))).toEqual([
      { kind: 'session.resumed' },
    ])
    expect(world.document()).not.toContain('paused_at')
  })

  test('the status completed moves the document to the archive, and active brings it back', async () => {
    const { world } = await sweep()
    world.edit('status: active', 'status: completed')
    expect(await absorb(world)).toEqual([{ kind: 'session.closed', how: 'completed' }])
    expect(world.documentPath()).toBe(join('.sessions', 'archive', 'fix-sweep-bug-890abc.md'))
    world.edit('status: completed', 'status: active')
    expect(await absorb(world, () => world.view('fix-sweep-bug'))).toEqual([
      { kind: 'session.reopened' },
    ])
    expect(world.documentPath()).toBe(join('.sessions', 'active', 'fix-sweep-bug-890abc.md'))
  })

  test('a status completed in the document completes the tasks of the session', async () => {
    const { world } = await sweep((told) => told.add('task.linked', { task: 'T-1' }))
    world.edit('status: active', 'status: completed')
    expect(await absorb(world)).toEqual([
      { kind: 'session.closed', how: 'completed' },
      { kind: 'task.moved', task: 'T-1', status: 'completed' },
    ])
  })

  test('an unknown status is reported and quarantined', async () => {
    const { world } = await sweep()
    const saved = world.edit('status: active', 'status: nearly')
    expect(await absorb(world)).toEqual([])
    expect(world.document()).toContain('status: active\n')
    expect(world.setAside().map(String)).toEqual([saved])
    expect(world.messages.join('\n')).toMatch(
      /fix-sweep-bug-890abc\.md was set aside as .*status .* is one of active/,
    )
  })

  test('an edited computed field is reported and recomputed, and other edits are absorbed', async () => {
    const { world } = await sweep()
    world.edit('compaction_count: 2', 'compaction_count: 7')
    const saved = world.edit('2. Add regression test', '2. Add regression test\n3. Rest')
    expect(await absorb(world)).toEqual([{ kind: 'next.added', text: 'Rest' }])
    expect(world.document()).toContain('compaction_count: 2\n')
    expect(world.setAside().map(String)).toEqual([saved])
    expect(world.messages.join('\n')).toContain('compaction_count in the frontmatter is computed')
  })
})

describe('a removed line', () => {
  test('is a retraction, and retracting that restores it', async () => {
    const { world, story } = await sweep()
    const before = world.document()
    world.edit(/1\. \*\*Lock ordering[\s\S]*this!\n/, '')
    expect(await absorb(world)).toEqual([
      {
        kind: 'entry.retracted',
        entry: idOf(story, 'discovery.made'),
        reason: 'removed in the document',
      },
    ])
    expect(under(world, '## Discoveries')).toEqual(['- None yet'])
    const retraction = world.journal().find(({ kind }) => kind === 'entry.retracted')!
    await world.run((project) => project.log({ retract: [retraction.id] }))
    const body = (text: string) => text.slice(text.indexOf('# Session'), text.indexOf('<!-- stint'))
    expect(body(world.document())).toBe(body(before))
    await expectUnchanged(world)
  })

  test('takes its remark and key context with it only when they derive from it', async () => {
    const { world, story } = await sweep((journal) => {
      journal.add('key.added', {
        text: 'Lock ordering matters',
        from: idOf(journal, 'discovery.made'),
      })
    })
    world.edit(/1\. \*\*Lock ordering[\s\S]*this!\n/, '')
    expect(await absorb(world)).toMatchObject([
      { kind: 'entry.retracted', entry: idOf(story, 'discovery.made') },
    ])
    expect(under(world, KEY)).toHaveLength(2)
  })

  test('is not a retraction when its whole section is missing', async () => {
    const { world } = await sweep()
    const saved = world.edit(/## Discoveries\n[\s\S]*?(?=## Blockers)/, '')
    expect(await absorb(world)).toEqual([])
    expect(under(world, '## Discoveries')[0]).toContain('**Lock ordering**')
    expect(world.setAside().map(String)).toEqual([saved])
    expect(world.messages.join('\n')).toContain(
      'the section "Discoveries" was missing; what it held is kept',
    )
  })
})

describe('an old buffer saved over newer entries', () => {
  test('retracts nothing without an edit', async () => {
    const { world } = await sweep()
    const old = world.document()
    await world.run((project) =>
      project.log({ entries: [{ progress: 'Newer' }, { tldr: 'Newer TL;DR' }] }),
    )
    world.save(old)
    expect(await absorb(world)).toEqual([])
    expect(world.document()).toContain('Newer TL;DR')
    expect(world.document()).toContain('- Newer (')
  })

  test('adds its edit and keeps newer entries', async () => {
    const { world } = await sweep()
    const old = world.document()
    await world.run((project) =>
      project.log({
        entries: [
          { progress: 'Newer' },
          { decision: 'Newer' },
          { next: 'Newer' },
          { key: 'Newer' },
          { done: 'Implement fix' },
        ],
      }),
    )
    world.save(
      old.replace('2. Add regression test\n', '2. Add regression test\n3. From the old buffer\n'),
    )
    expect(await absorb(world)).toEqual([{ kind: 'next.added', text: 'From the old buffer' }])
    expect(under(world, '## Next Steps').toSorted()).toEqual([
      '1. Complete mutex implementation in sweeper.go',
      '2. Add regression test',
      '3. Newer',
      '4. From the old buffer',
    ])
    for (const text of ['- Newer (', '### 2. Newer', '\n- Newer\n', '- [x] Implement fix']) {
      expect(world.document()).toContain(text)
    }
  })

  test("does not replace another writer's newer TL;DR", async () => {
    const { world } = await sweep()
    const old = world.document()
    await world.run((project) => project.log({ entries: [{ tldr: 'The mutex is in.' }] }))
    world.save(old.replace('1. Complete', '1. Now complete'))
    expect(await absorb(world)).toMatchObject([{ kind: 'entry.amended' }])
    expect(world.document()).toContain('## TL;DR (Read This First)\nThe mutex is in.\n')
  })

  test('does not add an edit that was already absorbed', async () => {
    const { world } = await sweep()
    const buffer = world.edit('2. Add regression test\n', '2. Add regression test\n3. Rest\n')
    await absorb(world)
    await world.run((project) => project.log({ entries: [{ progress: 'Newer' }] }))
    world.save(buffer)
    expect(await absorb(world)).toEqual([])
    expect(under(world, '## Next Steps')).toHaveLength(3)
  })

  test('adds only the new edit, at its position', async () => {
    const { world } = await sweep()
    const first = world.edit('### Remaining\n', '### Remaining\n- [ ] Measure\n')
    await absorb(world)
    world.save(first.replace('- [ ] Measure\n', '- [ ] Measure\n- [ ] Measure again\n'))
    expect(await absorb(world)).toMatchObject([{ kind: 'step.added', text: 'Measure again' }])
    expect(under(world, '### Remaining')).toEqual([
      '- [ ] Measure',
      '- [ ] Measure again',
      '- [ ] Add regression test',
    ])
  })

  test('ticks the step that an earlier save added', async () => {
    const { world } = await sweep()
    const first = world.edit('### Remaining\n', '### Remaining\n- [ ] Measure\n')
    await absorb(world)
    world.save(first.replace('- [ ] Measure\n', '- [x] Measure\n'))
    const step = world.journal().findLast(({ kind }) => kind === 'step.added')!
    expect(await absorb(world)).toEqual([{ kind: 'step.done', step: step.id }])
    expect(under(world, '### Completed').at(-1)).toMatch(/^- \[x\] Measure \(/)
    expect(under(world, '### Remaining')).toEqual(['- [ ] Add regression test'])
  })

  test('does not add a redacted text a second time', async () => {
    const { world } = await sweep()
    const token = `ghp_${'a1B2'.repeat(9)}`
    const buffer = world.edit(
      '2. Add regression test\n',
      `2. Add regression test\n3. Use ${token}\n`,
    )
    await absorb(world)
    world.save(`${buffer.replace('1. Complete', '1. Now complete')}`)
    expect(await absorb(world)).toMatchObject([{ kind: 'entry.amended' }])
    expect(under(world, '## Next Steps')).toHaveLength(3)
    expect(world.document()).not.toContain(token)
  })

  test('does not restore a TL;DR that another writer replaced', async () => {
    const { world } = await sweep()
    const buffer = world.edit('Currently implementing mutex fix.', 'The mutex is in.')
    await absorb(world)
    await world.run((project) => project.log({ entries: [{ tldr: 'All is done.' }] }))
    world.save(`${buffer.replace('2. Add regression test\n', '2. Add regression test\n3. Rest\n')}`)
    expect(await absorb(world)).toEqual([{ kind: 'next.added', text: 'Rest' }])
    expect(world.document()).toContain('All is done.')
  })

  test('does not restore a line that was retracted since', async () => {
    const { world, story } = await sweep()
    const old = world.document()
    await world.run((project) => project.log({ retract: [idOf(story, 'discovery.made')] }))
    world.save(old.replace('1. Complete', '1. Now complete'))
    expect(await absorb(world)).toMatchObject([{ kind: 'entry.amended' }])
    expect(under(world, '## Discoveries')).toEqual(['- None yet'])
  })

  test('is found under the name from before a rename', async () => {
    const { world } = await sweep()
    const [path, old] = [world.documentPath(), world.document()]
    world.edit('shortname: fix-sweep-bug', 'shortname: sweep-race')
    await absorb(world)
    world.write(path, old.replace('1. Complete', '1. Now complete'))
    await world.view()
    expect(world.documentPath()).toBe(join('.sessions', 'active', 'sweep-race-890abc.md'))
    expect(under(world, '## Next Steps')[0]).toBe(
      '1. Now complete mutex implementation in sweeper.go',
    )
  })

  test('is found where it was before the session was closed', async () => {
    const { world } = await sweep()
    const [path, old] = [world.documentPath(), world.document()]
    await world.run((project) => project.close({ how: 'completed' }))
    world.write(path, old.replace('1. Complete', '1. Now complete'))
    await world.view('fix-sweep-bug')
    expect(world.documentPath()).toBe(join('.sessions', 'archive', 'fix-sweep-bug-890abc.md'))
    expect(under(world, '## Next Steps')[0]).toBe(
      '1. Now complete mutex implementation in sweeper.go',
    )
  })
})

describe('an edit is absorbed', () => {
  const edit = (world: World) =>
    world.edit('2. Add regression test', '2. Add regression test\n3. Rest')

  test('while the session is paused', async () => {
    const { world } = await sweep()
    await world.run((project) => project.pause({ note: 'lunch' }))
    edit(world)
    expect(await absorb(world, () => world.view('fix-sweep-bug'))).toEqual([
      { kind: 'next.added', text: 'Rest' },
    ])
    expect(world.document()).toContain('status: paused\n')
    expect(under(world, '## Next Steps')).toHaveLength(3)
  })

  test('while the session is in the archive', async () => {
    const { world } = await sweep()
    await world.run((project) => project.close({ how: 'abandoned', reason: 'no time' }))
    edit(world)
    expect(await absorb(world, () => world.view('fix-sweep-bug'))).toEqual([
      { kind: 'next.added', text: 'Rest' },
    ])
    expect(world.documentPath()).toContain('archive')
    expect(under(world, '## Next Steps')).toHaveLength(3)
  })

  test.each([
    ['log', (world: World) => world.run((project) => project.log({ entries: [{ note: 'x' }] }))],
    ['checkpoint', (world: World) => world.run((project) => project.checkpoint())],
    ['resume', (world: World) => world.run((project) => project.resume())],
    ['pause', (world: World) => world.run((project) => project.pause())],
    ['close', (world: World) => world.run((project) => project.close({ how: 'completed' }))],
    [
      'init --force',
      (world: World) => world.run((project) => project.init({ name: 'other', force: true })),
    ],
    ['checkpoint list', (world: World) => world.run((project) => project.checkpoints.list())],
  ])('by %s', async (_name, command) => {
    // Outside git there is no branch, and init --force closes only sessions of its own branch.
    const story = sweepStory()
    const opened = story.entries[0]!
    story.entries[0] = { ...opened, data: { name: 'fix-sweep-bug' } }
    const world = await projectOf(story)
    edit(world)
    await command(world)
    const id = world.sessionId('fix-sweep-bug')
    expect(world.entries('next.added', id)).toContainEqual({ text: 'Rest' })
    expect(world.document(id)).toContain('\n3. Rest\n')
  })

  test('once, when two commands find it at the same time', async () => {
    const { world } = await sweep()
    world.edit('### Remaining\n', '### Remaining\n- [x] Measured\n- [ ] Measure again\n')
    world.edit('\n## Decisions\n', '\n## Ideas\nOne.\n\n## Decisions\n')
    await Promise.all(Array.from({ length: 6 }, () => world.view()))
    await expectUnchanged(world)
    const { state } = await world.view()
    expect(
      state.steps.items.map(({ text }) => text).filter((text) => text.startsWith('Measure')),
    ).toEqual(['Measured', 'Measure again'])
    expect(state.sections.items).toHaveLength(1)
    expect(world.document().match(/## Ideas/g)).toHaveLength(1)
  })

  test('only where the user made one, even by a process that read before another wrote', async () => {
    const { world } = await sweep()
    const slow = new Workspace(world.root).session(world.sessionId())
    const stale = slow.read()
    await world.run((project) =>
      project.log({ entries: [{ progress: 'Newer' }, { tldr: 'Newer' }, { key: 'Newer' }] }),
    )
    const fresh = { document: world.document(), count: world.journal().length }
    const read = slow.read.bind(slow)
    let isFirst = true
    slow.read = () => {
      const reading = isFirst ? stale : read()
      isFirst = false
      return reading
    }
    await refreshViews(slow)
    slow.close()
    expect(world.document()).toBe(fresh.document)
    expect(world.journal()).toHaveLength(fresh.count)
    await expectUnchanged(world)
  })

  test('and an entry written at the same time is in every view', async () => {
    const { world, story } = await sweep()
    world.edit('2. Add regression test', '2. Add regression test\n3. Rest')
    const slow = new Workspace(world.root).session(world.sessionId())
    const read = slow.read.bind(slow)
    const folder = ['.sessions', 'journal', world.sessionId()]
    let readings = 0
    slow.read = () => {
      const reading = read()
      readings += 1
      const record = {
        ...story.entries.at(-1)!,
        id: slow.mint(),
        kind: 'key.added',
        data: { text: `Entry ${readings}` },
      }
      if (readings <= 5) appendFileSync(world.path(...folder, 'log.jsonl'), encodeRecord(record))
      return reading
    }
    await refreshViews(slow)
    slow.close()
    const views = [
      world.document(),
      ...['progress.md', 'state.json', 'state.toon'].map((name) => world.read(...folder, name)),
    ]
    for (const view of views) expect(view).toContain('Entry 5')
    await expectUnchanged(world)
  })

  test('when it is saved while another command has moved the document away', async () => {
    const { world } = await sweep()
    const path = world.documentPath()
    const saved = world.edit('2. Add regression test', '2. Add regression test\n3. Rest')
    // A process killed between moving the file and absorbing it leaves it under this name.
    world.write(
      join('.sessions', 'journal', world.sessionId(), 'taken-0123456789ab-fix-sweep-bug-890abc.md'),
      saved,
    )
    world.write(path, saved.replace('3. Rest', '3. Rest\n4. Sleep'))
    await world.view()
    await expectUnchanged(world)
    expect(under(world, '## Next Steps').slice(2)).toEqual(['3. Rest', '4. Sleep'])
  })
})
