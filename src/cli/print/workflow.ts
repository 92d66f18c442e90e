import { currentPlace, focusOf, isApproved, tokensText } from '../../core.ts'
import type { Phase, PhaseStatus, Recovered, WorkflowOverview } from '../../library.ts'
import { shorten } from '../../text/clean.ts'
import { minute } from '../../text/times.ts'
import type { Output } from '../context/output.ts'
import { tableWithHead } from './terminal/table.ts'

const MARKS: Record<PhaseStatus, string> = {
  pending: '·',
  current: '▶',
  'waiting for approval': '⏸',
  done: '✓',
  skipped: '–',
}

/** The whole of a workflow: its phases, what they deliver, and what comes next. */
export function describeWorkflow(overview: WorkflowOverview, output: Output): string {
  const { state, workflow, deliverables, conversation, next } = overview
  const focus = focusOf(state)
  return [
    `🧭 ${output.bold(`${workflow.id}: ${workflow.name}`)}${state.status === 'active' ? '' : ` (${state.status})`}`,
    `   ${workflow.percent}% complete, template ${workflow.templateName}`,
    ...(conversation === undefined
      ? []
      : [
          `   Conversation ${conversation.number} of ${conversation.of}: ${conversation.name}${typical(conversation.tokens)}`,
        ]),
    '',
    ...phaseLines(overview),
    '',
    ...(focus === undefined ? [] : [`   Focus: ${focus}`]),
    ...(deliverables.length === 0
      ? []
      : ['   Deliverables:', ...deliverables.map(deliverableLine)]),
    ...splitLines(overview),
    `   Next: ${next.text}${next.who === 'person' ? ', which is for a person to do' : ''}`,
    `         ${next.command}`,
  ].join('\n')
}

function typical(tokens: readonly [number, number] | undefined): string {
  return tokens === undefined ? '' : ` (typically ${tokensText(tokens)} tokens)`
}

function phaseLines({ workflow }: WorkflowOverview): readonly string[] {
  const ids = workflow.phases.flatMap((phase) => [
    phase.id,
    ...phase.subPhases.map((sub) => `  ${sub.id}`),
  ])
  const width = Math.max(...ids.map((id) => id.length))
  const names = workflow.phases
    .flatMap((phase) => [phase, ...phase.subPhases])
    .map(({ name }) => name.length)
  const longest = Math.min(30, Math.max(...names))
  const row = (mark: string, id: string, name: string, rest: readonly string[]) =>
    `   ${mark} ${id.padEnd(width)}  ${shorten(name, longest).padEnd(longest)}  ${rest.filter((part) => part !== '').join('  ')}`.trimEnd()
  return workflow.phases.flatMap((phase) => [
    row(MARKS[phase.status], phase.id, phase.name, [
      phase.tokens === undefined ? '' : tokensText(phase.tokens).padEnd(9),
      gateText(phase, isApproved(workflow, phase.id)),
      phase.status === 'skipped' ? 'skipped' : '',
    ]),
    ...phase.subPhases.map((sub) =>
      row(MARKS[sub.status], `  ${sub.id}`, sub.name, [sub.status === 'skipped' ? 'skipped' : '']),
    ),
  ])
}

function gateText(phase: Phase, approved: boolean): string {
  if (approved) return 'approved'
  if (phase.status === 'waiting for approval') return 'waits for approval'
  return phase.gate === 'approval' ? 'gate: approval' : ''
}

function deliverableLine({
  path,
  phase,
  exists,
}: WorkflowOverview['deliverables'][number]): string {
  return `   ${exists ? '✓' : '✗'} ${path}${phase === undefined ? '' : ` (phase ${phase})`}${exists ? '' : ', not there'}`
}

/** Where one conversation ends, how to begin the next. */
function splitLines({ splitHere, workflow }: WorkflowOverview): readonly string[] {
  if (!splitHere) return []
  return [
    `   ✂️  The place for a fresh conversation: stint handoff create ${workflow.id}, then /clear`,
  ]
}

/** One workflow after a change: where it is now and what comes next. */
export function describeStep(heading: string, overview: WorkflowOverview, output: Output): string {
  const { state, workflow, next } = overview
  const { place } = currentPlace(workflow)
  const focus = focusOf(state)
  return [
    `🧭 ${output.bold(heading)}`,
    `   ${workflow.id}: phase ${place.id} ${place.name}, ${workflow.percent}% complete`,
    ...(focus === undefined || place.status !== 'current' ? [] : [`   Focus: ${focus}`]),
    ...splitLines(overview),
    `   Next: ${next.text}: ${next.command}`,
  ].join('\n')
}

export function workflowTable(overviews: readonly WorkflowOverview[], output: Output): string {
  const rows = overviews.map(({ state, workflow }) => {
    const { phase, place } = currentPlace(workflow)
    const status =
      state.status === 'active' && phase.status === 'waiting for approval'
        ? phase.status
        : state.status
    return [
      workflow.id,
      shorten(workflow.name, 30),
      shorten(`${place.id} ${place.name}`, 24),
      `${workflow.percent}%`,
      status,
    ]
  })
  return tableWithHead(['ID', 'NAME', 'PHASE', 'DONE', 'STATUS'], rows, output).join('\n')
}

const SHOWN = 12

/** What was found of a workflow, what was made of it, and how it stands. */
export function describeRecovered(
  { evidence, phase, because, outcome, overview }: Recovered,
  id: string,
  output: Output,
): string {
  const shown = evidence.slice(0, SHOWN).map((one) => {
    const says = one.phase === undefined ? '' : ` → ${one.phase}`
    return `   ${minute(one.at)}  ${one.source.padEnd(10)}  ${shorten(`${one.where}: ${one.text}`, 90)}${says}`
  })
  const more = evidence.length > SHOWN ? [`   … and ${evidence.length - SHOWN} more`] : []
  const done = {
    found: 'The workflow is there.',
    followed: `The session ${id} follows the template now.`,
    opened: 'A new session was opened for it.',
  }[outcome]
  const planned = {
    found: 'Nothing has to be rebuilt.',
    followed: `The session ${id} would follow the template.`,
    opened: 'A new session would be opened for it.',
  }
  return [
    `🔎 ${output.bold(`Evidence of ${id}`)}`,
    ...(evidence.length === 0 ? ['   none'] : [...shown, ...more]),
    '',
    `   Concluded: phase ${phase.id} ${phase.name}, because ${because}`,
    `   ${overview === undefined ? planned[outcome] : done}`,
    ...(overview === undefined
      ? ['   Nothing was changed (--dry-run).']
      : ['', describeWorkflow(overview, output)]),
  ].join('\n')
}
