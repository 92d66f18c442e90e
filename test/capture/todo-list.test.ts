import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type TodoListChange,
  type Todo,
  draftsForTodos,
  readTodos,
} from '../../src/harness/contract/todo-list.ts'
import { mintId } from '../../src/journal/ids.ts'
import { abridge } from '../../src/session/fold.ts'
import type { EntryDraft } from '../../src/session/entries.ts'
import { type SessionState, currentStep } from '../../src/session/state.ts'
import { redact } from '../../src/text/redact.ts'
import { anyLine } from '../support/texts.ts'
import { Story } from '../support/worlds.ts'

const CONVERSATION = 'c0ffee-1'

/** A session whose agent keeps a todo list. */
class TodoStory extends Story {
  drafts(
    change: TodoListChange,
    state = this.state,
    conversation = CONVERSATION,
  ): readonly EntryDraft[] {
    let last = this.entries.at(-1)?.id
    return draftsForTodos(change, state, conversation, () => (last = mintId(last)))
  }

  /** Sends the list and applies the resulting entries. */
  say(change: TodoListChange, conversation = CONVERSATION): readonly EntryDraft[] {
    const drafts = this.drafts(change, this.state, conversation)
    for (const { id, kind, by, data } of drafts) {
      this.entries.push({
        id: id!,
        at: '2025-01-15T11:00:00.000Z',
        kind,
        by,
        data: data as Record<string, unknown>,
      })
    }
    return drafts
  }

  whole(
    ...todos: readonly (readonly [string, 'pending' | 'in_progress' | 'completed'])[]
  ): readonly EntryDraft[] {
    const change = readTodos(
      'TodoWrite',
      { todos: todos.map(([content, status]) => ({ content, status, activeForm: content })) },
      undefined,
    )
    return this.say(change!)
  }

  get list(): readonly string[] {
    return this.state.steps.items.map(({ text, status }) => `${text}: ${status}`)
  }
}

const kinds = (drafts: readonly EntryDraft[]) => drafts.map(({ kind }) => kind)

describe('a complete todo list', () => {
  test('becomes steps, in its order', () => {
    const story = new TodoStory()
    const drafts = story.whole(
      ['Write test', 'in_progress'],
      ['Fix bug', 'pending'],
      ['Read code', 'completed'],
    )
    expect(kinds(drafts)).toEqual([
      'step.added',
      'step.started',
      'step.added',
      'step.added',
      'step.done',
    ])
    expect(drafts.every(({ by }) => by === 'hook')).toBe(true)
    expect(story.list).toEqual(['Write test: started', 'Fix bug: todo', 'Read code: done'])
    expect(story.state.steps.items.every(({ plan }) => plan === CONVERSATION)).toBe(true)
  })

  test('changes nothing when it is sent again', () => {
    const story = new TodoStory()
    story.whole(['Write test', 'in_progress'], ['Fix bug', 'pending'])
    expect(story.whole(['Write test', 'in_progress'], ['Fix bug', 'pending'])).toEqual([])
    expect(story.whole(['  write   TEST ', 'in_progress'], ['fix bug', 'pending'])).toEqual([])
  })

  test('advances steps', () => {
    const story = new TodoStory()
    story.whole(['Write test', 'in_progress'], ['Fix bug', 'pending'])
    const drafts = story.whole(['Write test', 'completed'], ['Fix bug', 'in_progress'])
    expect(kinds(drafts)).toEqual(['step.done', 'step.started'])
    expect(currentStep(story.state)?.text).toBe('Fix bug')
  })

  test('reopens done steps', () => {
    const story = new TodoStory()
    story.whole(['Write test', 'completed'])
    expect(kinds(story.whole(['Write test', 'in_progress']))).toEqual([
      'step.reopened',
      'step.started',
    ])
    expect(story.list).toEqual(['Write test: started'])
  })

  test('returns started steps to todo', () => {
    const story = new TodoStory()
    story.whole(['Write test', 'in_progress'])
    expect(kinds(story.whole(['Write test', 'pending']))).toEqual(['step.stopped'])
  })

  test('drops undone steps that left it, and keeps done ones', () => {
    const story = new TodoStory()
    story.whole(['Write test', 'completed'], ['Fix bug', 'in_progress'], ['Tidy up', 'pending'])
    expect(kinds(story.whole(['Fix bug', 'in_progress']))).toEqual(['step.dropped'])
    expect(story.list).toEqual(['Write test: done', 'Fix bug: started'])
  })

  test('drops nothing when it is emptied after all steps were done', () => {
    const story = new TodoStory()
    story.whole(['Write test', 'completed'], ['Fix bug', 'completed'])
    expect(story.whole()).toEqual([])
  })

  test('drops undone steps when it is emptied', () => {
    const story = new TodoStory()
    story.whole(['Write test', 'completed'], ['Fix bug', 'pending'])
    expect(kinds(story.whole())).toEqual(['step.dropped'])
  })

  test('never drops a step that a user wrote or another conversation owns', () => {
    const story = new TodoStory()
    story.add('step.added', { text: 'A person wrote this' })
    story.add('step.added', { text: 'Somebody else listed this', plan: 'c0ffee' })
    story.add('step.added', { text: 'And this', plan: `${CONVERSATION}0#1` })
    story.whole(['Mine', 'pending'])
    expect(kinds(story.whole(['Other', 'pending']))).toEqual(['step.added', 'step.dropped'])
    expect(story.list).toEqual([
      'A person wrote this: todo',
      'Somebody else listed this: todo',
      'And this: todo',
      'Other: todo',
    ])
  })

  test('matches steps that a user wrote, and starts and finishes them', () => {
    const story = new TodoStory()
    story.add('step.added', { text: 'Fix the bug' })
    expect(kinds(story.whole(['fix the bug', 'in_progress']))).toEqual(['step.started'])
    expect(kinds(story.whole(['fix the bug', 'pending']))).toEqual([])
    expect(kinds(story.whole(['fix the bug', 'completed']))).toEqual(['step.done'])
    expect(kinds(story.whole(['fix the bug', 'pending']))).toEqual([])
  })

  test('keeps two items with the same text apart', () => {
    const story = new TodoStory()
    story.whole(['Run tests', 'completed'], ['Run tests', 'pending'])
    expect(story.list).toEqual(['Run tests: done', 'Run tests: todo'])
    expect(story.whole(['Run tests', 'completed'], ['Run tests', 'pending'])).toEqual([])
  })

  test('inserts a new item at its position', () => {
    const story = new TodoStory()
    story.whole(['One', 'completed'], ['Four', 'pending'])
    story.whole(
      ['Zero', 'pending'],
      ['One', 'completed'],
      ['Two', 'pending'],
      ['Three', 'pending'],
      ['Four', 'pending'],
      ['Five', 'pending'],
    )
    expect(story.list.map((line) => line.split(':')[0])).toEqual([
      'Zero',
      'One',
      'Two',
      'Three',
      'Four',
      'Five',
    ])
  })

  test('does not duplicate an item whose secret was redacted', () => {
    const story = new TodoStory()
    const secret = 'use password="hunter2-Xy93kd" for the server'
    story.say(
      readTodos('TodoWrite', { todos: [{ content: secret, status: 'pending' }] }, undefined)!,
    )
    const last = story.entries.at(-1)!
    story.entries[story.entries.length - 1] = {
      ...last,
      data: { ...last.data, text: redact(secret).text },
    }
    expect(story.state.steps.items[0]?.text).toContain('[redacted:')
    expect(story.whole([secret, 'pending'])).toEqual([])
    expect(kinds(story.whole(['use something for the client', 'pending']))).toEqual([
      'step.added',
      'step.dropped',
    ])
  })

  test('does not restore steps that an abridged state left out', () => {
    const story = new TodoStory()
    const done = Array.from({ length: 30 }, (_, index) => [`Step ${index}`, 'completed'] as const)
    story.whole(...done, ['Last', 'in_progress'])
    const change = readTodos(
      'TodoWrite',
      {
        todos: [
          ...done.map(([content]) => ({ content, status: 'completed' })),
          { content: 'Last', status: 'in_progress' },
        ],
      },
      undefined,
    )!
    const abridged = abridge(story.state)
    expect(abridged.steps.earlier).toBeGreaterThan(0)
    expect(story.drafts(change, abridged)).toEqual([])
  })

  test('changes nothing when any list is sent twice', () => {
    const todo = fc.record({
      content: anyLine,
      status: fc.constantFrom('pending', 'in_progress', 'completed', 'unheard of'),
    })
    fc.assert(
      fc.property(
        fc.array(fc.array(todo, { maxLength: 6 }), { minLength: 1, maxLength: 5 }),
        (lists) => {
          const story = new TodoStory()
          story.add('step.added', { text: 'written by a person' })
          for (const todos of lists) {
            story.say(readTodos('TodoWrite', { todos }, undefined)!)
            expect(story.say(readTodos('TodoWrite', { todos }, undefined)!)).toEqual([])
          }
          expect(story.state.steps.items.map(({ text }) => text)).toContain('written by a person')
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe('an incremental todo list', () => {
  const create = (subject: string, id?: string) =>
    readTodos(
      'TaskCreate',
      { subject, description: 'd' },
      id === undefined ? undefined : { task: { id, subject } },
    )!
  const update = (taskId: string, fields: object) =>
    readTodos('TaskUpdate', { taskId, ...fields }, { success: true, taskId })!

  test('grows by created items, and drops none', () => {
    const story = new TodoStory()
    story.say(create('Read the code', '1'))
    story.say(create('Fix it', '2'))
    expect(story.list).toEqual(['Read the code: todo', 'Fix it: todo'])
    expect(story.say(create('Fix it', '2'))).toEqual([])
  })

  test('is updated by the ids of the harness', () => {
    const story = new TodoStory()
    story.say(create('Read the code', '1'))
    story.say(create('Fix it', '12'))
    story.say(update('1', { status: 'in_progress' }))
    expect(story.list).toEqual(['Read the code: started', 'Fix it: todo'])
    story.say(update('1', { status: 'completed' }))
    story.say(update('12', { status: 'in_progress' }))
    expect(story.list).toEqual(['Read the code: done', 'Fix it: started'])
    expect(story.say(update('12', { status: 'in_progress' }))).toEqual([])
  })

  test('loses deleted items', () => {
    const story = new TodoStory()
    story.say(create('Read the code', '1'))
    expect(kinds(story.say(update('1', { status: 'deleted' })))).toEqual(['step.dropped'])
    expect(story.list).toEqual([])
  })

  test('keeps position and status of a reworded item', () => {
    const story = new TodoStory()
    for (const [index, text] of ['One', 'Two', 'Three'].entries())
      story.say(create(text, String(index)))
    story.say(update('1', { status: 'in_progress' }))
    story.say(update('1', { subject: 'Second' }))
    expect(story.list).toEqual(['One: todo', 'Second: started', 'Three: todo'])
    expect(story.say(update('1', { subject: 'Second', status: 'in_progress' }))).toEqual([])
  })

  test('ignores failed calls and unknown ids', () => {
    const story = new TodoStory()
    story.say(create('Read the code', '1'))
    expect(
      readTodos(
        'TaskUpdate',
        { taskId: '1', status: 'completed' },
        { success: false, error: 'Task not found' },
      ),
    ).toBeUndefined()
    expect(story.say(update('99', { status: 'completed' }))).toEqual([])
    expect(story.say(update('1', { owner: 'me' }))).toEqual([])
  })

  test('is separate for each conversation', () => {
    const story = new TodoStory()
    story.say(create('Read the code', '1'))
    expect(story.say(update('1', { status: 'completed' }), 'c0ffee-2')).toEqual([])
    expect(story.say(update('1', { status: 'deleted' }), 'c0ffee')).toEqual([])
  })

  test('is reconciled when the harness lists all items', () => {
    const story = new TodoStory()
    story.say(create('Read the code', '1'))
    const tasks = [
      { id: '1', subject: 'Read the code', status: 'completed', blockedBy: [] },
      { id: '2', subject: 'Fix it', status: 'in_progress', blockedBy: ['1'] },
    ]
    story.say(readTodos('TaskList', {}, { tasks })!)
    expect(story.list).toEqual(['Read the code: done', 'Fix it: started'])
    story.say(update('2', { status: 'completed' }))
    expect(story.list).toEqual(['Read the code: done', 'Fix it: done'])
  })

  test('reads the id from a response in prose', () => {
    expect(
      readTodos('TaskCreate', { subject: 'Fix it' }, 'Task #7 created successfully: Fix it')?.todos,
    ).toEqual([{ text: 'Fix it', key: '7' }])
  })
})

describe('a plan in Markdown', () => {
  const texts = (plan: string) =>
    readTodos('ExitPlanMode', { plan }, undefined)?.todos.map(({ text }: Todo) => text)

  test.each([
    [
      'numbers',
      '# Plan\n\nSome words.\n\n1. Read\n2. **Write**: \n   - a detail\n   1. a sub-step\n3. Test',
      ['Read', 'Write', 'Test'],
    ],
    ['boxes', '- [ ] Read\n- [ ] Write\n\n1. not this\n2. nor this', ['Read', 'Write']],
    ['bullets', '## Steps\n* Read\n  * not this\n* Write', ['Read', 'Write']],
    [
      'numbered headings',
      '## Context\n- words\n## 1. Read\n1. open\n2. close\n## 2. Write\n- x',
      ['Read', 'Write'],
    ],
    ['headings alone', '# The plan\n## Read\nwords\n## Write\nwords', ['Read', 'Write']],
    ['one heading', '# Do the thing\nwords', ['Do the thing']],
    [
      'code left out',
      '```md\n1. not this\n2. nor this\n```\n- Read\n~~~\n- no\n~~~\n- Write',
      ['Read', 'Write'],
    ],
    ['a fence that is not closed', '- Read\n```\n- no', ['Read']],
    ['steps of words in other scripts', '1. Прочитать\n2. 書く', ['Прочитать', '書く']],
  ])('gives its steps: %s', (_, plan, expected) => {
    expect(texts(plan)).toEqual(expected)
  })

  test('gives at most twenty steps, each of bounded length', () => {
    const found = texts(
      Array.from({ length: 50 }, (_, index) => `${index}. ${'word '.repeat(500)}`).join('\n'),
    )
    expect(found).toHaveLength(20)
    for (const text of found!) expect(text!.length).toBeLessThanOrEqual(300)
  })

  test('marks ticked boxes as done', () => {
    const story = new TodoStory()
    story.say(readTodos('ExitPlanMode', { plan: '- [x] Read\n- [ ] Write' }, undefined)!)
    expect(story.list).toEqual(['Read: done', 'Write: todo'])
  })

  test('gives no steps if it is empty', () => {
    expect(readTodos('ExitPlanMode', { plan: '' }, undefined)).toBeUndefined()
    expect(readTodos('ExitPlanMode', { plan: 'Just do it.' }, undefined)).toBeUndefined()
  })

  test('neither stops nor drops the current step', () => {
    const story = new TodoStory()
    story.whole(['Read', 'in_progress'], ['Other', 'pending'])
    story.say(readTodos('ExitPlanMode', { plan: '1. Read\n2. Write' }, undefined)!)
    expect(story.list).toEqual(['Read: started', 'Other: todo', 'Write: todo'])
  })
})

describe('any other tool input', () => {
  test('is not a list', () => {
    for (const tool of [
      'TodoWrite',
      'TaskCreate',
      'TaskUpdate',
      'TaskList',
      'ExitPlanMode',
      'Bash',
      '__proto__',
      'constructor',
      '',
    ]) {
      for (const input of [
        {},
        { todos: 'x' },
        { todos: {} },
        { taskId: {} },
        { subject: 7 },
        { plan: [] },
      ]) {
        expect(readTodos(tool, input, null)).toBeUndefined()
      }
    }
    expect(
      readTodos(
        'TodoWrite',
        { todos: [null, 7, 'x', [], { content: '' }, { content: 9 }, { status: 'pending' }] },
        undefined,
      ),
    ).toEqual({
      isFullList: true,
      todos: [],
    })
  })

  test('is bounded', () => {
    const todos = Array.from({ length: 5000 }, (_, index) => ({
      content: `${index} ${'x'.repeat(20_000)}`,
      status: 'pending',
    }))
    const change = readTodos('TodoWrite', { todos }, undefined)!
    expect(change.todos.length).toBeLessThanOrEqual(60)
    for (const { text } of change.todos) expect(text!.length).toBeLessThanOrEqual(300)
  })

  test('never throws', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('TodoWrite', 'TaskCreate', 'TaskUpdate', 'TaskList', 'ExitPlanMode'),
        fc.dictionary(
          fc.constantFrom('todos', 'subject', 'taskId', 'status', 'plan', 'tasks'),
          fc.anything(),
        ),
        fc.anything(),
        (tool, input, response) => {
          const change = readTodos(tool, input, response)
          const state: SessionState = new Story().state
          if (change !== undefined) new TodoStory().drafts(change, state)
        },
      ),
    )
  })
})
