import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { BacklogTask } from '../../../src/document/export/collect-work.ts'
import { renderWorkflowLog } from '../../../src/document/export/workflow-log.ts'
import { noticedStory } from '../../context/sessions.ts'
import { anyStory } from '../../support/stories.ts'
import { Story, sweepStory } from '../../support/worlds.ts'

const rendered = (story: Story, tasks: readonly BacklogTask[] = []) =>
  renderWorkflowLog({
    state: story.state,
    entries: story.entries,
    tasks,
    unfinished: [],
    propose: () => 'code',
  })

/** The frontmatter: from the first line to the next line of dashes. */
function headOf(log: string, version: '1.1' | '1.2' = '1.2'): Record<string, unknown> {
  expect(log.startsWith('---\n')).toBe(true)
  return parse(log.slice(4, log.indexOf('\n---', 3) + 1), { version }) as Record<string, unknown>
}

const KEYS = ['session', 'skills', 'tasks', 'files', 'agents', 'commands', 'root_causes', 'gotchas']

describe('a workflow log', () => {
  test('starts with YAML that any YAML reader parses, for any text', () => {
    fc.assert(
      fc.property(anyStory, (story) => {
        const log = rendered(story)
        for (const version of ['1.1', '1.2'] as const) {
          const head = headOf(log, version)
          expect(Object.keys(head)).toEqual(KEYS)
          expect(head.session).toMatchObject({ id: '2025-01-15_fix-sweep-bug', date: '2025-01-15' })
          const { modified } = head.files as { modified: { path: string }[] }
          expect(modified).toHaveLength(story.state.changedFiles.items.length)
          expect(modified.every(({ path }) => typeof path === 'string')).toBe(true)
        }
      }),
      { numRuns: 200 },
    )
  })

  test('lists changes, delegates, runs, solutions and findings', () => {
    const story = noticedStory()
    const blocker = story.add('blocker.raised', { text: 'The clock is mocked' })
    story.add('blocker.resolved', { blocker, resolution: 'Inject it' })
    story.add('gotcha.found', { text: 'Cookies outlive a restart. Clear the jar in the test!' })
    story.add('gotcha.found', { text: 'One sentence only' })
    const head = headOf(rendered(story))
    expect(head).toMatchObject({
      session: { id: '2025-01-15_expired-cookie', complexity: 'medium', domain: 'backend' },
      skills: { loaded: [], suggested: [] },
      files: {
        modified: [
          { path: 'src/login.ts', type: 'ts', domain: 'backend' },
          { path: 'src/cookie.ts', type: 'ts', domain: 'backend' },
          { path: 'test/login.test.ts', type: 'ts', domain: 'backend' },
        ],
        types: { ts: 3 },
      },
      agents: { delegated: [{ name: 'agent', task: 'review the diff', result: 'success' }] },
      commands: [
        { cmd: 'pnpm test cookie', success: true },
        { cmd: 'pnpm test login', success: false },
      ],
      root_causes: [{ problem: 'The clock is mocked', solution: 'Inject it' }],
      gotchas: [
        { pattern: 'Cookies outlive a restart.', solution: 'Clear the jar in the test!' },
        { pattern: 'One sentence only', solution: '' },
      ],
    })
  })

  test('puts each file, delegate and checklist item on one line', () => {
    const story = noticedStory()
    story.add('file.changed', { path: 'a, b: c.ts' })
    story.add('step.added', { text: 'two\n---\nlines' })
    const lines = rendered(story).split('\n')
    expect(lines).toContain('    - {path: src/login.ts, type: ts, domain: backend}')
    expect(lines).toContain('    - {path: "a, b: c.ts", type: ts, domain: backend}')
    expect(lines).toContain('    description: two --- lines')
    expect(lines).toContain('    - {name: agent, task: review the diff, result: success}')
  })

  test('nests tasks and keeps a task that is its own ancestor', () => {
    const task = (id: string, parent?: string): BacklogTask => ({
      id,
      title: `Task ${id}`,
      status: 'completed',
      dependsOn: ['0'],
      group: 'g',
      proposed: 'code',
      checklist: [{ item: 'one', done: true }],
      ...(parent === undefined ? {} : { parent }),
    })
    const log = rendered(new Story(), [
      task('1'),
      task('2', '1'),
      task('3', '2'),
      task('4', '5'),
      task('5', '4'),
    ])
    const { tasks } = headOf(log) as { tasks: { id: string; tasks?: unknown[] }[] }
    expect(tasks.map(({ id }) => id)).toEqual(['1', '4', '5'])
    expect(tasks[0]).toMatchObject({
      status: 'done',
      assigned_to: 'code',
      dependencies: ['0'],
      parallel_group: 'g',
      checklist: [{ item: 'one', done: true }],
      files: [],
      tasks: [{ id: '2', tasks: [{ id: '3' }] }],
    })
    expect(log).toContain('      - {item: one, done: true}')
  })

  test('names the closing entry that was written first, not the one with the smaller id', () => {
    const story = new Story()
    story.add('session.closed', { how: 'completed' })
    story.add('session.reopened', {})
    const one = story.add('session.closed', { how: 'completed' })
    const other = story.add('session.closed', { how: 'completed' })
    expect(rendered(story)).toContain(`<!-- stint: workflow log ${story.state.id} ${one} -->`)
    story.entries.push(...story.entries.splice(-2).toReversed())
    expect(rendered(story)).toContain(`<!-- stint: workflow log ${story.state.id} ${other} -->`)
  })

  test('has a readable Markdown body after the YAML', () => {
    const story = sweepStory()
    story.add('session.closed', { how: 'completed', reason: 'shipped' })
    const body = rendered(story).split('\n---\n')[1]!
    expect(body).toContain(
      '# Session Log: Fix Sweep Trigger Bug\n\n## Summary\n\nFixing race condition',
    )
    expect(body).toContain('- Status: completed: shipped')
    expect(body).toContain('## Tasks Completed\n\n- ✓ Reproduce bug in test\n')
    expect(body).toContain('- ⊘ Implement fix (paused)')
    expect(body).toContain(
      '- Lock-first approach: Lock before check (because Simplest fix, performance impact minimal)',
    )
  })
})
