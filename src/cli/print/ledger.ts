import { formatInteger } from '../../text/format-amounts.ts'
import type { Ledger, LedgerDay, LedgerRow, Maintenance, SavingName } from '../../library.ts'
import { minute } from '../../text/times.ts'
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

const MOST_ROWS = 20

interface Shown {
  readonly by?: 'session' | 'task' | 'run' | 'day'
  readonly since?: string
}

export function describeLedger(
  { whole, rows, days }: Ledger,
  { by, since }: Shown,
  output: Output,
): string {
  const from = since === undefined ? '' : ` since ${since.slice(0, 10)}`
  if (whole.kind === 'project' && days.length === 0) {
    return since === undefined
      ? 'Nothing is recorded here yet, so nothing was spent or saved: stint init --name NAME --goal TEXT starts a session.'
      : `Nothing was recorded${from}: without --since it is all there is.`
  }
  const kind = whole.kind === 'project' ? '' : `${whole.kind} `
  return joinLines(
    `📒 ${output.bold(`Ledger of ${kind}${shortLine(whole.name, 60)}`)}${from}`,
    '',
    costs(whole),
    '',
    savings(whole, output),
    by === 'day' ? ofDays(days, from, output) : ofRows(rows, by, from, output),
  )
}

function costs({ costs: cost }: LedgerRow) {
  const { injectedTokens, injections, hooks, hookMs, writes, bytes } = cost
  const each = hooks === 0 ? '' : `, ${Math.round(hookMs / hooks)} ms each`
  return table([
    [
      'Given to models',
      `${formatInteger(injectedTokens)} tokens e`,
      `in ${plural(injections, 'text')}`,
    ],
    ['Model calls', 'none', 'what is asked of a model is asked by people and runs'],
    ['Hooks', formatInteger(hooks), `${taken(hookMs)} inside their processes${each}`],
    ['Writes', formatInteger(writes), 'by hooks; of commands the entries alone'],
    ['On disk', byteSize(bytes), ''],
  ]).map((text) => `  ${text}`)
}

const WORDS: Readonly<Record<SavingName, string>> = {
  batching: 'set-ups not said again, less what was read again for it',
  toon: 'tables told as TOON and not as JSON',
  digest: 'output of commands kept and not printed',
  pointers: 'documents named and not told whole, but for TOON',
  profiles: 'profiles indexed and not loaded',
  resuming: 'read less than by the first conversation, less what the others count',
}

function savings(row: LedgerRow, output: Output) {
  if (row.savings.length === 0) return 'Nothing was saved that can be counted.'
  const rows = row.savings.map(({ name, tokens: saved, known, times }) => [
    capitalize(name),
    signed(saved),
    known === 'estimated' ? 'e' : '',
    `×${formatInteger(times)}`,
    WORDS[name],
  ])
  const net = savedBy(row) - row.costs.injectedTokens
  const verdict = net < 0 ? 'more were given than saved' : 'more were saved than given'
  return [
    table(rows, [1, 3]).map((text) => `  ${text}`),
    '',
    `${output.bold('Net')}: ${formatInteger(Math.abs(net))} tokens ${verdict} (e estimated).`,
  ]
}

function balance(given: number, saved: number) {
  return [shortTokens(given), signed(saved), signed(saved - given)]
}

function ofRows(rows: readonly LedgerRow[], by: Shown['by'], from: string, output: Output) {
  if (rows.length === 0) return by !== undefined && ['', `There are no ${by}s in it${from}.`]
  const body = rows
    .slice(0, MOST_ROWS)
    .map((row) => [
      shortLine(row.name, 32),
      ...balance(row.costs.injectedTokens, savedBy(row)),
      formatInteger(row.costs.hooks),
      taken(row.costs.hookMs),
      formatInteger(row.costs.writes),
      byteSize(row.costs.bytes),
      row.updatedAt === undefined ? '' : minute(row.updatedAt),
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

function ofDays(days: readonly LedgerDay[], from: string, output: Output) {
  if (days.length === 0) return ['', `There are no days in it${from}.`]
  const body = days.map(({ day, injectedTokens, avoidedTokens, hooks, hookMs }) => [
    day,
    ...balance(injectedTokens, avoidedTokens),
    formatInteger(hooks),
    taken(hookMs),
  ])
  const head = ['DAY', 'GIVEN', 'SAVED', 'NET', 'HOOKS', 'TIME']
  return ['', tableWithHead(head, body, output, [1, 2, 3, 4, 5])]
}

export function describeMaintenance(found: Maintenance, isDone: boolean, output: Output): string {
  const { sessions, sinceLast, lastDoneAt, every, isDue, hints } = found
  if (isDone) return `🧹 Marked as done: it is due again after ${every} sessions.`
  if (sessions === 0) return 'No sessions here yet: stint init --name NAME --goal TEXT starts one.'
  const since =
    lastDoneAt === undefined
      ? 'and nobody has tidied up yet'
      : `${sinceLast} since ${minute(lastDoneAt)}`
  const due = isDue
    ? 'it is time to tidy up'
    : `the next tidying is due after ${every - sinceLast} more`
  return joinLines(
    `🧹 ${output.bold(plural(sessions, 'session'))} here, ${since}: ${due}.`,
    '',
    hints.length === 0 && 'Nothing to tidy up was found.',
    hints.map(({ what, command }) => [`- ${what}`, `    ${command}`]),
    '',
    'When it is done: stint ledger --maintenance --done',
  )
}

function savedBy({ savings: found }: LedgerRow) {
  return found.reduce((sum, saving) => sum + saving.tokens, 0)
}

/** Both ways, since a saving may have cost more than it saved. */
function signed(count: number) {
  return count < 0 ? `−${shortTokens(-count)}` : `+${shortTokens(count)}`
}

/** Hooks take milliseconds, and all of them together seconds. */
function taken(ms: number) {
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)}s` : durationText(ms / 1000)
}
