import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type TaskDelegate,
  type TaskTreeOptions,
  drawTaskTrees,
} from '../../src/cli/print/task-tree.ts'
import { painter } from '../../src/cli/print/terminal/layout.ts'
import { displayWidth } from '../../src/cli/print/terminal/layout.ts'
import { printedText } from '../../src/cli/context/trusted-output.ts'
import type { Backlog } from '../../src/backlog/backlog.ts'
import { taskTrees } from '../../src/backlog/task-graph.ts'
import { aChecklist, aLine, aStatus } from '../backlog/any-task.ts'
import { MemoryJournal, backlogOf } from '../backlog/world.ts'

function drawn(
  backlog: Backlog,
  more: Partial<TaskTreeOptions> = {},
  levels = 6,
): readonly string[] {
  const drawing = {
    backlog,
    delegates: new Map(),
    isFull: () => false,
    paint: painter(false),
    ...more,
  }
  return drawTaskTrees(taskTrees(backlog, { levels }), drawing).map(printedText)
}

const drawnFrom = (...lines: readonly string[]) => drawn(backlogOf(...lines).backlog()).join('\n')

describe('a tree of tasks', () => {
  test('shows parts, progress, dependencies and assigned or proposed specialists', () => {
    const tasks = backlogOf(
      'epic P1 L',
      'api ^epic completed',
      'docs ^epic <api',
      'part ^docs S',
      'ship ^epic <docs,later',
      'later blocked',
    )
    tasks.log('task.changed', { task: 'docs', assignee: 'documentation', labels: ['web'] })
    expect(drawn(tasks.backlog())).toEqual([
      '○ epic  P1 L  Task epic  1 of 4 parts done  → code (proposed)',
      '├─ ✓ api  P2 M  Task api  (completed)',
      '├─ ○ docs  P2 M  Task docs  0 of 1 part done  #web  → documentation',
      '│  │  blocks ship',
      '│  └─ ○ part  P2 S  Task part  → code (proposed)',
      '└─ ○ ship  P2 M  Task ship  → code (proposed)',
      '      waits for docs, later',
      '⊘ later  P2 M  Task later  → code (proposed)  (blocked)',
      '   blocks ship',
    ])
  })

  test('joins siblings of a parallel group and names the other members', () => {
    expect(
      drawnFrom(
        'epic',
        'a ^epic =g',
        'b ^epic',
        'c ^epic =g',
        'part ^a',
        'far =g',
        'alone =h',
      ).split('\n'),
    ).toEqual([
      '○ epic  P2 M  Task epic  0 of 4 parts done  → code (proposed)',
      '├─ ∥ g: at the same time, 0 of 3 done, 1 elsewhere',
      '│  ╠═ ○ a  P2 M  Task a  0 of 1 part done  → code (proposed)',
      '│  ║  └─ ○ part  P2 M  Task part  → code (proposed)',
      '│  ╚═ ○ c  P2 M  Task c  → code (proposed)',
      '└─ ○ b  P2 M  Task b  → code (proposed)',
      '○ far  P2 M  Task far  → code (proposed)',
      '   ∥ g with a, c',
      '○ alone  P2 M  Task alone  → code (proposed)',
      '   ∥ h',
    ])
  })

  test('names the parent of a part at the top level', () => {
    expect(drawnFrom('a ^ghost')).toContain('\n   part of ghost (not in the backlog)')
    expect(drawnFrom('a ^b', 'b ^a')).toContain('\n│  part of b, which stands under it')
    expect(drawn(backlogOf('a', 'b ^a', 'c ^b').backlog(), {}, 2)).toContain('   part of b')
  })

  test('counts the checklist, and lists its items in full view', () => {
    const tasks = new MemoryJournal()
    tasks.add('a', {
      checklist: [
        { item: 'one', done: true },
        { item: 'two', done: false },
      ],
    })
    tasks.add('b', { parent: 'a' })
    expect(drawn(tasks.backlog()).join('\n')).toMatch(/\[1\/2\](?!\n.*one)/)
    expect(drawn(tasks.backlog(), { isFull: () => true }).slice(1, 3)).toEqual([
      '│  [x] one',
      '│  [ ] two',
    ])
  })

  test('names the delegates of a task and marks an orphaned one', () => {
    const delegate = (name: string, more: Partial<TaskDelegate>): TaskDelegate => ({
      id: name,
      name,
      status: 'ready',
      isOrphaned: false,
      ...more,
    })
    const delegates = new Map([
      ['a', [delegate('a-1', {}), delegate('a-2', { status: 'running', isOrphaned: true })]],
    ])
    const lines = drawn(backlogOf('a').backlog(), { delegates })
    expect(lines[1]).toBe('   delegate a-1: ready · delegate a-2: running, but nobody is at it')
  })

  test('names the first of many relations, and all of them in full view', () => {
    const backlog = backlogOf('a <b,c,d,e,f,g', ...'bcdefg').backlog()
    expect(drawn(backlog)[1]).toBe('   waits for b, c, d, e and 2 more')
    expect(drawn(backlog, { isFull: () => true })[1]).toBe('   waits for b, c, d, e, f, g')
  })

  test('truncates titles on a narrow terminal and moves the rest to extra lines', () => {
    const tasks = backlogOf('a-name <b-name,c-name,d-name', 'b-name', 'c-name', 'd-name')
    tasks.log('task.changed', {
      task: 'a-name',
      title: 'A title that is longer than the line it stands on',
    })
    expect(drawn(tasks.backlog(), { columns: 32 }).slice(0, 4)).toEqual([
      '○ a-name  P2 M  A title that is…',
      '   → code (proposed)',
      '   waits for b-name, c-name,',
      '   d-name',
    ])
  })

  test('has colours only when asked for', () => {
    const { backlog } = { backlog: backlogOf('a', 'b ^a in_progress').backlog() }
    expect(drawn(backlog).join('')).not.toContain('\u001B')
    expect(drawn(backlog, { paint: painter(true) }).join('')).toContain('\u001B[36m◆\u001B[39m')
  })

  test('shows each task on one line within the terminal, for any parents, groups and dependencies', () => {
    const one = fc.record({
      parent: fc.option(fc.nat(11)),
      group: fc.option(fc.constantFrom('g', 'h', 'a group')),
      dependsOn: fc.array(fc.nat(11), { maxLength: 4 }),
      title: aLine,
      assignee: aLine,
      labels: fc.array(aLine, { maxLength: 2 }),
      checklist: aChecklist,
      status: aStatus,
    })
    const anyColumns = fc.option(fc.integer({ min: 30, max: 120 }), { nil: undefined })
    fc.assert(
      fc.property(
        fc.array(one, { maxLength: 10 }),
        anyColumns,
        fc.boolean(),
        fc.boolean(),
        (tasks, columns, color, isFull) => {
          const history = new MemoryJournal()
          tasks.forEach(({ status, parent, group, dependsOn, ...fields }, n) => {
            history.add(`t${n}`, {
              ...fields,
              dependsOn: dependsOn.map((other) => `t${other}`),
              ...(parent === null ? {} : { parent: `t${parent}` }),
              ...(group === null ? {} : { group }),
            })
            history.move(`t${n}`, status)
          })
          const backlog = history.backlog()
          const lines = drawn(
            backlog,
            {
              isFull: () => isFull,
              paint: painter(color),
              ...(columns === undefined ? {} : { columns }),
            },
            3,
          )
          const plain = lines.map((line) => line.replaceAll(/\u001B\[\d+m/g, ''))
          const heads = plain.flatMap(
            (line) => /^[ │├└║╠╚─═]*[○◆⊘✓✗] (t\d+) {2}P2 M(?: |$)/.exec(line)?.[1] ?? [],
          )
          expect(heads.toSorted()).toEqual(backlog.tasks.map(({ id }) => id).toSorted())
          if (columns !== undefined)
            for (const line of plain) expect(displayWidth(line)).toBeLessThanOrEqual(columns)
        },
      ),
    )
  })

  test('shows all of five thousand tasks, in one group or one chain', () => {
    const tasks = new MemoryJournal()
    for (let n = 0; n < 2500; n += 1)
      tasks.add(`g${n}`, { group: 'g', dependsOn: n === 0 ? [] : [`g${n - 1}`] })
    for (let n = 0; n < 2500; n += 1) tasks.add(`c${n}`, n === 0 ? {} : { parent: `c${n - 1}` })
    expect(drawn(tasks.backlog()).filter((line) => line.includes('○'))).toHaveLength(5000)
  })

  test.each([1, 5, 13])('is never wider than a terminal of %i columns', (columns) => {
    const tasks = backlogOf('a', 'b ^a =g <x', 'c ^a =g', 'd ^c', 'e ^d')
    for (const line of drawn(tasks.backlog(), { columns }))
      expect(displayWidth(line)).toBeLessThanOrEqual(columns)
  })
})
