import type {
  Comparison,
  EndOfRun,
  NeverBegun,
  ParallelReport,
  RunReport,
  RunRow,
  SessionReport,
  Spend,
  TaskReport,
} from '../../../library.ts'
import { shortId } from '../../../public.ts'
import { number } from '../../../text/amounts.ts'
import { capital, indent, line, plural, shellWord } from '../terminal/text.ts'
import { minute } from '../../../text/times.ts'
import { cents, span, tokens } from '../terminal/amounts.ts'
import type { Output } from '../../context/output.ts'
import { END_WORDS, allTokens, commitName, countWords, name } from './words.ts'
import { table, tableWithHead } from '../terminal/table.ts'

/** A run is over, or well under way: what each task, session and the whole took, and what to do next. */
export function describeReport(report: RunReport, output: Output): string {
  // Nothing was begun, so there is nothing to tell of it.
  if (report.how === 'nothing to do')
    return `✅ ${output.bold('There was nothing to do')}: stint task list shows what there is`
  const { run, harness, models, how, startedAt, seconds, sessions, commits, branch, prices } =
    report
  // What a harness used without naming a model stands under its own name.
  const who = [...new Set([harness, ...models])].map((part) => line(part, 60)).join(', ')
  const tasks = sessions.flatMap((session) => session.tasks)
  const conversations = sessions.reduce((sum, session) => sum + session.conversations, 0)
  const several = conversations > sessions.length ? ` with ${conversations} conversations` : ''
  return [
    `${MARKS_OF_END[how] ?? '🏁'} ${output.bold(`Run ${shortId(run)}: ${countWords(report)}`)}`,
    `   ${capital(END_WORDS[how])}`,
    `   ${who}, ${minute(startedAt)}, ${span(seconds)}, ${plural(sessions.length, 'session')}${several}, ${plural(commits, 'commit')}`,
    ...(tasks.length === 0 ? [] : ['', ...figures(report, output)]),
    ...(tasks.length === 0 ? [] : ['', `   Cost: ${costLine(report.spend, prices)}`]),
    ...(report.parallel === undefined ? [] : ['', ...atOnce(report.parallel, output)]),
    // Of several at once each task has a conversation of its own, and there is nothing to compare.
    ...(tasks.length < 2 || report.parallel !== undefined
      ? []
      : ['', ...compared(report.compared, output)]),
    ...leftOver(tasks, report, output),
    ...whatNext(report, branch, tasks),
  ].join('\n')
}

const MARKS_OF_END: Partial<Record<EndOfRun | 'running', string>> = {
  running: '🏃',
  finished: '✅',
}

const MARKS = { done: '✓', parked: '✗', blocked: '⊘', open: '○' } as const
const HEAD = ['', 'TIME', 'IN', 'CACHED', 'WRITTEN', 'OUT', 'COST', 'COMMIT', '']
const FIGURES = new Set([1, 2, 3, 4, 5, 6])

/** One table for all of it, so that the columns of every session stand below each other. */
function figures({ sessions, spend, seconds }: RunReport, output: Output): readonly string[] {
  const rows = sessions.flatMap((session, index) => [
    sessionRow(session, index),
    ...session.tasks.map(taskRow),
  ])
  const all = ['Whole run', span(seconds), ...amounts(spend), '']
  const [head = '', ...lines] = table([HEAD, ...rows, all], FIGURES)
  const isSession = (index: number) => rows[index] === undefined || !/^ {2}/.test(rows[index][0]!)
  return indent(
    [
      output.dim(head),
      ...lines.map((text, index) => (isSession(index) ? output.bold(text) : text)),
    ].join('\n'),
  ).split('\n')
}

function sessionRow(
  { name: called, spend, seconds }: SessionReport,
  index: number,
): readonly string[] {
  return [`Session ${index + 1} ${line(called, 20)}`, span(seconds), ...amounts(spend), '']
}

function taskRow({
  task,
  outcome,
  attempts,
  spend,
  seconds,
  commit,
  compactions,
}: TaskReport): readonly string[] {
  const notes = [
    ...(attempts > 1 ? [`${attempts} tries`] : []),
    ...(compactions > 0 ? [`compacted${compactions > 1 ? ` ×${compactions}` : ''}`] : []),
  ]
  const label = `  ${MARKS[outcome]} ${line(task.name, 32)}`
  if (attempts === 0) return [label]
  return [
    label,
    span(seconds),
    ...amounts(spend),
    commit === undefined ? '' : commitName(commit),
    notes.join(', '),
  ]
}

function amounts({ input, cacheRead, cacheWritten, output, usd }: Spend): readonly string[] {
  return [
    tokens(input),
    tokens(cacheRead),
    tokens(cacheWritten),
    tokens(output),
    usd === undefined ? '?' : cents(usd),
  ]
}

function costLine(spend: Spend, prices: string): string {
  const all = `${number(allTokens(spend))} tokens`
  return spend.usd === undefined
    ? `${line(prices)} (${all})`
    : `${cents(spend.usd)} for ${all}, by the ${line(prices)}`
}

/** Both sides of it, whichever way it comes out. */
function compared(
  { boilerplateAvoided, historyReread, savedUsd, profilesNotLoaded }: Comparison,
  output: Output,
): readonly string[] {
  const row = (sign: '−' | '+', tokens: number, what: string) => [
    `   ${sign} ${number(tokens)}`,
    what,
  ]
  const profiles =
    profilesNotLoaded < 0
      ? // The index of profiles is paid for as well, and may be more than what was not loaded.
        [
          row(
            '+',
            -profilesNotLoaded,
            'tokens of the index of profiles, beyond what was not loaded',
          ),
        ]
      : [row('−', profilesNotLoaded, 'tokens of profiles not loaded')]
  const rows = [
    row('−', boilerplateAvoided, 'tokens of set-up not said again'),
    row('+', historyReread, 'tokens of earlier tasks read again, most of them from the cache'),
    ...(profilesNotLoaded === 0 ? [] : profiles),
    [
      `   = ${savedWords(savedUsd)}`,
      savedUsd === undefined ? 'because a price is unknown' : 'in all',
    ],
  ]
  return [
    `   ${output.bold('Against one conversation per task')} (estimated from measured sizes)`,
    ...table(rows),
  ]
}

/** How much went on side by side, whichever way it comes out. */
function atOnce(
  { most, share, target, savedSeconds }: ParallelReport,
  output: Output,
): readonly string[] {
  const percent = (of: number) => `${Math.round(of * 100)} %`
  const verdict = share >= target ? 'reached' : 'missed'
  const time =
    savedSeconds < 0 ? `${span(-savedSeconds)} longer than` : `${span(savedSeconds)} less than`
  return [
    `   ${output.bold('At once')}  up to ${most}; ${percent(share)} of the tasks beside another (aim ${percent(target)}, ${verdict})`,
    `   ${' '.repeat('At once'.length)}  ${time} all of them one after the other, without merging`,
  ]
}

function savedWords(usd: number | undefined): string {
  if (usd === undefined) return 'unknown'
  if (Math.abs(usd) < 0.005) return 'no difference'
  return `${cents(Math.abs(usd))} ${usd > 0 ? 'saved' : 'lost'}`
}

/** What is not done, why, and how to take it up. */
function leftOver(
  tasks: readonly TaskReport[],
  { backlog, neverBegun }: Pick<RunReport, 'backlog' | 'neverBegun'>,
  output: Output,
): readonly string[] {
  const left = tasks.filter((task) => task.outcome === 'parked' || task.outcome === 'blocked')
  const open = tasks.filter((task) => task.outcome === 'open')
  const run = `stint run${backlog === undefined ? '' : ` --backlog ${shellWord(backlog)}`}`
  return [
    ...(left.length === 0 ? [] : ['', `   ${output.bold('Not done')}`]),
    ...left.flatMap(({ task, outcome, reason, attempts, kept }) => [
      `   ${MARKS[outcome]} ${name(task)}, ${outcome} after ${plural(attempts, 'attempt')}: ${line(reason ?? 'no reason was given')}`,
      ...(kept === undefined ? [] : [`     what it left: git show ${shellWord(kept)}`]),
      `     take it up: ${run} --task ${shellWord(task.name)}`,
    ]),
    ...(open.length === 0 && neverBegun === undefined
      ? []
      : ['', `   ${output.bold('Still open')}`]),
    ...open.map(
      ({ task, reason }) => `   ○ ${name(task)}${reason === undefined ? '' : `: ${line(reason)}`}`,
    ),
    ...neverBegunLines(neverBegun),
  ]
}

/** A long backlog would fill the screen. */
const MOST_NAMED = 20

function neverBegunLines(left: NeverBegun | undefined): readonly string[] {
  if (left === undefined) return []
  const named = left.tasks.slice(0, MOST_NAMED)
  const more = left.count - named.length
  return [
    ...named.map((task) => `   ○ ${name(task)}, never begun`),
    ...(more === 0 ? [] : [`   … and ${more} more, never begun`]),
  ]
}

/** Ends that leave something which the same run can go on with. */
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

function whatNext(
  { run, how, commits }: RunReport,
  branch: string | undefined,
  tasks: readonly TaskReport[],
): readonly string[] {
  // What was begun and is open may have left commits that nothing has proved.
  const isUnproved = tasks.some(({ outcome, attempts }) => outcome === 'open' && attempts > 0)
  const isMergeable = branch !== undefined && commits > 0 && how !== 'running' && !isUnproved
  const lines = [
    ...(isMergeable ? [`   Merge it: git merge ${shellWord(branch)}`] : []),
    ...(GOES_ON.has(how) ? [`   Go on:    stint run --resume ${shortId(run)}`] : []),
  ]
  return lines.length === 0 ? [] : ['', ...lines]
}

/** The runs there were, a line each. */
export function describeRuns(rows: readonly RunRow[], output: Output): string {
  if (rows.length === 0) return 'No runs: stint run starts one, stint plan says what it would do.'
  const body = rows.map(({ id, startedAt, harness, done, failed, open, spend, state, how }) => [
    shortId(id),
    minute(startedAt),
    line(harness, 24),
    String(done),
    String(failed),
    String(open),
    tokens(allTokens(spend)),
    cents(spend.usd),
    how === 'running' || how === 'finished' ? state : `${state}, ${how}`,
  ])
  const head = ['RUN', 'STARTED', 'HARNESS', 'DONE', 'FAILED', 'OPEN', 'TOKENS', 'COST', 'STATE']
  const resumable = rows.find((row) => row.state === 'resumable')
  return [
    ...tableWithHead(head, body, output, new Set([3, 4, 5, 6, 7])),
    ...(resumable === undefined
      ? []
      : ['', `Go on with the last that can be: stint run --resume ${shortId(resumable.id)}`]),
  ].join('\n')
}
