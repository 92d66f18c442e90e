import { type SessionState, openBlockers } from '../../session/state.ts'
import { tldrOf } from '../../session/tldr.ts'
import { oneLine, shorten } from '../../text/clean.ts'
import { duration, minute } from '../../text/times.ts'
import { decisionLine } from '../progress.ts'
import type { Work, WorkTask } from './work.ts'

const RESULT_SHOWN = 300

/** The workflow log for people: what was to be done, what became of it, and what was learned. */
export function workflowLogBody(work: Work, state: SessionState): string {
  const done = work.tasks.filter((task) => task.status === 'done')
  const open = work.tasks.filter((task) => task.status !== 'done')
  const found = state.discoveries.items
  const parts: readonly (readonly [string, readonly string[]])[] = [
    ['Summary', [oneLine(tldrOf(state)), '', ...facts(state)]],
    ['Tasks Completed', done.map((task) => `- ✓ ${oneLine(task.description)}`)],
    ['Tasks Open', open.map(openLine)],
    ['Decisions', state.decisions.items.map((decision) => `- ${oneLine(decisionLine(decision))}`)],
    ['Discoveries', found.filter((one) => !one.gotcha).map(({ text }) => `- ${oneLine(text)}`)],
    ['Gotchas', found.filter((one) => one.gotcha).map(({ text }) => `- ${oneLine(text)}`)],
    ['Blockers', openBlockers(state).map(({ text }) => `- ${oneLine(text)}`)],
    [
      'Delegated',
      work.delegates.map(({ agent, prompt, status, result }) =>
        delegateLine(agent, prompt, status, result),
      ),
    ],
    [
      'Verified',
      state.tests.items.map(
        (run) => `- ${run.passed ? '✓' : '✗'} \`${oneLine(run.text)}\`${verdict(run.summary)}`,
      ),
    ],
    ['Next', state.next.items.map(({ text }) => `- ${oneLine(text)}`)],
  ]
  const shown = parts.filter(([, lines]) => lines.length > 0)
  return [
    `# Session Log: ${oneLine(state.title)}`,
    '',
    ...shown.flatMap(([title, lines]) => [`## ${title}`, '', ...lines, '']),
  ].join('\n')
}

function facts(state: SessionState): readonly string[] {
  const ended = state.closedAt ?? state.updatedAt
  const why = state.closeReason === undefined ? '' : `: ${oneLine(state.closeReason)}`
  return [
    `- Goal: ${oneLine(state.goal) || 'none was set'}`,
    `- Status: ${state.status}${why}`,
    `- From ${minute(state.createdAt)} to ${minute(ended)} UTC (${duration(state.createdAt, ended)})`,
    ...(state.git.branch === undefined ? [] : [`- Branch: ${oneLine(state.git.branch)}`]),
  ]
}

function openLine(task: WorkTask): string {
  const mark = task.status === 'pending' ? '○' : task.status === 'paused' ? '⊘' : '◆'
  return `- ${mark} ${oneLine(task.description)} (${task.status})`
}

function delegateLine(
  agent: string,
  prompt: string,
  status: string,
  result: string | null,
): string {
  const said = result === null ? status : shorten(oneLine(result), RESULT_SHOWN)
  return `- ${oneLine(agent)}${prompt === '' ? '' : `, ${oneLine(prompt)}`}: ${said}`
}

function verdict(summary: string | undefined): string {
  return summary === undefined ? '' : `: ${oneLine(summary)}`
}
