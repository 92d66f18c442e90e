// A delegate in words: one line, the table of several, and everything about one.
import { shortId } from '../../public.ts'
import type { DelegateDetail, DelegateRow, DelegateStatus } from '../../library.ts'
import type { DelegateMove } from '../../core.ts'
import { cleanText, shorten } from '../../text/clean.ts'
import { minute } from '../../text/times.ts'
import type { Output } from '../context/context.ts'
import { allTokens, costText, programText } from './run/event-text.ts'
import { truncate, table, displayWidth } from './terminal/layout.ts'
import {
  type Lines,
  reasonSuffix,
  dollarsAndCents,
  commitPrefix,
  labelledLines,
  fileList,
  indent,
  joinLines,
  shortLine,
  plural,
  secondsBetween,
  titledSection,
  shellWord,
  durationText,
  shortTokens,
} from './terminal/text.ts'

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

export function isSuccessful({ status }: DelegateRow): boolean {
  return status === 'ready' || status === 'merged'
}

export function isActive({ status, isOrphaned }: DelegateRow): boolean {
  return (status === 'running' || status === 'merging') && !isOrphaned
}

/** `✓ fix-login ready: The loop is gone` */
export function delegateStatusLine(row: DelegateRow): string {
  const { status, isOrphaned, because: reason, summary, waitsUntil } = row
  const waits =
    waitsUntil === undefined ? undefined : `waits for a usage limit until ${minute(waitsUntil)}`
  const told = isSuccessful(row) ? (summary ?? reason) : (reason ?? summary)
  // The reason for its last step says nothing about the work that is going on.
  const why = isActive(row) ? waits : told
  const gone = isOrphaned ? ', and nobody works on it any more' : ''
  return `${isOrphaned ? '⚠' : MARKS[status]} ${delegateLabel(row)} ${status}${gone}${reasonSuffix(why)}`
}

export function delegateStatusWithNext(row: DelegateRow): string {
  return joinLines(
    delegateStatusLine(row),
    row.next !== undefined && `   ${shortLine(row.next, 300)}`,
  )
}

export function delegateLabel({ name }: DelegateRow): string {
  return shortLine(name, 60)
}

export function describeStarted(row: DelegateRow, output: Output): string {
  const name = shellWord(row.name)
  const merge = [`stint merge ${name}`, `when it is ready, into ${shortLine(row.target, 60)}`]
  const next = [
    [`stint delegate show ${name}`, 'how it stands'],
    [`stint delegate wait ${name}`, 'until it is done'],
    ...(row.isReadOnly ? [] : [merge]),
  ]
  return joinLines(
    `🤝 ${output.bold(`Delegate Started: ${delegateLabel(row)}`)}`,
    labelledLines([
      ['Order', shortLine(row.what)],
      ['As', asWords(row)],
      ['Agent', shortLine(row.harness, 60)],
      ['Branch', shortLine(row.branch)],
      ['Worktree', shortLine(row.tree, 300)],
    ]),
    '',
    table(next).map((text) => `   ${text}`),
  )
}

function asWords({ as, isReadOnly }: DelegateRow) {
  const parts = [as === undefined ? '' : shortLine(as, 40), isReadOnly ? 'it only reads' : '']
  return parts.filter((part) => part !== '').join(', ')
}

export interface TableOptions {
  readonly now: string
  readonly tasks: ReadonlyMap<string, string>
  /** Columns of the terminal; as wide as it gets where there is none. */
  readonly width?: number
}

/** From all columns to those left where there is least room. */
const COLUMNS = [
  'NAME STATUS AS TASK GROUP AGE TIME TOKENS COST COMMITS WHAT NEXT',
  'NAME STATUS AS TASK GROUP AGE TIME TOKENS COST COMMITS NEXT',
  'NAME STATUS TIME TOKENS COST COMMITS NEXT',
  'NAME STATUS TIME TOKENS COST COMMITS',
  'NAME STATUS TIME COST',
  'NAME STATUS',
].map((columns) => columns.split(' '))
const FIGURES: ReadonlySet<string> = new Set(['AGE', 'TIME', 'TOKENS', 'COST', 'COMMITS'])

/** The table, its head first. No line is wider than there is room for. */
export function delegateTable(
  rows: readonly DelegateRow[],
  { now, tasks, width }: TableOptions,
): readonly string[] {
  const cells = rows.map((row): Readonly<Record<string, string>> => {
    const waits = row.waitsUntil === undefined ? '' : `, limit until ${minute(row.waitsUntil)}`
    return {
      NAME: shortLine(row.name, 40),
      STATUS: `${row.status}${row.isOrphaned ? ', orphaned' : waits}`,
      AS: shortLine(row.as ?? '', 16),
      TASK: row.task === undefined ? '' : shortLine(tasks.get(row.task) ?? shortId(row.task), 32),
      GROUP: shortLine(row.group ?? '', 24),
      AGE: durationText(secondsBetween(row.startedAt, now)),
      TIME: durationText(row.seconds),
      TOKENS: shortTokens(allTokens(row.spend)),
      COST: row.spend.usd === undefined ? '?' : dollarsAndCents(row.spend.usd),
      COMMITS: String(row.commits),
      WHAT: shortLine(row.what, 40),
      NEXT: shortLine(row.next ?? '', 80),
    }
  })
  const choices = COLUMNS.map((columns) => {
    // An empty column only takes room.
    const shown = columns.filter((column) => cells.some((row) => row[column] !== ''))
    const figures = shown.flatMap((column, index) => (FIGURES.has(column) ? [index] : []))
    return table([shown, ...cells.map((row) => shown.map((column) => row[column]!))], figures)
  })
  if (width === undefined) return choices[0]!
  const fitting = choices.find((lines) => lines.every((text) => displayWidth(text) < width))
  return fitting ?? choices.at(-1)!.map((text) => truncate(text, width - 1))
}

const RECENT_SECONDS = 24 * 3600

export function isRecent({ status, since }: DelegateRow, now: string): boolean {
  const isSettled = status === 'merged' || status === 'discarded'
  return !isSettled || !(secondsBetween(since, now) > RECENT_SECONDS)
}

export function describeDelegates(
  rows: readonly DelegateRow[],
  older: number,
  options: TableOptions,
  output: Output,
): string {
  const left =
    older > 0 &&
    `${older} merged or discarded more than a day ago: stint delegates --all shows them`
  if (rows.length === 0)
    return joinLines('No delegates: stint delegate "What is to be done" starts one.', left)
  const [head = '', ...lines] = delegateTable(rows, options)
  return joinLines(output.dim(head), lines, left !== false && ['', left])
}

export function describeDelegateBriefly(
  row: DelegateRow,
  { now }: Pick<TableOptions, 'now'>,
  output: Output,
): string {
  const used = `${durationText(row.seconds)}, ${shortTokens(allTokens(row.spend))} tokens, ${costText(row.spend)}, ${plural(row.commits, 'commit')}`
  return joinLines(
    output.bold(delegateStatusLine(row)),
    labelledLines([
      ['Order', shortLine(row.what)],
      ['Since', sinceWords(row.since, now)],
      ['Branch', `${shortLine(row.branch)}, ${used}`],
      ['Next', shortLine(row.next ?? '', 300)],
    ]),
  )
}

/** As many lines of an output, from its end, as show what went wrong. */
const VERIFY_LINES = 20
const LONG_TEXT = 4000
const LONGEST_TEXT = 256 * 1024

export function describeDelegate(
  detail: DelegateDetail,
  { now, tasks }: TableOptions,
  output: Output,
): string {
  const { order, rejected, task } = detail
  const part = (title: string, lines: Lines) => titledSection(`   ${output.bold(title)}`, lines)
  const optional = (id: string | undefined) => (id === undefined ? '' : shortId(id))
  const short = (paths: readonly string[] = []) =>
    paths.map((path) => shortLine(path, 80)).join(', ')
  return joinLines(
    output.bold(delegateStatusLine(detail)),
    labelledLines([
      ['Since', sinceWords(detail.since, now)],
      ['Order', shortLine(detail.what, 400)],
      ['As', asWords(detail)],
      ['Task', task === undefined ? '' : shortLine(tasks.get(task) ?? task, 60)],
      ['Group', shortLine(detail.group ?? '', 60)],
      ['Agent', programText([detail.harness, detail.model])],
      [
        'Branch',
        `${shortLine(detail.branch)} (${plural(detail.commits, 'commit')} since ${commitPrefix(detail.base)})`,
      ],
      ['Target', detail.isReadOnly ? '' : shortLine(detail.target)],
      ['Worktree', shortLine(detail.tree, 300)],
      ['In no commit', short(detail.left)],
      ['Files', short(order.files)],
      ['Output', shortLine(order.output ?? '')],
      ['For session', optional(detail.parent)],
      [
        'Its sessions',
        detail.sessions.map(({ id, name }) => `${shortLine(name, 40)} (${shortId(id)})`).join(', '),
      ],
      ['Part of run', optional(detail.run)],
      [
        'Spent',
        `${shortTokens(allTokens(detail.spend))} tokens, ${costText(detail.spend)}, ${durationText(detail.seconds)}`,
      ],
      [
        'Sent back',
        rejected === 0
          ? ''
          : `its work did not go into the target ${rejected === 1 ? 'once' : `${rejected} times`}`,
      ],
      ['Pull request', shortLine(detail.pr ?? '', 300)],
      ['Report', detail.report === undefined ? '' : `.sessions/${shortLine(detail.report, 300)}`],
      ['Log', shortLine(detail.logPath, 300)],
    ]),
    detail.keptRefs.map((ref) => `   Kept: git show ${shellWord(ref)}`),
    part('Summary', paragraph(detail.summary)),
    part('Report', paragraph(detail.reportText)),
    part('What went wrong', troubles(detail.move)),
    part(
      'Noted',
      detail.notes.map((note) => `   ${shortLine(note, 400)}`),
    ),
    part(
      'Attempts',
      detail.attempts.map(({ number, place, outcome, reason, seconds, commit }) => {
        const how = outcome === undefined ? 'goes on' : `${outcome} after ${durationText(seconds)}`
        const at = commit === undefined ? '' : `, ${commitPrefix(commit)}`
        const why = reason === undefined ? '' : `: ${shortLine(reason)}`
        return `   ${number}. ${shortLine(place, 40)}, ${how}${at}${why}`
      }),
    ),
    part(
      'Commits',
      detail.commitList.map(
        ({ commit, subject }) => `   ${commitPrefix(commit)} ${shortLine(subject, 100)}`,
      ),
    ),
    part('Changes', paragraph(detail.stat)),
    detail.next !== undefined && ['', `   Next: ${shortLine(detail.next, 300)}`],
  )
}

function sinceWords(since: string, now: string) {
  return `${minute(since)} (${durationText(secondsBetween(since, now))} ago)`
}

function paragraph(text = '') {
  const clean = cleanText(text.slice(0, LONGEST_TEXT)).trimEnd()
  return clean.trim() !== '' && indent(clean)
}

function troubles(move: DelegateMove | undefined) {
  const { target = 'the target', onto, files = [], verify } = move ?? {}
  const where = `${shortLine(target, 60)}${onto === undefined ? '' : ` at ${commitPrefix(onto)}`}`
  return [
    files.length > 0 && `   Conflicts with ${where} in ${fileList(files)}`,
    verify && [
      `   ${shortLine(verify.command, 100)} on ${where} ${verify.exit === undefined ? 'did not end' : `ended with ${verify.exit}`}`,
      cleanText(verify.output.slice(-LONG_TEXT))
        .trimEnd()
        .split('\n')
        .slice(-VERIFY_LINES)
        .map((text) => (text.trim() === '' ? '' : `     ${shorten(text, 200)}`)),
    ],
  ]
}
