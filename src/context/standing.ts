// Where things stand: what somebody who goes on with the work has to know first.
import { type SessionState, currentStep, openBlockers, stepCounts } from '../session/state.ts'
import { tldrOf } from '../session/tldr.ts'
import { focusOf, phaseLine } from '../session/kinds/phases.ts'
import { SHOW, from } from './commands.ts'
import { bullets, paragraph } from './lists.ts'
import type { Section } from './section.ts'
import { tableSection } from './table.ts'

/** What the sections below have together even when others want everything. */
export const STANDING_ROOM = 280

export function standingSections(state: SessionState): readonly Section[] {
  return [
    paragraph(tldrWithoutGoal(state), {
      ...from(SHOW.all, 'TL;DR'),
      rank: 0,
      reserve: 80,
      fair: 170,
      heading: tldrHeading(state),
    }),
    paragraph(workflowOf(state), {
      ...from(SHOW.all, 'workflow'),
      rank: 1,
      reserve: 40,
      fair: 80,
      heading: 'Workflow:',
      lengths: [80, 60, 38],
    }),
    paragraph(progressOf(state), {
      ...from(SHOW.progress, 'progress'),
      rank: 1,
      reserve: 32,
      fair: 60,
      heading: 'Progress:',
      lengths: [60, 40, 26],
    }),
    openSteps(state),
    bullets(
      openBlockers(state).map((blocker) => blocker.text),
      {
        ...from(SHOW.blockers, 'open blockers'),
        rank: 2,
        reserve: 40,
        fair: 120,
        heading: 'Open blockers:',
        keep: 'last',
      },
    ),
    bullets(
      state.next.items.map((item) => item.text),
      {
        ...from(SHOW.next, 'next steps', state.next),
        rank: 3,
        reserve: 40,
        fair: 120,
        heading: 'Next steps:',
        keep: 'first',
      },
    ),
  ]
}

// The objective stands above it already.
function tldrWithoutGoal(state: SessionState): string {
  const { progress, steps, discoveries, blockers, next } = state
  const hasNothing = [progress, steps, discoveries, blockers, next].every(
    (shelf) => shelf.items.length === 0,
  )
  return state.tldr === undefined && hasNothing ? '' : tldrOf({ ...state, goal: '' })
}

function tldrHeading({ tldr }: SessionState): string {
  const isOld = tldr?.isOutdated === true && tldr.renewed === undefined
  return isOld ? 'TL;DR (written before the latest entries):' : 'TL;DR:'
}

function workflowOf(state: SessionState): string {
  const phase = phaseLine(state)
  if (phase === undefined) return ''
  const waits = state.workflow!.phases.some(({ status }) => status === 'waiting for approval')
  const focus = focusOf(state)
  // Whether it waits stands before what may be long enough to be cut.
  return [
    `${state.name}, ${phase}`,
    waits ? "waits for a person's approval" : '',
    focus === undefined ? '' : `focus: ${focus}`,
  ]
    .filter((part) => part !== '')
    .join('; ')
}

function progressOf(state: SessionState): string {
  const { done, total } = stepCounts(state)
  const current = currentStep(state)
  if (total === 0) return ''
  return `${done}/${total} steps done${current === undefined ? '' : `; current: ${current.text}`}`
}

function openSteps(state: SessionState): Section {
  const current = currentStep(state)
  const open = state.steps.items.filter((step) => step.status !== 'done')
  return tableSection(
    {
      name: 'open_steps',
      heading: 'Open steps:',
      main: 'step',
      columns: { is: 1, step: 1 },
      rows: open.map((step) => ({
        is: step === current ? 'current' : step.status,
        step: step.text,
      })),
      line: ({ is, step }) => (is === 'todo' ? `[ ] ${step}` : `[ ] ${step} (${is})`),
    },
    {
      ...from(SHOW.progress, 'open steps'),
      rank: 4,
      reserve: 44,
      fair: 150,
      keep: 'first',
      lengths: [60, 40],
    },
  )
}
