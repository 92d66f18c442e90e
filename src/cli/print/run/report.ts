import { formatInteger } from '../../../text/format-amounts.ts'
import { shortId } from '../../../public/projection.ts'
import type {
  Comparison,
  EndOfRun,
  ParallelReport,
  RunPlan,
  RunReport,
  RunRow,
  Spend,
  TaskReport,
} from '../../../library.ts'
import type { PlannedParallel, PlannedRunSession } from '../../../core.ts'
import { formatToMinute } from '../../../text/times.ts'
import type { Output } from '../../context/context.ts'
import { table, tableWithHead } from '../terminal/layout.ts'
import {
  capitalize,
  dollarsAndCents,
  commitPrefix,
  joinLines,
  shortLine,
  plural,
  roughDuration,
  titledSection,
  shellWord,
  durationText,
  shortTokens,
} from '../terminal/text.ts'
import { END_TEXTS, allTokens, taskCountsText, taskLabel, programText } from './event-text.ts'

export function describeRunPlan(plan: RunPlan, output: Output): string {
  const { source, harness, model, sessions, waiting, notes, parallel } = plan
  const taskCount = sessions.reduce((sum, { tasks }) => sum + tasks.length, 0)
  const seconds = sessions.reduce((sum, session) => sum + session.seconds, 0)
  const how =
    parallel === undefined
      ? ` in ${plural(sessions.length, 'session')}`
      : `, up to ${parallel.most} at once`
  const recordedText = plan.tracking === 'light' ? 'little' : 'each turn and the code of each task'
  // A partial sum would look like the total.
  const usd = sessions.some((session) => session.usd === undefined)
    ? undefined
    : sessions.reduce((sum, session) => sum + session.usd!, 0)
  return joinLines(
    `📐 ${output.bold(taskCount === 0 ? 'Nothing to do' : `${plural(taskCount, 'task')}${how}`)}`,
    `   From ${shortLine(source)}, with ${programText([harness, model])}`,
    taskCount > 0 &&
      `   ${plan.complexity} work (${plan.domain}): ${recordedText} is recorded besides`,
    parallel === undefined
      ? sessions.map((session, index) => ['', sessionLines(session, index, output)])
      : ['', parallelLines(sessions, parallel, output)],
    taskCount > 0 && [
      '',
      `   ${output.bold('In all')}  about ${roughDuration(parallel?.seconds ?? seconds)}, ${aboutCostText(usd)}`,
      parallel && `           ${shareText(parallel)}`,
    ],
    titledSection(
      `   ${output.bold('Waits')}`,
      waiting.map(({ task, reason }) => `   ⊘ ${taskLabel(task)}: ${shortLine(reason)}`),
    ),
    notes.length > 0 && ['', notes.map((note) => `   ${shortLine(note)}`)],
  )
}

function aboutCostText(usd: number | undefined) {
  return usd === undefined ? 'cost unknown' : `about ${dollarsAndCents(usd)}`
}

function sessionLines(session: PlannedRunSession, index: number, output: Output) {
  const { tasks, because, context, usd, seconds } = session
  const rows = tasks.map(({ task, sizeClass, forecast: { added }, profile }) => [
    `   ○ ${shortLine(task.name, 32)}`,
    sizeClass,
    `+${shortTokens(added.middle)}`,
    `at most ${shortTokens(added.margin)}`,
    profile === undefined ? '' : `as ${shortLine(profile.name, 20)}`,
    shortLine(task.title, 60),
  ])
  const end = `ends at ${shortTokens(context.middle)} tokens, at most ${shortTokens(context.margin)}`
  return [
    `   ${output.bold(`Session ${index + 1}`)}  about ${roughDuration(seconds)}, ${aboutCostText(usd)}, ${end}`,
    `   ${output.dim(shortLine(because))}`,
    table(rows, [2]),
  ]
}

function parallelLines(
  sessions: readonly PlannedRunSession[],
  { waves }: PlannedParallel,
  output: Output,
) {
  const plannedTasks = new Map(
    sessions.flatMap(({ tasks, seconds }) =>
      tasks.map((task) => [task.task.id, { ...task, seconds }]),
    ),
  )
  const rows = waves.flatMap(({ at, tasks }) =>
    tasks.map(({ task, because = '' }, index) => {
      const { seconds = 0, sizeClass = '' } = plannedTasks.get(task.id) ?? {}
      const when = at === 0 ? 'at once' : `after ${roughDuration(at)}`
      return [
        `   ${index > 0 ? '' : when}`,
        `○ ${shortLine(task.name, 32)}`,
        sizeClass,
        `about ${roughDuration(seconds)}`,
        shortLine(because, 80),
      ]
    }),
  )
  return rows.length > 0 && [`   ${output.bold('Begun')}`, table(rows)]
}

function shareText({ share, target, savedSeconds }: PlannedParallel) {
  const saved =
    savedSeconds > 0 ? `; about ${roughDuration(savedSeconds)} less than one after the other` : ''
  return `${percent(share)} of the tasks beside another (aim ${percent(target)})${saved}`
}

function percent(share: number) {
  return `${Math.round(share * 100)} %`
}

export function describeRunReport(report: RunReport, output: Output): string {
  if (report.how === 'nothing to do')
    return `✅ ${output.bold('There was nothing to do')}: stint task list shows what there is`
  const { run, harness, models, how, startedAt, seconds, sessions, commits, parallel } = report
  // The usage of a harness without a model name is listed under the harness's name.
  const programs = programText([...new Set([harness, ...models])])
  const tasks = sessions.flatMap((session) => session.tasks)
  const conversations = sessions.reduce((sum, session) => sum + session.conversations, 0)
  const conversationsText =
    conversations > sessions.length ? ` with ${conversations} conversations` : ''
  return joinLines(
    `${END_SYMBOLS[how] ?? '🏁'} ${output.bold(`Run ${shortId(run)}: ${taskCountsText(report)}`)}`,
    `   ${capitalize(END_TEXTS[how])}`,
    `   ${programs}, ${formatToMinute(startedAt)}, ${durationText(seconds)}, ${plural(sessions.length, 'session')}${conversationsText}, ${plural(commits, 'commit')}`,
    tasks.length > 0 && ['', figureLines(report, output), '', `   Cost: ${costLine(report)}`],
    parallel && ['', parallelReportLines(parallel, output)],
    // In a parallel run each task has its own conversation, so there is nothing to compare.
    tasks.length > 1 && parallel === undefined && ['', comparisonLines(report.compared, output)],
    unfinishedLines(report, tasks, output),
    nextSteps(report, tasks),
  )
}

const END_SYMBOLS: Partial<Record<EndOfRun | 'running', string>> = {
  running: '🏃',
  finished: '✅',
}

const OUTCOME_SYMBOLS = { done: '✓', parked: '✗', blocked: '⊘', open: '○' } as const
const COLUMNS = ['', 'TIME', 'IN', 'CACHED', 'WRITTEN', 'OUT', 'COST', 'COMMIT', '']

/** One table, so that the columns of all sessions are aligned. */
function figureLines({ sessions, spend, seconds }: RunReport, output: Output) {
  const rows = [
    ...sessions.flatMap((session, index) => [
      row(`Session ${index + 1} ${shortLine(session.name, 20)}`, session),
      ...session.tasks.map(taskRow),
    ]),
    row('Whole run', { spend, seconds }),
  ]
  const [head = '', ...lines] = table([COLUMNS, ...rows], [1, 2, 3, 4, 5, 6])
  const shown = lines.map((text, index) =>
    rows[index]![0]!.startsWith('  ') ? text : output.bold(text),
  )
  return [output.dim(head), ...shown].map((text) => `   ${text}`)
}

function row(
  label: string,
  { spend, seconds }: { readonly spend: Spend; readonly seconds: number },
) {
  const { input, cacheRead, cacheWritten, output, usd } = spend
  return [
    label,
    durationText(seconds),
    ...[input, cacheRead, cacheWritten, output].map(shortTokens),
    usd === undefined ? '?' : dollarsAndCents(usd),
  ]
}

function taskRow(report: TaskReport) {
  const { task, outcome, attempts, commit, compactions } = report
  const label = `  ${OUTCOME_SYMBOLS[outcome]} ${shortLine(task.name, 32)}`
  if (attempts === 0) return [label]
  const notes = [
    ...(attempts > 1 ? [`${attempts} tries`] : []),
    ...(compactions > 0 ? [`compacted${compactions > 1 ? ` ×${compactions}` : ''}`] : []),
  ]
  return [...row(label, report), commit === undefined ? '' : commitPrefix(commit), notes.join(', ')]
}

function costLine({ spend, prices }: RunReport) {
  const all = `${formatInteger(allTokens(spend))} tokens`
  return spend.usd === undefined
    ? `${shortLine(prices)} (${all})`
    : `${dollarsAndCents(spend.usd)} for ${all}, by the ${shortLine(prices)}`
}

/** Both sides, whether the result is a saving or a loss. */
function comparisonLines(
  { boilerplateAvoided, historyReread, savedUsd, profilesNotLoaded: profiles }: Comparison,
  output: Output,
) {
  const rows = [
    [`− ${formatInteger(boilerplateAvoided)}`, 'tokens of set-up not said again'],
    [
      `+ ${formatInteger(historyReread)}`,
      'tokens of earlier tasks read again, most of them from the cache',
    ],
    // The index of profiles costs tokens as well, maybe more than it saves.
    ...(profiles < 0
      ? [
          [
            `+ ${formatInteger(-profiles)}`,
            'tokens of the index of profiles, beyond what was not loaded',
          ],
        ]
      : []),
    ...(profiles > 0 ? [[`− ${formatInteger(profiles)}`, 'tokens of profiles not loaded']] : []),
    [`= ${savedText(savedUsd)}`, savedUsd === undefined ? 'because a price is unknown' : 'in all'],
  ]
  return [
    `   ${output.bold('Against one conversation per task')} (estimated from measured sizes)`,
    table(rows).map((text) => `   ${text}`),
  ]
}

function savedText(usd: number | undefined) {
  if (usd === undefined) return 'unknown'
  if (Math.abs(usd) < 0.005) return 'no difference'
  return `${dollarsAndCents(Math.abs(usd))} ${usd > 0 ? 'saved' : 'lost'}`
}

function parallelReportLines(
  { most, share, target, savedSeconds }: ParallelReport,
  output: Output,
) {
  const verdict = share >= target ? 'reached' : 'missed'
  const time = `${durationText(Math.abs(savedSeconds))} ${savedSeconds < 0 ? 'longer' : 'less'} than`
  return [
    `   ${output.bold('At once')}  up to ${most}; ${percent(share)} of the tasks beside another (aim ${percent(target)}, ${verdict})`,
    `            ${time} all of them one after the other, without merging`,
  ]
}

const MAX_NAMED = 20

function unfinishedLines(
  { backlog, neverBegun }: RunReport,
  tasks: readonly TaskReport[],
  output: Output,
) {
  const run = `stint run${backlog === undefined ? '' : ` --backlog ${shellWord(backlog)}`}`
  const open = tasks.filter(({ outcome }) => outcome === 'open')
  const named = neverBegun?.tasks.slice(0, MAX_NAMED) ?? []
  const more = (neverBegun?.count ?? 0) - named.length
  return [
    titledSection(
      `   ${output.bold('Not done')}`,
      tasks
        .filter(({ outcome }) => outcome === 'parked' || outcome === 'blocked')
        .map(({ task, outcome, reason, attempts, kept }) => [
          `   ${OUTCOME_SYMBOLS[outcome]} ${taskLabel(task)}, ${outcome} after ${plural(attempts, 'attempt')}: ${shortLine(reason ?? 'no reason was given')}`,
          kept !== undefined && `     what it left: git show ${shellWord(kept)}`,
          `     take it up: ${run} --task ${shellWord(task.name)}`,
        ]),
    ),
    titledSection(
      `   ${output.bold('Still open')}`,
      open.map(
        ({ task, reason }) =>
          `   ○ ${taskLabel(task)}${reason === undefined ? '' : `: ${shortLine(reason)}`}`,
      ),
      named.map((task) => `   ○ ${taskLabel(task)}, never begun`),
      more > 0 && `   … and ${more} more, never begun`,
    ),
  ]
}

const RESUMABLE_ENDS: ReadonlySet<RunReport['how']> = new Set([
  'max tasks',
  'max sessions',
  'budget tokens',
  'budget usd',
  'max minutes',
  'usage limit',
  'interrupted',
  'harness failed',
  'task failed',
])

function nextSteps({ run, how, commits, branch }: RunReport, tasks: readonly TaskReport[]) {
  // A started task that is still open may have left unproved commits.
  const isUnproved = tasks.some(({ outcome, attempts }) => outcome === 'open' && attempts > 0)
  const isMergeable = branch !== undefined && commits > 0 && how !== 'running' && !isUnproved
  const isResumable = RESUMABLE_ENDS.has(how)
  return [
    (isMergeable || isResumable) && '',
    isMergeable && `   Merge it: git merge ${shellWord(branch)}`,
    isResumable && `   Go on:    stint run --resume ${shortId(run)}`,
  ]
}

export function describeRuns(rows: readonly RunRow[], output: Output): string {
  if (rows.length === 0) return 'No runs: stint run starts one, stint plan says what it would do.'
  const body = rows.map(({ id, startedAt, harness, done, failed, open, spend, state, how }) => [
    shortId(id),
    formatToMinute(startedAt),
    shortLine(harness, 24),
    ...[done, failed, open].map(String),
    shortTokens(allTokens(spend)),
    dollarsAndCents(spend.usd),
    how === 'running' || how === 'finished' ? state : `${state}, ${how}`,
  ])
  const head = ['RUN', 'STARTED', 'HARNESS', 'DONE', 'FAILED', 'OPEN', 'TOKENS', 'COST', 'STATE']
  const resumable = rows.find((one) => one.state === 'resumable')
  return joinLines(
    tableWithHead(head, body, output, [3, 4, 5, 6, 7]),
    resumable && [
      '',
      `Go on with the last that can be: stint run --resume ${shortId(resumable.id)}`,
    ],
  )
}
