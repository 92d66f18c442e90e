// A delegate as text: its status line, the table of several, and the details.
import { shortId } from '../../public/projection.ts'
import type { DelegateDetail, DelegateRow, DelegateStatus } from '../../library.ts'
import type { DelegateStatusChange } from '../../core.ts'
import { cleanText, shorten } from '../../text/clean.ts'
import { formatToMinute } from '../../text/times.ts'
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

const STATUS_SYMBOLS: Readonly<Record<DelegateStatus, string>> = {
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
  const waitText =
    waitsUntil === undefined
      ? undefined
      : `waits for a usage limit until ${formatToMinute(waitsUntil)}`
  const summaryOrReason = isSuccessful(row) ? (summary ?? reason) : (reason ?? summary)
  // The reason of its last step says nothing about the current work.
  const reasonText = isActive(row) ? waitText : summaryOrReason
  const orphanedText = isOrphaned ? ', and nobody works on it any more' : ''
  return `${isOrphaned ? '⚠' : STATUS_SYMBOLS[status]} ${delegateLabel(row)} ${status}${orphanedText}${reasonSuffix(reasonText)}`
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
      ['As', roleText(row)],
      ['Agent', shortLine(row.harness, 60)],
      ['Branch', shortLine(row.branch)],
      ['Worktree', shortLine(row.tree, 300)],
    ]),
    '',
    table(next).map((text) => `   ${text}`),
  )
}

function roleText({ as, isReadOnly }: DelegateRow) {
  const parts = [as === undefined ? '' : shortLine(as, 40), isReadOnly ? 'it only reads' : '']
  return parts.filter((part) => part !== '').join(', ')
}

export interface TableOptions {
  readonly now: string
  readonly tasks: ReadonlyMap<string, string>
  /** Columns of the terminal; unlimited when absent. */
  readonly width?: number
}

/** From all columns to the fewest, by the width of the terminal. */
const COLUMNS = [
  'NAME STATUS AS TASK GROUP AGE TIME TOKENS COST COMMITS WHAT NEXT',
  'NAME STATUS AS TASK GROUP AGE TIME TOKENS COST COMMITS NEXT',
  'NAME STATUS TIME TOKENS COST COMMITS NEXT',
  'NAME STATUS TIME TOKENS COST COMMITS',
  'NAME STATUS TIME COST',
  'NAME STATUS',
].map((columns) => columns.split(' '))
const NUMERIC_COLUMNS: ReadonlySet<string> = new Set(['AGE', 'TIME', 'TOKENS', 'COST', 'COMMITS'])

/** The table, header first. No line is wider than the terminal. */
export function delegateTable(
  rows: readonly DelegateRow[],
  { now, tasks, width }: TableOptions,
): readonly string[] {
  const cells = rows.map((row): Readonly<Record<string, string>> => {
    const waitText =
      row.waitsUntil === undefined ? '' : `, limit until ${formatToMinute(row.waitsUntil)}`
    return {
      NAME: shortLine(row.name, 40),
      STATUS: `${row.status}${row.isOrphaned ? ', orphaned' : waitText}`,
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
    const shown = columns.filter((column) => cells.some((row) => row[column] !== ''))
    const numericColumns = shown.flatMap((column, index) =>
      NUMERIC_COLUMNS.has(column) ? [index] : [],
    )
    return table(
      [shown, ...cells.map((row) => shown.map((column) => row[column]!))],
      numericColumns,
    )
  })
  if (width === undefined) return choices[0]!
  const widest = choices.find((lines) => lines.every((text) => displayWidth(text) < width))
  return widest ?? choices.at(-1)!.map((text) => truncate(text, width - 1))
}

const RECENT_SECONDS = 24 * 3600

export function isRecent({ status, since }: DelegateRow, now: string): boolean {
  const isFinished = status === 'merged' || status === 'discarded'
  return !isFinished || !(secondsBetween(since, now) > RECENT_SECONDS)
}

export function describeDelegates(
  rows: readonly DelegateRow[],
  older: number,
  options: TableOptions,
  output: Output,
): string {
  const olderText =
    older > 0 &&
    `${older} merged or discarded more than a day ago: stint delegates --all shows them`
  if (rows.length === 0)
    return joinLines('No delegates: stint delegate "What is to be done" starts one.', olderText)
  const [head = '', ...lines] = delegateTable(rows, options)
  return joinLines(output.dim(head), lines, olderText !== false && ['', olderText])
}

export function describeDelegateBriefly(
  row: DelegateRow,
  { now }: Pick<TableOptions, 'now'>,
  output: Output,
): string {
  const usageText = `${durationText(row.seconds)}, ${shortTokens(allTokens(row.spend))} tokens, ${costText(row.spend)}, ${plural(row.commits, 'commit')}`
  return joinLines(
    output.bold(delegateStatusLine(row)),
    labelledLines([
      ['Order', shortLine(row.what)],
      ['Since', sinceText(row.since, now)],
      ['Branch', `${shortLine(row.branch)}, ${usageText}`],
      ['Next', shortLine(row.next ?? '', 300)],
    ]),
  )
}

/** The last lines of an output usually show the error. */
const MAX_VERIFY_LINES = 20
const MAX_VERIFY_OUTPUT = 4000
const MAX_PARAGRAPH = 256 * 1024

export function describeDelegate(
  detail: DelegateDetail,
  { now, tasks }: TableOptions,
  output: Output,
): string {
  const { order, rejected, task } = detail
  const detailSection = (title: string, lines: Lines) =>
    titledSection(`   ${output.bold(title)}`, lines)
  const shortIdOrEmpty = (id: string | undefined) => (id === undefined ? '' : shortId(id))
  const shortPaths = (paths: readonly string[] = []) =>
    paths.map((path) => shortLine(path, 80)).join(', ')
  return joinLines(
    output.bold(delegateStatusLine(detail)),
    labelledLines([
      ['Since', sinceText(detail.since, now)],
      ['Order', shortLine(detail.what, 400)],
      ['As', roleText(detail)],
      ['Task', task === undefined ? '' : shortLine(tasks.get(task) ?? task, 60)],
      ['Group', shortLine(detail.group ?? '', 60)],
      ['Agent', programText([detail.harness, detail.model])],
      [
        'Branch',
        `${shortLine(detail.branch)} (${plural(detail.commits, 'commit')} since ${commitPrefix(detail.base)})`,
      ],
      ['Target', detail.isReadOnly ? '' : shortLine(detail.target)],
      ['Worktree', shortLine(detail.tree, 300)],
      ['In no commit', shortPaths(detail.left)],
      ['Files', shortPaths(order.files)],
      ['Output', shortLine(order.output ?? '')],
      ['For session', shortIdOrEmpty(detail.parent)],
      [
        'Its sessions',
        detail.sessions.map(({ id, name }) => `${shortLine(name, 40)} (${shortId(id)})`).join(', '),
      ],
      ['Part of run', shortIdOrEmpty(detail.run)],
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
    detailSection('Summary', paragraph(detail.summary)),
    detailSection('Report', paragraph(detail.reportText)),
    detailSection('What went wrong', failureLines(detail.move)),
    detailSection(
      'Noted',
      detail.notes.map((note) => `   ${shortLine(note, 400)}`),
    ),
    detailSection(
      'Attempts',
      detail.attempts.map(({ number, place, outcome, reason, seconds, commit }) => {
        const outcomeText =
          outcome === undefined ? 'goes on' : `${outcome} after ${durationText(seconds)}`
        const commitText = commit === undefined ? '' : `, ${commitPrefix(commit)}`
        const reasonText = reason === undefined ? '' : `: ${shortLine(reason)}`
        return `   ${number}. ${shortLine(place, 40)}, ${outcomeText}${commitText}${reasonText}`
      }),
    ),
    detailSection(
      'Commits',
      detail.commitList.map(
        ({ commit, subject }) => `   ${commitPrefix(commit)} ${shortLine(subject, 100)}`,
      ),
    ),
    detailSection('Changes', paragraph(detail.stat)),
    detail.next !== undefined && ['', `   Next: ${shortLine(detail.next, 300)}`],
  )
}

function sinceText(since: string, now: string) {
  return `${formatToMinute(since)} (${durationText(secondsBetween(since, now))} ago)`
}

function paragraph(text = '') {
  const clean = cleanText(text.slice(0, MAX_PARAGRAPH)).trimEnd()
  return clean.trim() !== '' && indent(clean)
}

function failureLines(move: DelegateStatusChange | undefined) {
  const { target = 'the target', onto, files = [], verify } = move ?? {}
  const targetText = `${shortLine(target, 60)}${onto === undefined ? '' : ` at ${commitPrefix(onto)}`}`
  return [
    files.length > 0 && `   Conflicts with ${targetText} in ${fileList(files)}`,
    verify && [
      `   ${shortLine(verify.command, 100)} on ${targetText} ${verify.exit === undefined ? 'did not end' : `ended with ${verify.exit}`}`,
      cleanText(verify.output.slice(-MAX_VERIFY_OUTPUT))
        .trimEnd()
        .split('\n')
        .slice(-MAX_VERIFY_LINES)
        .map((text) => (text.trim() === '' ? '' : `     ${shorten(text, 200)}`)),
    ],
  ]
}
