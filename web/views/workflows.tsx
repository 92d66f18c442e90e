import type { Phase, PhaseStatus, SubPhase, WorkflowRow } from '../../src/serve/contract.ts'
import { useAction } from '../data/action.ts'
import { api } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { Badge, StatusBadge, Time } from '../components/values.tsx'
import { useConfirm } from '../components/confirm.tsx'
import { formatTokens } from '../components/format.ts'
import { ListView } from '../lists/list-view.tsx'
import { ProblemLine } from '../components/problem-line.tsx'
import { Empty } from '../components/states.tsx'
import { Text } from '../components/text.tsx'
import { hrefTo } from '../data/router.ts'

export function WorkflowsView() {
  const workflows = useResource('workflows', api.workflows, (event) => event.type === 'workflows')
  return (
    <ListView
      title="Workflows"
      about="Sessions that go through phases, some behind a gate"
      rows={workflows}
      none={
        <Empty title="No session follows phases">
          <code>stint workflow init NAME "What it is about"</code> begins one.
        </Empty>
      }
    >
      {(lines) => (
        <div class="cards">
          {lines.map((line) => (
            <WorkflowCard key={line.session.id} line={line} changed={workflows.reload} />
          ))}
        </div>
      )}
    </ListView>
  )
}

function WorkflowCard({ line, changed }: { line: WorkflowRow; changed: () => void }) {
  const { session, workflow } = line
  const { next, conversation, deliverables } = workflow
  const title = `workflow-${session.id}`
  const waiting = workflow.phases.find(({ status }) => status === 'waiting for approval')
  return (
    <section class="panel workflow" aria-labelledby={title}>
      <div class="panel-head">
        <h2 id={title}>
          <a href={hrefTo.session(session.id)}>
            <Text>{workflow.name}</Text>
          </a>
        </h2>
        <span class="mono small muted">
          <Text>{workflow.id}</Text>
        </span>
        <StatusBadge of={waiting === undefined ? session.status : 'waiting for approval'} />
        <span class="small muted">
          <Time at={session.updatedAt} />
        </span>
      </div>
      <div class="phase-progress">
        <span
          class="phase-bar"
          role="progressbar"
          aria-valuenow={workflow.percent}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-label="Done"
        >
          <span style={{ width: `${workflow.percent}%` }} />
        </span>
        <span class="number small">{workflow.percent}%</span>
      </div>
      {waiting === undefined ? (
        <p class="small">
          Next: <Text>{next.text}</Text>{' '}
          <code>
            <Text>{next.command}</Text>
          </code>
        </p>
      ) : (
        <Approval line={line} phase={waiting} changed={changed} />
      )}
      <ol class="phases">
        {workflow.phases.map((phase) => (
          <PhaseLine key={phase.id} phase={phase} />
        ))}
      </ol>
      {deliverables.length === 0 ? null : (
        <ul class="deliverables small">
          {deliverables.map(({ path, exists }) => (
            <li key={path}>
              <Badge tone={exists ? 'good' : 'plain'}>{exists ? 'there' : 'missing'}</Badge>{' '}
              <code>
                <Text>{path}</Text>
              </code>
            </li>
          ))}
        </ul>
      )}
      {conversation === undefined ? null : (
        <p class="small muted">
          Conversation {conversation.number} of {conversation.of}: <Text>{conversation.name}</Text>
          {conversation.tokens === undefined
            ? ''
            : `, typically ${formatTokens(conversation.tokens[0])} to ${formatTokens(conversation.tokens[1])}`}
        </p>
      )}
    </section>
  )
}

function Approval({
  line,
  phase,
  changed,
}: {
  line: WorkflowRow
  phase: Phase
  changed: () => void
}) {
  const { dialog, confirm } = useConfirm()
  const { isBusy, failure, run } = useAction()
  const decide = async (how: 'approve' | 'reject'): Promise<void> => {
    const decision = await confirm({
      title: how === 'approve' ? `Approve ${phase.name}?` : `Send ${phase.name} back?`,
      text:
        how === 'approve'
          ? 'What comes after it opens. It is recorded as your word.'
          : 'The phase is worked on again, with what you say here.',
      action: how === 'approve' ? 'Approve' : 'Send back',
      isDangerous: how === 'reject',
      note: how === 'approve' ? 'A note, if there is one' : 'What is missing',
    })
    if (decision === undefined) return
    await run(() =>
      api.decideWorkflow(line.session.id, how, decision.note === '' ? undefined : decision.note),
    )
    changed()
  }
  return (
    <div class="gate">
      <p>
        <strong>
          {phase.id} <Text>{phase.name}</Text>
        </strong>{' '}
        is called finished and waits for a person.
      </p>
      <div class="actions">
        <button
          class="button"
          type="button"
          data-tone="accent"
          disabled={isBusy}
          onClick={() => void decide('approve')}
        >
          Approve
        </button>
        <button
          class="button"
          type="button"
          disabled={isBusy}
          onClick={() => void decide('reject')}
        >
          Reject
        </button>
      </div>
      <ProblemLine failure={failure} />
      {dialog}
    </div>
  )
}

const GLYPHS: Readonly<Record<PhaseStatus, string>> = {
  done: '✓',
  current: '▸',
  'waiting for approval': '◆',
  pending: '○',
  skipped: '–',
}

function PhaseLine({ phase }: { phase: Phase }) {
  return (
    <li data-status={phase.status}>
      <PhaseName phase={phase} />
      {phase.gate === 'approval' ? <span class="phase-gate small">gate</span> : null}
      {phase.tokens === undefined ? null : (
        <span class="phase-tokens small number">
          {formatTokens(phase.tokens[0])}–{formatTokens(phase.tokens[1])}
        </span>
      )}
      {phase.subPhases.length === 0 ? null : (
        <ol>
          {phase.subPhases.map((sub) => (
            <li key={sub.id} data-status={sub.status}>
              <PhaseName phase={sub} />
            </li>
          ))}
        </ol>
      )}
    </li>
  )
}

function PhaseName({ phase: { id, name, status, focus } }: { phase: SubPhase }) {
  return (
    <span class="phase-name" title={focus}>
      <span class="phase-glyph" aria-hidden="true">
        {GLYPHS[status]}
      </span>
      <span class="number">{id}</span> <Text>{name}</Text>
      <span class={status === 'done' || status === 'pending' ? 'unseen-text' : 'small muted'}>
        {' '}
        {status}
      </span>
    </span>
  )
}
