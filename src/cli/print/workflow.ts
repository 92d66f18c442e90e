import { currentLeaf, currentFocus, isApproved, tokensText } from '../../core.ts'
import type { Phase, PhaseStatus, Recovered, WorkflowOverview } from '../../library.ts'
import { shorten } from '../../text/clean.ts'
import { formatToMinute } from '../../text/times.ts'
import type { Output } from '../context/context.ts'
import { tableWithHead } from './terminal/layout.ts'
import { joinLines } from './terminal/text.ts'

const MARKS: Record<PhaseStatus, string> = {
  pending: '·',
  current: '▶',
  'waiting for approval': '⏸',
  done: '✓',
  skipped: '–',
}

export function describeWorkflow(overview: WorkflowOverview, output: Output): string {
  const { state, workflow, deliverables, conversation, next } = overview
  const focus = currentFocus(state)
  const typical =
    conversation?.tokens === undefined
      ? ''
      : ` (typically ${tokensText(conversation.tokens)} tokens)`
  return joinLines(
    `🧭 ${output.bold(`${workflow.id}: ${workflow.name}`)}${state.status === 'active' ? '' : ` (${state.status})`}`,
    `   ${workflow.percent}% complete, template ${workflow.templateName}`,
    conversation &&
      `   Conversation ${conversation.number} of ${conversation.of}: ${conversation.name}${typical}`,
    '',
    phaseLines(overview),
    '',
    focus !== undefined && `   Focus: ${focus}`,
    deliverables.length > 0 && '   Deliverables:',
    deliverables.map(({ path, phase, exists }) => {
      const phaseSuffix = phase === undefined ? '' : ` (phase ${phase})`
      return `   ${exists ? '✓' : '✗'} ${path}${phaseSuffix}${exists ? '' : ', not there'}`
    }),
    splitLine(overview),
    `   Next: ${next.text}${next.who === 'person' ? ', which is for a person to do' : ''}`,
    `         ${next.command}`,
  )
}

function phaseLines({ workflow }: WorkflowOverview) {
  const rows = workflow.phases.flatMap((phase) => [
    {
      ...phase,
      rest: [
        phase.tokens === undefined ? '' : tokensText(phase.tokens).padEnd(9),
        gateText(phase, isApproved(workflow, phase.id)),
      ],
    },
    ...phase.subPhases.map((sub) => ({ ...sub, id: `  ${sub.id}`, rest: [] })),
  ])
  const width = Math.max(...rows.map(({ id }) => id.length))
  const longest = Math.min(30, Math.max(...rows.map(({ name }) => name.length)))
  return rows.map(({ status, id, name, rest: notes }) => {
    const suffix = [...notes, status === 'skipped' ? 'skipped' : ''].filter((part) => part !== '')
    return `   ${MARKS[status]} ${id.padEnd(width)}  ${shorten(name, longest).padEnd(longest)}  ${suffix.join('  ')}`.trimEnd()
  })
}

function gateText({ status, gate }: Phase, approved: boolean) {
  if (approved) return 'approved'
  if (status === 'waiting for approval') return 'waits for approval'
  return gate === 'approval' ? 'gate: approval' : ''
}

function splitLine({ splitHere, workflow }: WorkflowOverview): string | false {
  return (
    splitHere &&
    `   ✂️  The place for a fresh conversation: stint handoff create ${workflow.id}, then /clear`
  )
}

export function describePhaseChange(
  heading: string,
  overview: WorkflowOverview,
  output: Output,
): string {
  const { state, workflow, next } = overview
  const { leaf } = currentLeaf(workflow)
  const focus = currentFocus(state)
  return joinLines(
    `🧭 ${output.bold(heading)}`,
    `   ${workflow.id}: phase ${leaf.id} ${leaf.name}, ${workflow.percent}% complete`,
    focus !== undefined && leaf.status === 'current' && `   Focus: ${focus}`,
    splitLine(overview),
    `   Next: ${next.text}: ${next.command}`,
  )
}

export function workflowTable(overviews: readonly WorkflowOverview[], output: Output): string {
  const rows = overviews.map(({ state, workflow }) => {
    const { phase, leaf } = currentLeaf(workflow)
    const status =
      state.status === 'active' && phase.status === 'waiting for approval'
        ? phase.status
        : state.status
    return [
      workflow.id,
      shorten(workflow.name, 30),
      shorten(`${leaf.id} ${leaf.name}`, 24),
      `${workflow.percent}%`,
      status,
    ]
  })
  return tableWithHead(['ID', 'NAME', 'PHASE', 'DONE', 'STATUS'], rows, output).join('\n')
}

const MAX_EVIDENCE_SHOWN = 12

const OUTCOME_TEXTS = {
  found: 'The workflow is there.',
  followed: 'The session ID follows the template now.',
  opened: 'A new session was opened for it.',
}
const DRY_RUN_TEXTS = {
  found: 'Nothing has to be rebuilt.',
  followed: 'The session ID would follow the template.',
  opened: 'A new session would be opened for it.',
}

export function describeRecovered(
  { evidence, phase, because, outcome, overview }: Recovered,
  id: string,
  output: Output,
): string {
  const outcomeText = (overview === undefined ? DRY_RUN_TEXTS : OUTCOME_TEXTS)[outcome].replace(
    'ID',
    () => id,
  )
  return joinLines(
    `🔎 ${output.bold(`Evidence of ${id}`)}`,
    evidence.length === 0 && '   none',
    evidence.slice(0, MAX_EVIDENCE_SHOWN).map((item) => {
      const phaseText = item.phase === undefined ? '' : ` → ${item.phase}`
      return `   ${formatToMinute(item.at)}  ${item.source.padEnd(10)}  ${shorten(`${item.where}: ${item.text}`, 90)}${phaseText}`
    }),
    evidence.length > MAX_EVIDENCE_SHOWN && `   … and ${evidence.length - MAX_EVIDENCE_SHOWN} more`,
    '',
    `   Concluded: phase ${phase.id} ${phase.name}, because ${because}`,
    `   ${outcomeText}`,
    overview === undefined
      ? '   Nothing was changed (--dry-run).'
      : ['', describeWorkflow(overview, output)],
  )
}
