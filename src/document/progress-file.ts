import {
  type SessionDelegate,
  type SessionState,
  currentStep,
  openBlockers,
  stepCounts,
} from '../session/state.ts'
import { tldrOf } from '../session/tldr.ts'
import { formatToSecond } from '../text/times.ts'
import { oneLine, shorten } from '../text/clean.ts'

const MAX_RECENT = 10

/** `progress.md`: what an agent needs to continue, short enough to read every time. */
export function renderProgress(state: SessionState): string {
  const { done, total } = stepCounts(state)
  const current = currentStep(state)
  const lines = [
    '---',
    `session_id: ${state.id}`,
    `shortname: ${state.name}`,
    `last_updated: ${formatToSecond(state.updatedAt)}`,
    `compaction_count: ${state.compactions}`,
    `progress_pct: ${total === 0 ? 0 : Math.round((100 * done) / total)}`,
    `current_step: ${current === undefined ? 0 : state.steps.earlier + state.steps.items.indexOf(current) + 1}`,
    `total_steps: ${total}`,
    '---',
    '',
    '## TL;DR',
    tldrOf(state),
    '',
    '## Checklist',
    ...checklist(state, current?.id),
    '',
    '## Key Context',
    ...bullets(state.key.items.map((item) => item.text)),
    '',
    '## Decisions',
    ...bullets(
      state.decisions.items.slice(-MAX_RECENT).map(decisionLine),
      state.decisions.items.length - MAX_RECENT,
      'stint view --decisions',
    ),
    '',
    '## Open Blockers',
    ...bullets(openBlockers(state).map((item) => item.text)),
    '',
    '## Next Steps',
    ...bullets(state.next.items.map((item) => item.text)),
  ]
  if (state.delegates.items.length > 0)
    lines.push(
      '',
      '## Delegates',
      ...bullets(state.delegates.items.slice(-MAX_RECENT).map(delegateLine)),
    )
  if (state.commands.items.length > 0)
    lines.push(
      '',
      '## Resume Commands',
      '```bash',
      ...state.commands.items.map((item) => item.text),
      '```',
    )
  return `${lines.join('\n')}\n`
}

export function decisionLine(decision: {
  text: string
  choice?: string
  rationale?: string
}): string {
  const choice =
    decision.choice === undefined || decision.choice === decision.text ? '' : `: ${decision.choice}`
  return `${decision.text}${choice}${decision.rationale === undefined ? '' : ` (because ${decision.rationale})`}`
}

function checklist(state: SessionState, currentId: string | undefined) {
  const earlierSteps =
    state.steps.earlier === 0 ? [] : [`- [x] ${state.steps.earlier} earlier steps`]
  const steps = state.steps.items.map((step) => {
    const mark = step.id === currentId ? '          <- HERE' : ''
    return `- [${step.status === 'done' ? 'x' : ' '}] ${toLine(step.text)}${mark}`
  })
  return steps.length + earlierSteps.length === 0 ? ['- None yet'] : [...earlierSteps, ...steps]
}

function bullets(texts: readonly string[], leftOut = 0, command = '') {
  if (texts.length === 0) return ['- None']
  const more = leftOut > 0 ? [`- … and ${leftOut} earlier: \`${command}\``] : []
  return [...more, ...texts.map((text) => `- ${toLine(text)}`)]
}

function toLine(text: string) {
  return text.split('\n').join(' ')
}

const MAX_PROMPT = 120
const MAX_OUTCOME = 200

export function delegateText({ because, status, summary, text }: SessionDelegate): string {
  const outcome =
    status === 'merged' || status === 'ready' ? (summary ?? because) : (because ?? summary)
  return [shorten(oneLine(text), MAX_PROMPT), shorten(oneLine(outcome ?? ''), MAX_OUTCOME)]
    .filter((part) => part !== '')
    .join(' - ')
}

/** `tests (ready): write the tests - twelve, all red` */
export function delegateLine(line: SessionDelegate): string {
  return `${delegateName(line)} (${line.status}): ${delegateText(line)}`.trimEnd()
}

export function delegateName({ delegate, name }: SessionDelegate): string {
  return (
    oneLine(name).replaceAll(/[*()]/g, '').trim() ||
    oneLine(delegate).replaceAll(/[*()]/g, '').trim() ||
    'delegate'
  )
}
