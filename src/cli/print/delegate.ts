// A delegate in words: the line that tells what became of it, the table of several, and everything about one.
import type { DelegateMove } from '../../core.ts'
import type { AttemptDetail, DelegateDetail, DelegateRow, DelegateStatus } from '../../library.ts'
import { shortId } from '../../public.ts'
import { facts, fileList, indent, line, plural, shellWord } from './terminal/text.ts'
import { cleanText, shorten } from '../../text/clean.ts'
import { minute } from '../../text/times.ts'
import { cents, span, tokens } from './terminal/amounts.ts'
import type { Output } from '../context/output.ts'
import { cutTo, widthOf } from './terminal/width.ts'
import { allTokens, commitName, costWords } from './run/words.ts'
import { table } from './terminal/table.ts'

const MARKS: Readonly<Record<DelegateStatus, string>> = {
  running: '▶',
  ready: '✓',
  merging: '⇢',
  merged: '✓',
  conflicted: '✗',
  failed: '✗',
  parked: '⊘',
  discarded: '○',
}

/** What was asked for went well, as far as it depends on the delegate. */
export function isGood({ status }: DelegateRow): boolean {
  return status === 'ready' || status === 'merged'
}

export function isAtWork({ status, isOrphaned }: DelegateRow): boolean {
  return (status === 'running' || status === 'merging') && !isOrphaned
}

/** `✓ fix-login ready: The loop is gone` */
export function rowLine(row: DelegateRow): string {
  const { status, isOrphaned, because, summary, waitsUntil } = row
  // What was said of earlier work says nothing of what goes on.
  const waits =
    waitsUntil === undefined ? undefined : `waits for a usage limit until ${minute(waitsUntil)}`
  const why = isAtWork(row) ? waits : isGood(row) ? (summary ?? because) : (because ?? summary)
  const gone = isOrphaned ? ', and nobody works on it any more' : ''
  return `${isOrphaned ? '⚠' : MARKS[status]} ${nameOf(row)} ${status}${gone}${why === undefined || line(why) === '' ? '' : `: ${line(why)}`}`
}

/** The line, and what to do about it. */
export function rowWithNext(row: DelegateRow): string {
  return [rowLine(row), ...(row.next === undefined ? [] : [`   ${line(row.next, 300)}`])].join('\n')
}

export function nameOf({ name }: DelegateRow): string {
  return line(name, 60)
}

/** It has begun: where it works, and how to follow it. */
export function describeStarted(row: DelegateRow, output: Output): string {
  const name = shellWord(row.name)
  const next = [
    [`stint delegate show ${name}`, 'how it stands'],
    [`stint delegate wait ${name}`, 'until it is done'],
    ...(row.isReadOnly
      ? []
      : [[`stint merge ${name}`, `when it is ready, into ${line(row.target, 60)}`]]),
  ]
  return [
    `🤝 ${output.bold(`Delegate Started: ${nameOf(row)}`)}`,
    ...facts([
      ['Order', line(row.what)],
      [
        'As',
        `${line(row.as ?? '', 40)}${row.isReadOnly ? (row.as === undefined ? 'it only reads' : ', it only reads') : ''}`,
      ],
      ['Agent', line(row.harness, 60)],
      ['Branch', line(row.branch)],
      ['Worktree', line(row.tree, 300)],
    ]),
    '',
    ...indent(table(next).join('\n')).split('\n'),
  ].join('\n')
}

export interface TableOptions {
  readonly now: string
  readonly tasks: ReadonlyMap<string, string>
  /** Columns of the terminal; as wide as it gets where there is none. */
  readonly width?: number
}

type Column =
  | 'NAME'
  | 'STATUS'
  | 'AS'
  | 'TASK'
  | 'GROUP'
  | 'AGE'
  | 'TIME'
  | 'TOKENS'
  | 'COST'
  | 'COMMITS'
  | 'WHAT'
  | 'NEXT'

/** From all there is to what is left where there is least room. What a person needs first is left out last. */
const COLUMNS: readonly (readonly Column[])[] = [
  [
    'NAME',
    'STATUS',
    'AS',
    'TASK',
    'GROUP',
    'AGE',
    'TIME',
    'TOKENS',
    'COST',
    'COMMITS',
    'WHAT',
    'NEXT',
  ],
  ['NAME', 'STATUS', 'AS', 'TASK', 'GROUP', 'AGE', 'TIME', 'TOKENS', 'COST', 'COMMITS', 'NEXT'],
  ['NAME', 'STATUS', 'TIME', 'TOKENS', 'COST', 'COMMITS', 'NEXT'],
  ['NAME', 'STATUS', 'TIME', 'TOKENS', 'COST', 'COMMITS'],
  ['NAME', 'STATUS', 'TIME', 'COST'],
  ['NAME', 'STATUS'],
]
const FIGURES: ReadonlySet<Column> = new Set(['AGE', 'TIME', 'TOKENS', 'COST', 'COMMITS'])

/** The table, its head first. Nothing of it is wider than there is room for. */
export function delegateTable(
  rows: readonly DelegateRow[],
  options: TableOptions,
): readonly string[] {
  const cells = rows.map((row) => cellsOf(row, options))
  // A column that nobody has anything in only takes room.
  const isUsed = (column: Column) => cells.some((row) => row[column] !== '')
  const { width } = options
  const choices = COLUMNS.map((columns) => {
    const shown = columns.filter(isUsed)
    const figures = new Set(shown.flatMap((column, index) => (FIGURES.has(column) ? [index] : [])))
    return table([shown, ...cells.map((row) => shown.map((column) => row[column]))], figures)
  })
  if (width === undefined) return choices[0]!
  const fitting = choices.find((lines) => lines.every((text) => widthOf(text) < width))
  return fitting ?? choices.at(-1)!.map((text) => cutTo(text, width - 1))
}

function cellsOf(row: DelegateRow, { now, tasks }: TableOptions): Readonly<Record<Column, string>> {
  const {
    status,
    isOrphaned,
    as,
    task,
    group,
    startedAt,
    seconds,
    spend,
    commits,
    what,
    next,
    waitsUntil,
  } = row
  return {
    NAME: line(row.name, 40),
    STATUS: `${status}${isOrphaned ? ', orphaned' : waitsUntil === undefined ? '' : `, limit until ${minute(waitsUntil)}`}`,
    AS: line(as ?? '', 16),
    TASK: task === undefined ? '' : line(tasks.get(task) ?? shortId(task), 32),
    GROUP: line(group ?? '', 24),
    AGE: span((Date.parse(now) - Date.parse(startedAt)) / 1000),
    TIME: span(seconds),
    TOKENS: tokens(allTokens(spend)),
    COST: spend.usd === undefined ? '?' : cents(spend.usd),
    COMMITS: String(commits),
    WHAT: line(what, 40),
    NEXT: line(next ?? '', 80),
  }
}

/** Merged and given up for longer than that is counted only. */
const RECENT_MS = 24 * 3600_000

export function isRecent({ status, since }: DelegateRow, now: string): boolean {
  const isSettled = status === 'merged' || status === 'discarded'
  return !isSettled || !(Date.parse(now) - Date.parse(since) > RECENT_MS)
}

/** The table as a result, with what it leaves out. */
export function describeDelegates(
  rows: readonly DelegateRow[],
  older: number,
  options: TableOptions,
  output: Output,
): string {
  const left =
    older === 0
      ? []
      : [`${older} merged or discarded more than a day ago: stint delegates --all shows them`]
  if (rows.length === 0)
    return ['No delegates: stint delegate "What is to be done" starts one.', ...left].join('\n')
  const [head = '', ...lines] = delegateTable(rows, options)
  return [output.dim(head), ...lines, ...(left.length === 0 ? [] : ['', ...left])].join('\n')
}

/** One of several, in a few lines. */
export function describeShort(
  row: DelegateRow,
  { now }: Pick<TableOptions, 'now'>,
  output: Output,
): string {
  const used = `${span(row.seconds)}, ${tokens(allTokens(row.spend))} tokens, ${costWords(row.spend)}, ${plural(row.commits, 'commit')}`
  return [
    output.bold(rowLine(row)),
    ...facts([
      ['Order', line(row.what)],
      ['Since', sinceWords(row.since, now)],
      ['Branch', `${line(row.branch)}, ${used}`],
      ['Next', line(row.next ?? '', 300)],
    ]),
  ].join('\n')
}

/** As many lines of an output, from its end, as tell what went wrong. */
const VERIFY_LINES = 20
const LONG_TEXT = 4000
/** A report is read whole; what no report is as long as is cut. */
const LONGEST_TEXT = 256 * 1024

/** Everything about one. */
export function describeDetail(
  detail: DelegateDetail,
  { now, tasks }: TableOptions,
  output: Output,
): string {
  const { order, move, base, commitList, stat, attempts, rejected, sessions } = detail
  const { output: wanted } = order
  const part = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ['', `   ${output.bold(title)}`, ...lines]
  return [
    output.bold(rowLine(detail)),
    ...facts([
      ['Since', sinceWords(detail.since, now)],
      ['Order', line(detail.what, 400)],
      [
        'As',
        `${line(detail.as ?? '', 40)}${detail.isReadOnly ? `${detail.as === undefined ? '' : ', '}it only reads` : ''}`,
      ],
      ['Task', detail.task === undefined ? '' : line(tasks.get(detail.task) ?? detail.task, 60)],
      ['Group', line(detail.group ?? '', 60)],
      [
        'Agent',
        [detail.harness, ...(detail.model === undefined ? [] : [detail.model])]
          .map((word) => line(word, 60))
          .join(', '),
      ],
      [
        'Branch',
        `${line(detail.branch)} (${plural(detail.commits, 'commit')} since ${commitName(base)})`,
      ],
      ['Target', detail.isReadOnly ? '' : line(detail.target)],
      ['Worktree', line(detail.tree, 300)],
      ['In no commit', detail.left?.map((path) => line(path, 80)).join(', ') ?? ''],
      ['Files', order.files.map((glob) => line(glob, 80)).join(', ')],
      ['Output', line(wanted ?? '')],
      ['For session', detail.parent === undefined ? '' : shortId(detail.parent)],
      [
        'Its sessions',
        sessions.map(({ id, name }) => `${line(name, 40)} (${shortId(id)})`).join(', '),
      ],
      ['Part of run', detail.run === undefined ? '' : shortId(detail.run)],
      [
        'Spent',
        `${tokens(allTokens(detail.spend))} tokens, ${costWords(detail.spend)}, ${span(detail.seconds)}`,
      ],
      [
        'Sent back',
        rejected === 0
          ? ''
          : `its work did not go into the target ${rejected === 1 ? 'once' : `${rejected} times`}`,
      ],
      ['Pull request', line(detail.pr ?? '', 300)],
      ['Report', detail.report === undefined ? '' : `.sessions/${line(detail.report, 300)}`],
      ['Log', line(detail.logPath, 300)],
    ]),
    ...detail.keptRefs.map((ref) => `   Kept: git show ${shellWord(ref)}`),
    ...part('Summary', paragraph(detail.summary)),
    ...part('Report', paragraph(detail.reportText)),
    ...part('What went wrong', troubles(move)),
    ...part(
      'Noted',
      detail.notes.map((note) => `   ${line(note, 400)}`),
    ),
    ...part('Attempts', attempts.map(attemptLine)),
    ...part(
      'Commits',
      commitList.map(({ commit, subject }) => `   ${commitName(commit)} ${line(subject, 100)}`),
    ),
    ...part('Changes', paragraph(stat)),
    ...(detail.next === undefined ? [] : ['', `   Next: ${line(detail.next, 300)}`]),
  ].join('\n')
}

function sinceWords(since: string, now: string): string {
  return `${minute(since)} (${span((Date.parse(now) - Date.parse(since)) / 1000)} ago)`
}

function paragraph(text: string | undefined): readonly string[] {
  const clean = cleanText((text ?? '').slice(0, LONGEST_TEXT)).trimEnd()
  return clean.trim() === '' ? [] : indent(clean).split('\n')
}

function attemptLine({ number, place, outcome, reason, seconds, commit }: AttemptDetail): string {
  const how = outcome === undefined ? 'goes on' : `${outcome} after ${span(seconds)}`
  return `   ${number}. ${line(place, 40)}, ${how}${commit === undefined ? '' : `, ${commitName(commit)}`}${reason === undefined ? '' : `: ${line(reason)}`}`
}

/** The conflict, or the verify command that was red, of its last step. */
function troubles(move: DelegateMove | undefined): readonly string[] {
  if (move === undefined || (move.files === undefined && move.verify === undefined)) return []
  const { target = 'the target', onto, files = [], verify } = move
  const where = `${line(target, 60)}${onto === undefined ? '' : ` at ${commitName(onto)}`}`
  return [
    ...(files.length === 0 ? [] : [`   Conflicts with ${where} in ${fileList(files)}`]),
    ...(verify === undefined ? [] : verifyLines(verify, where)),
  ]
}

function verifyLines(
  { command, exit, output }: NonNullable<DelegateMove['verify']>,
  where: string,
): readonly string[] {
  const lines = cleanText(output.slice(-LONG_TEXT)).trimEnd().split('\n').slice(-VERIFY_LINES)
  return [
    `   ${line(command, 100)} on ${where} ${exit === undefined ? 'did not end' : `ended with ${exit}`}`,
    ...lines.map((text) => (text.trim() === '' ? '' : `     ${shorten(text, 200)}`)),
  ]
}
