import { number } from '../../../text/amounts.ts'
import { shortId } from '../../../public.ts'
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
import { minute } from '../../../text/times.ts'
import type { Output } from '../../context/context.ts'
import { table, tableWithHead } from '../terminal/layout.ts'
import {
  type Lines,
  capital,
  cents,
  commitName,
  joinLines,
  line,
  plural,
  roughly,
  section,
  shellWord,
  span,
  tokens,
} from '../terminal/text.ts'
import { END_WORDS, allTokens, countWords, name, programWords } from './words.ts'

export function describePlan(plan: RunPlan, output: Output): string {
  const { source, harness, model, sessions, waiting, notes, parallel } = plan
  const count = sessions.reduce((sum, { tasks }) => sum + tasks.length, 0)
  const seconds = sessions.reduce((sum, session) => sum + session.seconds, 0)
  const how =
    parallel === undefined
      ? ` in ${plural(sessions.length, 'session')}`
      : `, up to ${parallel.most} at once`
  const recorded = plan.tracking === 'light' ? 'little' : 'each turn and the code of each task'
  // A part of the cost would look like the whole.
  const usd = sessions.some((session) => session.usd === undefined)
    ? undefined
    : sessions.reduce((sum, session) => sum + session.usd!, 0)
  return joinLines(
    `📐 ${output.bold(count === 0 ? 'Nothing to do' : `${plural(count, 'task')}${how}`)}`,
    `   From ${line(source)}, with ${programWords([harness, model])}`,
    count > 0 && `   ${plan.complexity} work (${plan.domain}): ${recorded} is recorded besides`,
    parallel === undefined
      ? sessions.map((session, index) => ['', sessionBlock(session, index, output)])
      : ['', waveBlock(sessions, parallel, output)],
    count > 0 && [
      '',
      `   ${output.bold('In all')}  about ${roughly(parallel?.seconds ?? seconds)}, ${aboutCost(usd)}`,
      parallel && `           ${shareWords(parallel)}`,
    ],
    section(
      `   ${output.bold('Waits')}`,
      waiting.map(({ task, reason }) => `   ⊘ ${name(task)}: ${line(reason)}`),
    ),
    notes.length > 0 && ['', notes.map((note) => `   ${line(note)}`)],
  )
}

function aboutCost(usd: number | undefined): string {
  return usd === undefined ? 'cost unknown' : `about ${cents(usd)}`
}

function sessionBlock(session: PlannedRunSession, index: number, output: Output): Lines {
  const { tasks, because, context, usd, seconds } = session
  const rows = tasks.map(({ task, sizeClass, forecast: { added }, profile }) => [
    `   ○ ${line(task.name, 32)}`,
    sizeClass,
    `+${tokens(added.middle)}`,
    `at most ${tokens(added.margin)}`,
    profile === undefined ? '' : `as ${line(profile.name, 20)}`,
    line(task.title, 60),
  ])
  const end = `ends at ${tokens(context.middle)} tokens, at most ${tokens(context.margin)}`
  return [
    `   ${output.bold(`Session ${index + 1}`)}  about ${roughly(seconds)}, ${aboutCost(usd)}, ${end}`,
    `   ${output.dim(line(because))}`,
    table(rows, [2]),
  ]
}

function waveBlock(
  sessions: readonly PlannedRunSession[],
  { waves }: PlannedParallel,
  output: Output,
): Lines {
  const planned = new Map(
    sessions.flatMap(({ tasks, seconds }) =>
      tasks.map((task) => [task.task.id, { ...task, seconds }]),
    ),
  )
  const rows = waves.flatMap(({ at, tasks }) =>
    tasks.map(({ task, because = '' }, index) => {
      const { seconds = 0, sizeClass = '' } = planned.get(task.id) ?? {}
      const when = at === 0 ? 'at once' : `after ${roughly(at)}`
      return [
        `   ${index > 0 ? '' : when}`,
        `○ ${line(task.name, 32)}`,
        sizeClass,
        `about ${roughly(seconds)}`,
        line(because, 80),
      ]
    }),
  )
  return rows.length > 0 && [`   ${output.bold('Begun')}`, table(rows)]
}

function shareWords({ share, target, savedSeconds }: PlannedParallel): string {
  const saved =
    savedSeconds > 0 ? `; about ${roughly(savedSeconds)} less than one after the other` : ''
  return `${percent(share)} of the tasks beside another (aim ${percent(target)})${saved}`
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

export function describeReport(report: RunReport, output: Output): string {
  if (report.how === 'nothing to do')
    return `✅ ${output.bold('There was nothing to do')}: stint task list shows what there is`
  const { run, harness, models, how, startedAt, seconds, sessions, commits, parallel } = report
  // The usage of a harness that names no model is listed under the harness's own name.
  const who = programWords([...new Set([harness, ...models])])
  const tasks = sessions.flatMap((session) => session.tasks)
  const conversations = sessions.reduce((sum, session) => sum + session.conversations, 0)
  const several = conversations > sessions.length ? ` with ${conversations} conversations` : ''
  return joinLines(
    `${MARKS_OF_END[how] ?? '🏁'} ${output.bold(`Run ${shortId(run)}: ${countWords(report)}`)}`,
    `   ${capital(END_WORDS[how])}`,
    `   ${who}, ${minute(startedAt)}, ${span(seconds)}, ${plural(sessions.length, 'session')}${several}, ${plural(commits, 'commit')}`,
    tasks.length > 0 && ['', figures(report, output), '', `   Cost: ${costLine(report)}`],
    parallel && ['', atOnce(parallel, output)],
    // Of several at once each task has a conversation of its own, and there is nothing to compare.
    tasks.length > 1 && parallel === undefined && ['', compared(report.compared, output)],
    leftOver(report, tasks, output),
    whatNext(report, tasks),
  )
}

const MARKS_OF_END: Partial<Record<EndOfRun | 'running', string>> = {
  running: '🏃',
  finished: '✅',
}

const MARKS = { done: '✓', parked: '✗', blocked: '⊘', open: '○' } as const
const HEAD = ['', 'TIME', 'IN', 'CACHED', 'WRITTEN', 'OUT', 'COST', 'COMMIT', '']

/** One table for all of it, so that the columns of every session are aligned. */
function figures({ sessions, spend, seconds }: RunReport, output: Output): Lines {
  const rows = [
    ...sessions.flatMap((session, index) => [
      row(`Session ${index + 1} ${line(session.name, 20)}`, session),
      ...session.tasks.map(taskRow),
    ]),
    row('Whole run', { spend, seconds }),
  ]
  const [head = '', ...lines] = table([HEAD, ...rows], [1, 2, 3, 4, 5, 6])
  const shown = lines.map((text, index) =>
    rows[index]![0]!.startsWith('  ') ? text : output.bold(text),
  )
  return [output.dim(head), ...shown].map((text) => `   ${text}`)
}

function row(
  label: string,
  { spend, seconds }: { readonly spend: Spend; readonly seconds: number },
): readonly string[] {
  const { input, cacheRead, cacheWritten, output, usd } = spend
  return [
    label,
    span(seconds),
    ...[input, cacheRead, cacheWritten, output].map(tokens),
    usd === undefined ? '?' : cents(usd),
  ]
}

function taskRow(report: TaskReport): readonly string[] {
  const { task, outcome, attempts, commit, compactions } = report
  const label = `  ${MARKS[outcome]} ${line(task.name, 32)}`
  if (attempts === 0) return [label]
  const notes = [
    ...(attempts > 1 ? [`${attempts} tries`] : []),
    ...(compactions > 0 ? [`compacted${compactions > 1 ? ` ×${compactions}` : ''}`] : []),
  ]
  return [...row(label, report), commit === undefined ? '' : commitName(commit), notes.join(', ')]
}

function costLine({ spend, prices }: RunReport): string {
  const all = `${number(allTokens(spend))} tokens`
  return spend.usd === undefined
    ? `${line(prices)} (${all})`
    : `${cents(spend.usd)} for ${all}, by the ${line(prices)}`
}

/** Both sides of it, whichever way it comes out. */
function compared(
  { boilerplateAvoided, historyReread, savedUsd, profilesNotLoaded: profiles }: Comparison,
  output: Output,
): Lines {
  const rows = [
    [`− ${number(boilerplateAvoided)}`, 'tokens of set-up not said again'],
    [
      `+ ${number(historyReread)}`,
      'tokens of earlier tasks read again, most of them from the cache',
    ],
    // The index of profiles is paid for as well, and may be more than what was not loaded.
    ...(profiles < 0
      ? [[`+ ${number(-profiles)}`, 'tokens of the index of profiles, beyond what was not loaded']]
      : []),
    ...(profiles > 0 ? [[`− ${number(profiles)}`, 'tokens of profiles not loaded']] : []),
    [`= ${savedWords(savedUsd)}`, savedUsd === undefined ? 'because a price is unknown' : 'in all'],
  ]
  return [
    `   ${output.bold('Against one conversation per task')} (estimated from measured sizes)`,
    table(rows).map((text) => `   ${text}`),
  ]
}

function savedWords(usd: number | undefined): string {
  if (usd === undefined) return 'unknown'
  if (Math.abs(usd) < 0.005) return 'no difference'
  return `${cents(Math.abs(usd))} ${usd > 0 ? 'saved' : 'lost'}`
}

function atOnce({ most, share, target, savedSeconds }: ParallelReport, output: Output): Lines {
  const verdict = share >= target ? 'reached' : 'missed'
  const time = `${span(Math.abs(savedSeconds))} ${savedSeconds < 0 ? 'longer' : 'less'} than`
  return [
    `   ${output.bold('At once')}  up to ${most}; ${percent(share)} of the tasks beside another (aim ${percent(target)}, ${verdict})`,
    `            ${time} all of them one after the other, without merging`,
  ]
}

/** A long backlog would fill the screen. */
const MOST_NAMED = 20

function leftOver(
  { backlog, neverBegun }: RunReport,
  tasks: readonly TaskReport[],
  output: Output,
): Lines {
  const run = `stint run${backlog === undefined ? '' : ` --backlog ${shellWord(backlog)}`}`
  const open = tasks.filter(({ outcome }) => outcome === 'open')
  const named = neverBegun?.tasks.slice(0, MOST_NAMED) ?? []
  const more = (neverBegun?.count ?? 0) - named.length
  return [
    section(
      `   ${output.bold('Not done')}`,
      tasks
        .filter(({ outcome }) => outcome === 'parked' || outcome === 'blocked')
        .map(({ task, outcome, reason, attempts, kept }) => [
          `   ${MARKS[outcome]} ${name(task)}, ${outcome} after ${plural(attempts, 'attempt')}: ${line(reason ?? 'no reason was given')}`,
          kept !== undefined && `     what it left: git show ${shellWord(kept)}`,
          `     take it up: ${run} --task ${shellWord(task.name)}`,
        ]),
    ),
    section(
      `   ${output.bold('Still open')}`,
      open.map(
        ({ task, reason }) =>
          `   ○ ${name(task)}${reason === undefined ? '' : `: ${line(reason)}`}`,
      ),
      named.map((task) => `   ○ ${name(task)}, never begun`),
      more > 0 && `   … and ${more} more, never begun`,
    ),
  ]
}

const GOES_ON: ReadonlySet<RunReport['how']> = new Set([
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

function whatNext({ run, how, commits, branch }: RunReport, tasks: readonly TaskReport[]): Lines {
  // A task that was begun and is open may have left commits that nothing has proved.
  const isUnproved = tasks.some(({ outcome, attempts }) => outcome === 'open' && attempts > 0)
  const isMergeable = branch !== undefined && commits > 0 && how !== 'running' && !isUnproved
  const isResumable = GOES_ON.has(how)
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
    minute(startedAt),
    line(harness, 24),
    ...[done, failed, open].map(String),
    tokens(allTokens(spend)),
    cents(spend.usd),
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
