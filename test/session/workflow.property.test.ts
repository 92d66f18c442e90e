import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { EntryKind, TemplatePhase, WorkflowTemplate } from '../../src/session/entries.ts'
import { abridge, advance, fold } from '../../src/session/fold.ts'
import type { SessionState } from '../../src/session/state.ts'
import {
  closedGates,
  currentLeaf,
  currentFocus,
  leafIndex,
  isAtConversationSplit,
  nextLeaf,
  phaseLine,
  leafPhases,
} from '../../src/session/kinds/phases.ts'
import { history } from '../support/entries.ts'
import { SESSION_ID, Story } from '../support/worlds.ts'
import { cases } from '../support/cases.ts'

const anyTokens = fc.option(
  fc
    .tuple(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 0, max: 100_000 }))
    .map(([from, more]) => [from, from + more] as const),
  { nil: undefined },
)
const anyTemplate: fc.Arbitrary<WorkflowTemplate> = fc
  .array(
    fc.record({
      subs: fc.nat({ max: 3 }),
      gate: fc.boolean(),
      tokens: anyTokens,
      conversation: fc.nat({ max: 2 }),
    }),
    {
      minLength: 1,
      maxLength: 9,
    },
  )
  .map((phases) => ({
    name: 'any',
    phases: phases.map(({ subs, gate, tokens, conversation }, index): TemplatePhase => {
      const id = String(index + 1)
      const subPhases = Array.from({ length: subs }, (_, sub) => ({
        id: `${id}${'abc'[sub]}`,
        name: `Part ${id} ${sub}`,
      }))
      return {
        id,
        name: `Phase ${id}`,
        gate: gate ? 'approval' : 'none',
        conversation: `c${Math.floor(index / (conversation + 1))}`,
        ...(tokens === undefined ? {} : { tokens }),
        subPhases,
      }
    }),
  }))

function begun(template: WorkflowTemplate): Story {
  const story = new Story()
  story.add('workflow.begun', { workflow: 'wf-001', name: 'User auth', template })
  return story
}

const workflowOf = ({ state }: { state: SessionState }) => state.workflow!
const leafIds = (template: WorkflowTemplate) =>
  leafPhases(begun(template).state.workflow!.phases).map(({ leaf }) => leaf.id)

/** Any workflow entries in any order. */
const anyMoves = anyTemplate.chain((template) =>
  fc.tuple(
    fc.constant(template),
    fc.array(
      fc.tuple(
        fc.constantFrom<EntryKind>(
          'phase.entered',
          'phase.entered',
          'phase.approved',
          'phase.finished',
          'focus.set',
        ),
        fc.constantFrom(...leafIds(template), ...template.phases.map(({ id }) => id), 'nowhere'),
      ),
      { maxLength: 30 },
    ),
  ),
)

describe('the progress of a workflow', () => {
  test('only grows while it moves forward and is 100% only at its end', () => {
    const forward = anyTemplate.chain((template) =>
      fc.tuple(
        fc.constant(template),
        fc.subarray(leafIds(template)),
        fc.infiniteStream(fc.boolean()),
      ),
    )
    fc.assert(
      fc.property(forward, ([template, entered, coin]) => {
        const story = begun(template)
        let percent = workflowOf(story).percent
        expect(percent).toBe(0)
        const expectMore = () => {
          const now = workflowOf(story)
          expect(now.percent).toBeGreaterThanOrEqual(percent)
          expect(now.percent).toBeLessThanOrEqual(100)
          expect(now.percent === 100).toBe(
            nextLeaf(now) === undefined && currentLeaf(now).phase.status === 'done',
          )
          percent = now.percent
        }
        const finish = () => {
          const { phase } = currentLeaf(workflowOf(story))
          story.add('phase.finished', { phase: phase.id })
          expectMore()
          if (phase.gate === 'approval' || coin.next().value)
            story.add('phase.approved', { phase: phase.id })
          expectMore()
        }
        for (const phase of [...entered, leafIds(template).at(-1)!]) {
          if (phase === workflowOf(story).current) continue
          if (coin.next().value) finish()
          story.add('phase.entered', { phase })
          expectMore()
        }
        finish()
        expect(percent).toBe(100)
      }),
    )
  })

  test('has a status for every phase: passed before the current one, pending after it', () => {
    fc.assert(
      fc.property(anyMoves, ([template, moves]) => {
        const story = begun(template)
        for (const [kind, phase] of moves)
          story.add(kind, (kind === 'focus.set' ? { text: phase } : { phase }) as never)
        const workflow = workflowOf(story)
        const current = leafIndex(workflow.phases, workflow.current)
        expect(current).toBeGreaterThanOrEqual(0)
        for (const [index, { leaf, phase }] of leafPhases(workflow.phases).entries()) {
          const allowed =
            index < current
              ? ['done', 'skipped']
              : index > current
                ? ['pending']
                : ['current', 'waiting for approval', 'done']
          expect(allowed).toContain(leaf.status)
          if (index === current) expect(phase.status).toBe(leaf.status)
          if (leaf.status === 'pending')
            expect([leaf.enteredAt, leaf.leftAt]).toEqual([undefined, undefined])
        }
        expect(workflow.percent).toBeGreaterThanOrEqual(0)
        expect(workflow.percent).toBeLessThanOrEqual(100)
        const isOver = workflow.phases.at(-1)!.status === 'done'
        expect(workflow.percent === 100).toBe(isOver)
        for (const { phase } of workflow.approvals) {
          expect(
            leafPhases(workflow.phases).findLastIndex((one) => one.phase.id === phase),
          ).toBeLessThanOrEqual(current)
        }
        expect(phaseLine(story.state)).toMatch(/^Phase \S+ - .+ \(\d{1,3}% complete\)$/)
        expect(typeof isAtConversationSplit(story.state)).toBe('boolean')
      }),
    )
  })

  test('is the same from an advanced snapshot as from all entries in any order', () => {
    const kinds: readonly EntryKind[] = [
      'workflow.begun',
      'phase.entered',
      'phase.finished',
      'phase.approved',
      'focus.set',
      'deliverable.set',
      'deliverable.dropped',
      'session.renamed',
    ]
    const cut = history({ kinds, minLength: 5 }).chain((entries) =>
      fc.tuple(
        fc.constant(entries),
        fc.nat({ max: entries.length }),
        fc.shuffledSubarray(entries, { minLength: entries.length }),
      ),
    )
    fc.assert(
      fc.property(cut, ([all, at, shuffled]) => {
        const entries = all.map(({ once: _once, ...entry }) => entry)
        const whole = fold(SESSION_ID, entries)
        expect(
          advance(abridge(fold(SESSION_ID, entries.slice(0, at))), entries.slice(at)).workflow,
        ).toEqual(whole.workflow)
        expect(fold(SESSION_ID, [...shuffled, ...all.slice(0, at)]).workflow).toEqual(
          fold(SESSION_ID, all).workflow,
        )
      }),
      { numRuns: cases(300) },
    )
  })

  test('folds from any template that an entry may carry, or is ignored', () => {
    const phase = fc.dictionary(
      fc.constantFrom(
        'id',
        'name',
        'gate',
        'tokens',
        'conversation',
        'focus',
        'deliverables',
        'subPhases',
      ),
      fc.oneof(
        fc.jsonValue(),
        fc.constantFrom('1', '1a', 'approval', [1, 2], [1e308, 1e308], [{ id: '1' }, { id: '1a' }]),
      ),
    )
    fc.assert(
      fc.property(
        fc.array(fc.oneof(phase, fc.jsonValue()), { maxLength: 6 }),
        fc.array(fc.string()),
        (phases, moves) => {
          const story = begun({ name: 'any', phases: phases as never })
          for (const id of ['1', '1a', ...moves]) story.add('phase.entered', { phase: id })
          const { workflow } = story.state
          if (workflow === undefined) expect(phaseLine(story.state)).toBeUndefined()
          else expect(workflow.percent).toBeGreaterThanOrEqual(0)
          expect(JSON.parse(JSON.stringify(abridge(story.state)))).toBeDefined()
        },
      ),
      { numRuns: cases(300) },
    )
  })
})

const SMALL: WorkflowTemplate = {
  name: 'small',
  phases: [
    {
      id: '1',
      name: 'Plan',
      gate: 'approval',
      conversation: 'a',
      tokens: [10, 30],
      focus: 'the plan',
      deliverables: ['plan.md'],
    },
    {
      id: '2',
      name: 'Build',
      conversation: 'b',
      tokens: [60, 60],
      subPhases: [
        { id: '2a', name: 'RED' },
        { id: '2b', name: 'GREEN', focus: 'pass' },
      ],
    },
    { id: '3', name: 'Ship', conversation: 'b', tokens: [20, 20] },
  ],
}
const statuses = (story: Story) =>
  leafPhases(workflowOf(story).phases).map(({ leaf }) => leaf.status)

describe('a workflow', () => {
  test('begins in its first phase and takes the name and title of its session', () => {
    const story = begun(SMALL)
    expect(workflowOf(story)).toMatchObject({
      id: 'fix-sweep-bug',
      name: 'Fix Sweep Trigger Bug',
      templateName: 'small',
      current: '1',
    })
    story.add('session.renamed', { name: 'wf-001' })
    story.add('session.titled', { title: 'User auth' })
    expect(workflowOf(story)).toMatchObject({ id: 'wf-001', name: 'User auth' })
    expect(phaseLine(story.state)).toBe('Phase 1 - Plan (0% complete)')
  })

  test('weighs phases by their typical tokens, shared by their sub-phases', () => {
    const story = begun(SMALL)
    const percents = ['2', '2b', '3'].map((phase) => {
      story.add('phase.entered', { phase })
      return workflowOf(story).percent
    })
    expect(percents).toEqual([20, 50, 80])
  })

  test('waits for approval at a gate once the phase is reported finished', () => {
    const story = begun(SMALL)
    expect(closedGates(workflowOf(story), 1).map(({ id }) => id)).toEqual(['1'])
    story.add('phase.finished', { phase: '1' })
    expect(statuses(story)[0]).toBe('waiting for approval')
    story.add('phase.approved', { phase: '1', note: 'good', said: 'go on' })
    expect(statuses(story)[0]).toBe('done')
    expect(workflowOf(story)).toMatchObject({
      percent: 20,
      approvals: [{ phase: '1', note: 'good', said: 'go on' }],
    })
    expect(closedGates(workflowOf(story), 3)).toEqual([])
  })

  test('that goes back must redo and re-approve the phases after it', () => {
    const story = begun(SMALL)
    story.add('phase.approved', { phase: '1' })
    story.add('phase.entered', { phase: '3' })
    expect(statuses(story)).toEqual(['done', 'skipped', 'skipped', 'current'])
    story.add('phase.entered', { phase: '1' })
    expect(statuses(story)).toEqual(['current', 'pending', 'pending', 'pending'])
    expect(workflowOf(story)).toMatchObject({ percent: 0, approvals: [] })
  })

  test('ignores the approval of a phase that it has not finished', () => {
    const story = begun(SMALL)
    story.add('phase.approved', { phase: '3' })
    story.add('phase.entered', { phase: '2a' })
    story.add('phase.approved', { phase: '2' })
    expect(workflowOf(story).approvals).toEqual([])
  })

  test('begun twice follows the first template', () => {
    const story = begun(SMALL)
    story.add('phase.entered', { phase: '2' })
    story.add('workflow.begun', {
      workflow: 'x',
      name: 'x',
      template: { name: 'other', phases: [{ id: '1', name: 'Only' }] },
    })
    expect(workflowOf(story)).toMatchObject({ templateName: 'small', current: '2a' })
  })

  test('has the focus of its sub-phase or phase, or the one set until the next phase', () => {
    const story = begun(SMALL)
    expect(currentFocus(story.state)).toBe('the plan')
    story.add('focus.set', { text: 'only the API' })
    expect(currentFocus(story.state)).toBe('only the API')
    story.add('focus.set', { text: '' })
    expect(currentFocus(story.state)).toBe('the plan')
    story.add('focus.set', { text: 'only the API' })
    story.add('phase.entered', { phase: '2b' })
    expect(currentFocus(story.state)).toBe('pass')
    story.add('phase.entered', { phase: '3' })
    expect(currentFocus(story.state)).toBeUndefined()
    expect(currentFocus(new Story().state)).toBeUndefined()
  })

  test('lists the deliverables of its template and those added, each once', () => {
    const story = begun(SMALL)
    story.add('deliverable.set', { path: 'src/a.ts', phase: '2' })
    story.add('deliverable.set', { path: 'src/a.ts' })
    story.add('deliverable.dropped', { path: 'plan.md' })
    expect(workflowOf(story).deliverables.map(({ path }) => path)).toEqual(['src/a.ts'])
  })

  test("is at a split where a conversation's phases end, until a new conversation begins", () => {
    const story = begun(SMALL)
    expect(isAtConversationSplit(story.state)).toBe(false)
    story.add('phase.approved', { phase: '1' })
    expect(isAtConversationSplit(story.state)).toBe(true)
    story.add('phase.entered', { phase: '2' })
    expect(isAtConversationSplit(story.state)).toBe(true)
    story.add('conversation.joined', { conversation: 'c-2', harness: 'claude', source: 'clear' })
    expect(isAtConversationSplit(story.state)).toBe(false)
    story.add('phase.entered', { phase: '3' })
    expect(isAtConversationSplit(story.state)).toBe(false)
  })
})
