// Each small item is one line, because the programs that read these logs read line by line.
import { Document, isMap, isScalar, isSeq, visit } from 'yaml'
import { type Item, type SessionState, openBlockers } from '../../session/state.ts'
import { tldrOf } from '../../session/tldr.ts'
import { oneLine, shorten } from '../../text/clean.ts'
import { durationBetween, formatToMinute } from '../../text/times.ts'
import { decisionLine } from '../progress-file.ts'
import { fileDomain, fileType } from './file-domain.ts'
import {
  type ExportedWork,
  type ExportSource,
  type ExportedTask,
  collectWork,
} from './collect-work.ts'

export function renderWorkflowLog(source: ExportSource): string {
  const { state } = source
  const work = collectWork(source)
  return `---\n${renderYaml(frontmatter(work, state))}---\n\n${workflowLogBody(work, state)}\n${workflowLogMarker(source)}\n`
}

export function workflowLogMarker({
  state,
  entries,
}: Pick<ExportSource, 'state' | 'entries'>): string {
  const closing = state.closedAt === undefined ? undefined : closingEntry(entries)
  return `<!-- stint: workflow log ${state.id}${closing === undefined ? '' : ` ${closing.id}`} -->`
}

/** When two commands close a session at once, both use the entry that was written first. */
export function closingEntry(
  entries: ExportSource['entries'],
): ExportSource['entries'][number] | undefined {
  const reopened = entries.findLastIndex(({ kind }) => kind === 'session.reopened')
  return entries.slice(reopened + 1).find(({ kind }) => kind === 'session.closed')
}

function frontmatter(work: ExportedWork, state: SessionState) {
  const typeOf = (path: string) => fileType(path) || 'none'
  const types: Record<string, number> = {}
  for (const type of work.files.map(typeOf)) types[type] = (types[type] ?? 0) + 1
  return {
    session: {
      id: work.id,
      date: work.id.slice(0, 10),
      complexity: work.complexity,
      domain: work.domain,
    },
    // Stint does not know these, but readers of such logs expect them.
    skills: { loaded: [], suggested: [] },
    tasks: nestTasks(work.tasks, null),
    files: {
      modified: work.files.map((path) => ({
        path: oneLine(path),
        type: typeOf(path),
        domain: fileDomain(path),
      })),
      types,
    },
    agents: {
      delegated: work.delegates.map((one) => ({
        name: oneLine(one.agent),
        task: oneLine(one.prompt),
        result: one.status === 'completed' ? 'success' : one.status,
      })),
    },
    commands: state.tests.items.map(({ text, passed }) => ({
      cmd: oneLine(text),
      success: passed,
    })),
    root_causes: state.blockers.items
      .filter((blocker) => blocker.resolution !== undefined)
      .map((blocker) => ({
        problem: oneLine(blocker.text),
        solution: oneLine(blocker.resolution ?? ''),
      })),
    gotchas: state.discoveries.items
      .filter((one) => one.gotcha)
      .map((one) => splitGotcha(one.text)),
  }
}

/** A task that is its own ancestor has no root above it and would be lost. */
function nestTasks(tasks: readonly ExportedTask[], parent: string | null): readonly object[] {
  const here = tasks.filter((task) => task.parent === parent)
  const shown = here.map((task) => nestedTask(task, tasks))
  if (parent !== null) return shown
  const reached = new Set(here.flatMap((task) => [task, ...descendants(task, tasks)]))
  return [
    ...shown,
    ...tasks.filter((task) => !reached.has(task)).map((task) => nestedTask(task, [])),
  ]
}

function descendants(task: ExportedTask, tasks: readonly ExportedTask[]): readonly ExportedTask[] {
  const parts = tasks.filter((other) => other.parent === task.id)
  return [...parts, ...parts.flatMap((part) => descendants(part, tasks))]
}

function nestedTask(task: ExportedTask, tasks: readonly ExportedTask[]) {
  const parts = nestTasks(tasks, task.id)
  return {
    id: oneLine(task.id),
    description: oneLine(task.description),
    status: task.status,
    assigned_to: oneLine(task.assignedTo),
    dependencies: task.dependencies.map(oneLine),
    parallel_group: task.group === null ? null : oneLine(task.group),
    checklist: task.checklist.map(({ item, done }) => ({ item: oneLine(item), done })),
    files: task.files.map(oneLine),
    ...(parts.length === 0 ? {} : { tasks: parts }),
  }
}

/** The first sentence is the pattern, the rest the solution. */
function splitGotcha(text: string): { pattern: string; solution: string } {
  const line = oneLine(text)
  const end = /[.!?;](?=\s)/.exec(line)
  if (end === null) return { pattern: line, solution: '' }
  return {
    pattern: line.slice(0, end.index + (end[0] === ';' ? 0 : 1)),
    solution: line.slice(end.index + 1).trim(),
  }
}

const FLOW_LISTS = new Set(['modified', 'delegated', 'commands', 'checklist'])

function renderYaml(head: object): string {
  // YAML 1.1 readers would see a date or a boolean in some plain texts.
  const document = new Document(head, { aliasDuplicateObjects: false, compat: 'yaml-1.1' })
  visit(document, {
    Pair(_, { key, value }) {
      const name = isScalar(key) ? String(key.value) : ''
      if (name === 'types' && isMap(value)) value.flow = true
      if (isSeq(value) && FLOW_LISTS.has(name))
        for (const item of value.items) if (isMap(item)) item.flow = true
    },
    Seq(_, list) {
      if (list.items.every((item) => isScalar(item))) list.flow = true
    },
  })
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}

const MAX_RESULT = 300

function workflowLogBody(work: ExportedWork, state: SessionState): string {
  const done = work.tasks.filter((task) => task.status === 'done')
  const open = work.tasks.filter((task) => task.status !== 'done')
  const found = state.discoveries.items
  const texts = (items: readonly Item[]) => items.map(({ text }) => `- ${oneLine(text)}`)
  const parts: readonly (readonly [string, readonly string[]])[] = [
    ['Summary', [oneLine(tldrOf(state)), '', ...facts(state)]],
    ['Tasks Completed', done.map((task) => `- ✓ ${oneLine(task.description)}`)],
    ['Tasks Open', open.map(openLine)],
    ['Decisions', state.decisions.items.map((decision) => `- ${oneLine(decisionLine(decision))}`)],
    ['Discoveries', texts(found.filter((one) => !one.gotcha))],
    ['Gotchas', texts(found.filter((one) => one.gotcha))],
    ['Blockers', texts(openBlockers(state))],
    ['Delegated', work.delegates.map(delegateLine)],
    ['Verified', state.tests.items.map(testLine)],
    ['Next', texts(state.next.items)],
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
    `- From ${formatToMinute(state.createdAt)} to ${formatToMinute(ended)} UTC (${durationBetween(state.createdAt, ended)})`,
    ...(state.git.branch === undefined ? [] : [`- Branch: ${oneLine(state.git.branch)}`]),
  ]
}

function openLine(task: ExportedTask): string {
  const mark = task.status === 'pending' ? '○' : task.status === 'paused' ? '⊘' : '◆'
  return `- ${mark} ${oneLine(task.description)} (${task.status})`
}

function delegateLine({ agent, prompt, status, result }: ExportedWork['delegates'][number]) {
  const outcome = result === null ? status : shorten(oneLine(result), MAX_RESULT)
  return `- ${oneLine(agent)}${prompt === '' ? '' : `, ${oneLine(prompt)}`}: ${outcome}`
}

function testLine({ passed, text, summary }: SessionState['tests']['items'][number]) {
  const verdict = summary === undefined ? '' : `: ${oneLine(summary)}`
  return `- ${passed ? '✓' : '✗'} \`${oneLine(text)}\`${verdict}`
}
