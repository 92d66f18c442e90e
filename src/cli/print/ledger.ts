import { formatInteger } from '../../text/format-amounts.ts'
import type { Ledger, LedgerDay, LedgerRow, Maintenance, SavingName } from '../../library.ts'
import { formatToMinute } from '../../text/times.ts'
import type { Output } from '../context/context.ts'
import { table, tableWithHead } from './terminal/layout.ts'
import {
  capitalize,
  joinLines,
  shortLine,
  plural,
  byteSize,
  durationText,
  shortTokens,
} from './terminal/text.ts'

const MAX_ROWS = 20

interface LedgerView {
  readonly by?: 'session' | 'task' | 'run' | 'day'
  readonly since?: string
}

export function describeLedger(
  { whole: total, rows, days }: Ledger,
  { by, since }: LedgerView,
  output: Output,
): string {
  const sinceText = since === undefined ? '' : ` since ${since.slice(0, 10)}`
  if (total.kind === 'project' && days.length === 0) {
    return since === undefined
      ? 'Nothing is recorded here yet, so nothing was spent or saved: stint init --name NAME --goal TEXT starts a session.'
      : `Nothing was recorded${sinceText}: without --since it is all there is.`
  }
  const kind = total.kind === 'project' ? '' : `${total.kind} `
  return joinLines(
    `📒 ${output.bold(`Ledger of ${kind}${shortLine(total.name, 60)}`)}${sinceText}`,
    '',
    costLines(total),
    '',
    savingLines(total, output),
    by === 'day' ? daysTable(days, sinceText, output) : rowsTable(rows, by, sinceText, output),
  )
}

function costLines({ costs }: LedgerRow) {
  const { injectedTokens, injections, hooks, hookMs, writes, bytes } = costs
  const perHook = hooks === 0 ? '' : `, ${Math.round(hookMs / hooks)} ms each`
  return table([
    [
      'Given to models',
      `${formatInteger(injectedTokens)} tokens e`,
      `in ${plural(injections, 'text')}`,
    ],
    ['Model calls', 'none', 'what is asked of a model is asked by people and runs'],
    ['Hooks', formatInteger(hooks), `${durationOfMs(hookMs)} inside their processes${perHook}`],
    ['Writes', formatInteger(writes), 'by hooks; of commands the entries alone'],
    ['On disk', byteSize(bytes), ''],
  ]).map((text) => `  ${text}`)
}

const SAVING_TEXTS: Readonly<Record<SavingName, string>> = {
  batching: 'set-ups not said again, less what was read again for it',
  toon: 'tables told as TOON and not as JSON',
  digest: 'output of commands kept and not printed',
  pointers: 'documents named and not told whole, but for TOON',
  profiles: 'profiles indexed and not loaded',
  resuming: 'read less than by the first conversation, less what the others count',
}

function savingLines(row: LedgerRow, output: Output) {
  if (row.savings.length === 0) return 'Nothing was saved that can be counted.'
  const rows = row.savings.map(({ name, tokens: saved, known, times }) => [
    capitalize(name),
    signedTokens(saved),
    known === 'estimated' ? 'e' : '',
    `×${formatInteger(times)}`,
    SAVING_TEXTS[name],
  ])
  const net = totalSaved(row) - row.costs.injectedTokens
  const verdict = net < 0 ? 'more were given than saved' : 'more were saved than given'
  return [
    table(rows, [1, 3]).map((text) => `  ${text}`),
    '',
    `${output.bold('Net')}: ${formatInteger(Math.abs(net))} tokens ${verdict} (e estimated).`,
  ]
}

function balanceCells(injected: number, saved: number) {
  return [shortTokens(injected), signedTokens(saved), signedTokens(saved - injected)]
}

function rowsTable(
  rows: readonly LedgerRow[],
  by: LedgerView['by'],
  sinceText: string,
  output: Output,
) {
  if (rows.length === 0) return by !== undefined && ['', `There are no ${by}s in it${sinceText}.`]
  const body = rows
    .slice(0, MAX_ROWS)
    .map((row) => [
      shortLine(row.name, 32),
      ...balanceCells(row.costs.injectedTokens, totalSaved(row)),
      formatInteger(row.costs.hooks),
      durationOfMs(row.costs.hookMs),
      formatInteger(row.costs.writes),
      byteSize(row.costs.bytes),
      row.updatedAt === undefined ? '' : formatToMinute(row.updatedAt),
    ])
  const kind = rows[0]!.kind.toUpperCase()
  const head = [kind, 'GIVEN', 'SAVED', 'NET', 'HOOKS', 'TIME', 'WRITES', 'DISK', 'UPDATED']
  const more = rows.length - body.length
  return [
    '',
    tableWithHead(head, body, output, [1, 2, 3, 4, 5, 6, 7]),
    more > 0 && `… and ${more} more that cost less; --json has them all`,
  ]
}

function daysTable(days: readonly LedgerDay[], sinceText: string, output: Output) {
  if (days.length === 0) return ['', `There are no days in it${sinceText}.`]
  const body = days.map(({ day, injectedTokens, avoidedTokens, hooks, hookMs }) => [
    day,
    ...balanceCells(injectedTokens, avoidedTokens),
    formatInteger(hooks),
    durationOfMs(hookMs),
  ])
  const head = ['DAY', 'GIVEN', 'SAVED', 'NET', 'HOOKS', 'TIME']
  return ['', tableWithHead(head, body, output, [1, 2, 3, 4, 5])]
}

export function describeMaintenance(result: Maintenance, isDone: boolean, output: Output): string {
  const { sessions, sinceLast, lastDoneAt, every, isDue, hints } = result
  if (isDone) return `🧹 Marked as done: it is due again after ${every} sessions.`
  if (sessions === 0) return 'No sessions here yet: stint init --name NAME --goal TEXT starts one.'
  const sinceLastText =
    lastDoneAt === undefined
      ? 'and nobody has tidied up yet'
      : `${sinceLast} since ${formatToMinute(lastDoneAt)}`
  const dueText = isDue
    ? 'it is time to tidy up'
    : `the next tidying is due after ${every - sinceLast} more`
  return joinLines(
    `🧹 ${output.bold(plural(sessions, 'session'))} here, ${sinceLastText}: ${dueText}.`,
    '',
    hints.length === 0 && 'Nothing to tidy up was found.',
    hints.map(({ what, command }) => [`- ${what}`, `    ${command}`]),
    '',
    'When it is done: stint ledger --maintenance --done',
  )
}

function totalSaved({ savings }: LedgerRow) {
  return savings.reduce((sum, saving) => sum + saving.tokens, 0)
}

/** With a sign, since a saving may be negative. */
function signedTokens(count: number) {
  return count < 0 ? `−${shortTokens(-count)}` : `+${shortTokens(count)}`
}

/** Single hooks take milliseconds, all together seconds. */
function durationOfMs(ms: number) {
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)}s` : durationText(ms / 1000)
}
