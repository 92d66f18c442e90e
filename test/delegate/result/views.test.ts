import { describe, expect, test } from 'vitest'
import { describeActivity } from '../../../src/cli/print/session.ts'
import { packContext } from '../../../src/context/injected-context.ts'
import { entryText } from '../../../src/index/entry-text.ts'
import { editsBetween } from '../../../src/document/edits.ts'
import { modelOf } from '../../../src/document/model.ts'
import { parseDocument } from '../../../src/document/parse.ts'
import { renderDocument, renderModel } from '../../../src/document/render.ts'
import { sessionJson } from '../../../src/document/export/session-json.ts'
import type { BacklogTask } from '../../../src/document/export/collect-work.ts'
import { renderWorkflowLog } from '../../../src/document/export/workflow-log.ts'
import { renderProgress } from '../../../src/document/progress-file.ts'
import { renderStateJson, renderStateToon } from '../../../src/document/state-files.ts'
import { sessionJsonProblems } from '../../support/session-json-checker.ts'
import { Story } from '../../support/worlds.ts'

/** A session with four delegates and a subagent. */
function story(): Story {
  const story = new Story()
  const begin = (name: string, more: { task?: string; group?: string; as?: string } = {}) =>
    story.add('delegate.begun', {
      delegate: `d-${name}`,
      name,
      what: `do ${name}`,
      branch: `stint/${name}`,
      ...more,
    })
  begin('tests', { as: 'tests', task: '1', group: 'g' })
  begin('docs', { task: '2', group: 'g' })
  begin('review')
  begin('api')
  const report = (
    name: string,
    status: 'ready' | 'merged' | 'conflicted',
    more: { summary?: string; because?: string },
  ) => story.add('delegate.reported', { delegate: `d-${name}`, name, status, ...more })
  report('tests', 'ready', { summary: 'twelve tests' })
  report('tests', 'merged', { summary: 'twelve tests' })
  report('docs', 'conflicted', { because: 'README.md is in conflict' })
  report('review', 'ready', { summary: 'two findings' })
  story.add('agent.finished', {
    agent: 'a-1',
    task: 'look around',
    result: 'nothing',
    conversation: 'c-1',
  })
  story.add('decision.made', { title: 'Runner', choice: 'vitest', whose: 'tests' })
  return story
}

function edited(from: string, to: string) {
  const { state } = story()
  const text = renderDocument(state, { offset: 1, sum: '00000000' })
  expect(text).toContain(from)
  const parsed = parseDocument(text.replace(from, to))
  if (!parsed.ok) throw new Error(parsed.problem)
  return editsBetween(state, parsed.document, { mint: () => 'x', isBaseSure: true })
}

describe('the document of a session with delegates', () => {
  test('shows the status of each', () => {
    const text = renderModel(modelOf(story().state))
    expect(text).toMatch(
      /\n## Delegates\n- \*\*tests\*\* \(merged\): do tests - twelve tests \(2025-[^)]+\)\n- \*\*docs\*\* \(conflicted\): do docs - README\.md is in conflict/,
    )
    expect(text).toContain('- **api** (running): do api (')
    expect(text).toContain('**Choice**: vitest\n**Rationale**: not recorded\n**Delegate**: tests\n')
    expect(renderModel(modelOf(new Story().state))).not.toContain('Delegates')
  })

  test("keeps the user's text between its lines, and marks the lines as generated", () => {
    const { drafts, unabsorbed } = edited(
      '\n- **docs** (',
      '\n- ask Bob about the docs\n- **docs** (',
    )
    expect(drafts).toMatchObject([
      { kind: 'remark.placed', data: { section: 'delegates', text: '- ask Bob about the docs' } },
    ])
    expect(unabsorbed).toEqual([])
    const changed = edited('(conflicted)', '(merged)')
    expect(changed.drafts).toEqual([])
    expect(changed.unabsorbed).toEqual([expect.stringContaining('are computed')])
    const added = edited('\n- **docs** (', '\n- **own** (running): mine\n- **docs** (')
    expect(added.unabsorbed).toEqual([expect.stringContaining('are computed')])
  })

  test('makes no entry from a removed delegate line or a changed delegate name', () => {
    expect(edited('- **api** (running): do api (2025-01-15T10:04)\n', '')).toEqual({
      drafts: [],
      unabsorbed: [],
    })
    const { drafts, unabsorbed } = edited('**Delegate**: tests', '**Delegate**: me')
    expect(drafts).toEqual([])
    expect(unabsorbed).toEqual([expect.stringContaining('computed')])
  })

  test("loses no edit of the user's own section under that heading", () => {
    const story = new Story()
    story.add('section.written', {
      title: 'Delegates',
      body: 'Alice writes the docs.',
      after: 'next',
    })
    const text = renderDocument(story.state, { offset: 1, sum: '00000000' })
    const read = (changed: string) => {
      const parsed = parseDocument(changed)
      if (!parsed.ok) throw new Error(parsed.problem)
      return editsBetween(story.state, parsed.document, { mint: () => 'x', isBaseSure: true })
    }
    expect(read(text)).toEqual({ drafts: [], unabsorbed: [] })
    expect(read(text.replace('Alice', 'Bob'))).toMatchObject({
      drafts: [
        { kind: 'remark.placed', data: { section: 'delegates', text: 'Bob writes the docs.' } },
      ],
    })
  })
})

describe('delegates of a session', () => {
  test('are in the progress file, the state files, the injected context and the hook records', () => {
    const { state } = story()
    const line = 'docs (conflicted): do docs - README.md is in conflict'
    expect(renderProgress(state)).toContain(
      `## Delegates\n- tests (merged): do tests - twelve tests\n- ${line}\n`,
    )
    expect(renderProgress(new Story().state)).not.toContain('Delegates')
    expect(JSON.parse(renderStateJson(state)).delegates.items).toHaveLength(4)
    expect(renderStateToon(state)).toContain('docs,conflicted,do docs,README.md is in conflict')
    expect(renderStateToon(new Story().state)).not.toContain('delegates')
    expect(packContext(state).text).toContain(
      `Delegates:\n- tests (merged): do tests - twelve tests\n- ${line}`,
    )
    const activity = describeActivity(state)
    expect(activity).toMatch(
      /## Agents\n- \S+ look around: nothing\n\n## Delegates\n- \S+ tests \(merged\)/,
    )
  })

  test('are found by what they report', () => {
    const { entries } = story()
    const text = entryText(
      entries.findLast(({ kind, data }) => kind === 'delegate.reported' && data.name === 'docs')!,
    )
    expect(text.split('\n')).toEqual(['docs', 'README.md is in conflict'])
    expect(entryText(entries.find(({ kind }) => kind === 'delegate.begun')!)).toContain('do tests')
  })

  test('are in session.json with their groups, apart from subagents, and refer only to existing tasks', () => {
    const { state, entries } = story()
    const task = (id: string, status: BacklogTask['status']): BacklogTask => {
      return { id, title: id, status, dependsOn: [], proposed: 'code', checklist: [] }
    }
    const source = { state, entries, unfinished: [], propose: () => 'code' }
    const json = sessionJson({
      ...source,
      tasks: [task('1', 'completed'), task('2', 'in_progress')],
    })
    expect(sessionJsonProblems(json)).toEqual([])
    expect(json.delegates).toEqual([
      {
        id: 'd-tests',
        agent: 'tests',
        task_id: '1',
        prompt: 'do tests',
        status: 'completed',
        result: 'twelve tests',
      },
      {
        id: 'd-docs',
        agent: 'docs',
        task_id: '2',
        prompt: 'do docs',
        status: 'failed',
        result: 'README.md is in conflict',
      },
      {
        id: 'd-review',
        agent: 'review',
        task_id: null,
        prompt: 'do review',
        status: 'completed',
        result: 'two findings',
      },
      {
        id: 'd-api',
        agent: 'api',
        task_id: null,
        prompt: 'do api',
        status: 'running',
        result: null,
      },
      {
        id: 'a-1',
        agent: 'agent',
        task_id: null,
        prompt: 'look around',
        status: 'completed',
        result: 'nothing',
      },
    ])
    expect(json.parallel_groups).toEqual([{ group_id: 'g', tasks: ['1', '2'], status: 'running' }])
    expect(sessionJsonProblems(sessionJson({ ...source, tasks: [] }))).toEqual([])
  })

  test('mark a task one of them works on as delegated', () => {
    const story = new Story()
    story.add('delegate.begun', { delegate: 'd', name: 'n', what: 'w', task: '1', branch: 'b' })
    const tasks = [
      {
        id: '1',
        title: '1',
        status: 'in_progress',
        dependsOn: [],
        proposed: 'code',
        checklist: [],
      },
    ] as const
    const { state, entries } = story
    expect(
      sessionJson({ state, entries, tasks, unfinished: [], propose: () => 'code' }).tasks[0]!
        .status,
    ).toBe('delegated')
  })

  test('are in the workflow log', () => {
    const { state, entries } = story()
    const log = renderWorkflowLog({
      state,
      entries,
      tasks: [],
      unfinished: [],
      propose: () => 'code',
    })
    expect(log).toContain('- {name: tests, task: do tests, result: success}')
    expect(log).toContain('- {name: docs, task: do docs, result: failed}')
    expect(log).toContain('- {name: api, task: do api, result: running}')
  })
})
