// The study's tables in the docs, inserted by scripts/simulation-tables.mjs.
import { readFileSync } from 'node:fs'
import type { Sensitivity, Study } from '../../src/cli/study/study.ts'
import {
  type StudyTable,
  complexityTable,
  failuresTable,
  figuresTable,
  comparisonTable,
  measuredTable,
  breakEvenTable,
  ratesTable,
  ratioTable,
  sensitivityTable,
  sharesTable,
} from '../../src/cli/study/tables.ts'
import { measuredRates } from '../../src/cli/study/measured-rates.ts'
import {
  ARM_LABELS,
  formatNumber,
  measurementNotes,
  formatPercent,
} from '../../src/cli/study/tables.ts'
import {
  type ArmParameters,
  COMPLEXITIES,
  NONE,
  PLAN_ONCE,
  STUDY_SESSION,
  SESSION_JSON,
} from '../../src/cli/study/parameters.ts'
import { analyseSensitivity } from '../../src/cli/study/study.ts'
import { runStudy } from '../../src/cli/study/study.ts'

export const PAGES = ['docs/simulate.md', 'docs/why-not-session-json.md'] as const

export function readPage(name: (typeof PAGES)[number]): string {
  return readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
}

/** The published study, with the shipped measurement. */
export async function publishedStudy(): Promise<{
  readonly study: Study
  readonly sensitivity: Sensitivity
}> {
  const study = await runStudy({
    sessions: 100_000,
    seed: 42,
    measurement: measuredRates,
  })
  return { study, sensitivity: await analyseSensitivity(study) }
}

/** The pages with their tables regenerated. */
export function countedPages(
  study: Study,
  sensitivity: Sensitivity,
): Readonly<Record<(typeof PAGES)[number], string>> {
  return {
    'docs/simulate.md': withTables(readPage('docs/simulate.md'), {
      figures: markdown(figuresTable(study)),
      failures: markdown(failuresTable(study)),
      complexity: markdown(complexityTable(study)),
      measured: `${measurementNotes(study)[0]!}\n\n${markdown(ratesTable(study))}`,
      sessions: markdown(measuredTable(study)),
      session: markdown(sessionParameters()),
      arms: markdown(armParameters()),
    }),
    'docs/why-not-session-json.md': withTables(readPage('docs/why-not-session-json.md'), {
      ratios: markdown(ratioTable(study)),
      shares: markdown(sharesTable(sensitivity)),
      trials: markdown(ratesTable(study)),
      sensitivity: markdown(sensitivityTable(sensitivity)),
      pays: markdown(breakEvenTable(sensitivity)),
      matrix: markdown(comparisonTable(study)),
    }),
  }
}

function withTables(page: string, tables: Readonly<Record<string, string>>): string {
  return Object.entries(tables).reduce((text, [name, table]) => {
    const [begin, end] = [`<!-- ${name} -->\n`, `<!-- end of ${name} -->`]
    const [from, to] = [text.indexOf(begin), text.indexOf(end)]
    // A page without tables would pass vacuously.
    if (from === -1 || to === -1) throw new Error(`the page has no place for the table of ${name}`)
    return `${text.slice(0, from)}${begin}${table}\n${text.slice(to)}`
  }, page)
}

function markdown({ head, rows }: StudyTable): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

function sessionParameters(): StudyTable {
  const { spread } = STUDY_SESSION
  const each = (
    what: string,
    cell: (complexity: (typeof COMPLEXITIES)[number]) => string,
    about = '',
  ) => [what, ...COMPLEXITIES.map(cell), about]
  return {
    head: ['', ...COMPLEXITIES, 'drawn evenly within'],
    rows: [
      each('share of the sessions', (complexity) =>
        formatPercent(STUDY_SESSION.complexity[complexity], 0),
      ),
      each('tasks', (complexity) => STUDY_SESSION.tasks[complexity].join('–')),
      each(
        'tokens, cut to whole ones',
        (complexity) => formatNumber(STUDY_SESSION.tokens[complexity]),
        `± ${formatPercent(spread.tokens, 0)}`,
      ),
      each(
        'API calls, cut to whole ones',
        (complexity) => formatNumber(STUDY_SESSION.apiCalls[complexity], 2),
        `± ${formatPercent(spread.apiCalls, 0)}`,
      ),
      each(
        'minutes',
        (complexity) => formatNumber(STUDY_SESSION.minutes[complexity]),
        `± ${formatPercent(spread.minutes, 0)}`,
      ),
      each(
        'cognitive load',
        (complexity) => formatPercent(STUDY_SESSION.cognitiveLoad[complexity], 0),
        `± ${formatNumber(spread.cognitiveLoad * 100)} points`,
      ),
      each('success', (complexity) => formatPercent(STUDY_SESSION.success[complexity], 0)),
      [
        'domain',
        Object.entries(STUDY_SESSION.domain)
          .map(([name, share]) => `${name} ${formatPercent(share, 0)}`)
          .join(', '),
        '',
        '',
        '',
      ],
    ],
  }
}

function armParameters(): StudyTable {
  const arms: readonly ArmParameters[] = [NONE, SESSION_JSON, PLAN_ONCE]
  const row = (what: string, cell: (arm: ArmParameters) => string | undefined) => [
    what,
    ...arms.map((arm) => cell(arm) ?? ''),
  ]
  const points = (value: number) => (value === 0 ? '' : `+ ${formatNumber(value * 100)} points`)
  return {
    head: ['', ...arms.map(({ name }) => ARM_LABELS[name])],
    rows: [
      row('writes, whatever the model does', ({ writes }) => formatNumber(writes.medium)),
      row('written by the model', ({ modelAccess: by }) =>
        by === undefined
          ? undefined
          : by.writesPerTask > 0
            ? `${by.writesPerTask} a task`
            : `${by.writes}`,
      ),
      row('read by the model', ({ modelAccess: by }) => by && formatNumber(by.reads)),
      row('tokens a write', ({ modelAccess: by }) => by && formatNumber(by.tokensPerWrite)),
      row('tokens a read', ({ modelAccess: by }) => by && formatNumber(by.tokensPerRead)),
      row(
        'tokens for calling the tool, each',
        ({ modelAccess: by }) => by && formatNumber(by.tokensPerAccess),
      ),
      row('API calls, each', ({ modelAccess: by }) => by && '1'),
      row(
        'milliseconds, each',
        ({ modelAccess: by }) => by && formatNumber(STUDY_SESSION.msPerAccess),
      ),
      row('cognitive load', ({ cognitiveLoad }) => points(cognitiveLoad.added)),
      row(
        'traceability',
        ({ traceability: { middle, spread } }) =>
          `${formatPercent(middle.medium, 0)} ± ${formatNumber(spread * 100)} points`,
      ),
      row('stale', ({ failures }) => failures && formatPercent(failures.stale)),
      row('forgotten', ({ failures }) => failures && formatPercent(failures.forgotten)),
      row('unreadable', ({ failures }) => failures && formatPercent(failures.unreadable)),
      row('conflict, for each agent', ({ failures }) =>
        failures?.conflictPerAgent === undefined
          ? undefined
          : formatPercent(failures.conflictPerAgent),
      ),
      row(
        'less success when stale / in conflict / unreadable / forgotten',
        ({ failures }) =>
          failures &&
          [
            failures.penalties.stale,
            failures.penalties.conflict,
            failures.penalties.unreadable,
            failures.penalties.forgotten,
          ]
            .map((penalty) => formatNumber(penalty * 100))
            .join(' / '),
      ),
      row(
        'complex sessions delegated',
        ({ delegation: { complex } }) =>
          `${formatPercent(complex.share, 0)}, 1–${complex.maxAgents} agents`,
      ),
      row('medium sessions delegated', ({ delegation: { medium } }) =>
        medium === undefined
          ? undefined
          : `${formatPercent(medium.share, 0)}, 1–${medium.maxAgents} agents`,
      ),
      row('success of complex ones that are', ({ delegationBonus: successOfDelegated }) =>
        points(successOfDelegated),
      ),
    ],
  }
}
