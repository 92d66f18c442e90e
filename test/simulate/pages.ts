// What the study says, as the pages on it show it. Put there by scripts/simulation-tables.mjs.
import { readFileSync } from 'node:fs'
import type { Sensitivity, Study } from '../../src/cli/study/study.ts'
import {
  type Table,
  complexityTable,
  failuresTable,
  figuresTable,
  matrixOf,
  measuredTable,
  paysTable,
  ratesTable,
  ratioTable,
  sensitivityTable,
  sharesTable,
} from '../../src/cli/study/tables.ts'
import { shipped } from '../../src/cli/study/shipped.ts'
import { ARM_WORDS, amount, measurementWords, percent } from '../../src/cli/study/tables.ts'
import {
  type Keeping,
  COMPLEXITIES,
  NONE,
  PLAN_ONCE,
  SESSION,
  SESSION_JSON,
} from '../../src/cli/study/parameters.ts'
import { analyse } from '../../src/cli/study/study.ts'
import { runStudy } from '../../src/cli/study/study.ts'

export const PAGES = ['docs/simulate.md', 'docs/why-not-session-json.md'] as const

export function pageNow(name: (typeof PAGES)[number]): string {
  return readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')
}

/** The study as it was published, with what was measured of this Stint before it was given out. */
export async function publishedStudy(): Promise<{
  readonly study: Study
  readonly sensitivity: Sensitivity
}> {
  const study = await runStudy({
    sessions: 100_000,
    seed: 42,
    measurement: shipped,
  })
  return { study, sensitivity: await analyse(study) }
}

/** The pages with their tables made anew. */
export function countedPages(
  study: Study,
  sensitivity: Sensitivity,
): Readonly<Record<(typeof PAGES)[number], string>> {
  return {
    'docs/simulate.md': withTables(pageNow('docs/simulate.md'), {
      figures: markdown(figuresTable(study)),
      failures: markdown(failuresTable(study)),
      complexity: markdown(complexityTable(study)),
      measured: `${measurementWords(study)[0]!}\n\n${markdown(ratesTable(study))}`,
      sessions: markdown(measuredTable(study)),
      session: markdown(sessionParameters()),
      arms: markdown(armParameters()),
    }),
    'docs/why-not-session-json.md': withTables(pageNow('docs/why-not-session-json.md'), {
      ratios: markdown(ratioTable(study)),
      shares: markdown(sharesTable(sensitivity)),
      trials: markdown(ratesTable(study)),
      sensitivity: markdown(sensitivityTable(sensitivity)),
      pays: markdown(paysTable(sensitivity)),
      matrix: markdown(matrixOf(study)),
    }),
  }
}

function withTables(page: string, tables: Readonly<Record<string, string>>): string {
  return Object.entries(tables).reduce((text, [name, table]) => {
    const [begin, end] = [`<!-- ${name} -->\n`, `<!-- end of ${name} -->`]
    const [from, to] = [text.indexOf(begin), text.indexOf(end)]
    // A page that shows no table would have nothing wrong in it.
    if (from === -1 || to === -1) throw new Error(`the page has no place for the table of ${name}`)
    return `${text.slice(0, from)}${begin}${table}\n${text.slice(to)}`
  }, page)
}

function markdown({ head, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

function sessionParameters(): Table {
  const { spread } = SESSION
  const each = (
    what: string,
    cell: (complexity: (typeof COMPLEXITIES)[number]) => string,
    about = '',
  ) => [what, ...COMPLEXITIES.map(cell), about]
  return {
    head: ['', ...COMPLEXITIES, 'drawn evenly within'],
    rows: [
      each('share of the sessions', (complexity) => percent(SESSION.complexity[complexity], 0)),
      each('tasks', (complexity) => SESSION.tasks[complexity].join('–')),
      each(
        'tokens, cut to whole ones',
        (complexity) => amount(SESSION.tokens[complexity]),
        `± ${percent(spread.tokens, 0)}`,
      ),
      each(
        'API calls, cut to whole ones',
        (complexity) => amount(SESSION.apiCalls[complexity], 2),
        `± ${percent(spread.apiCalls, 0)}`,
      ),
      each(
        'minutes',
        (complexity) => amount(SESSION.minutes[complexity]),
        `± ${percent(spread.minutes, 0)}`,
      ),
      each(
        'cognitive load',
        (complexity) => percent(SESSION.cognitiveLoad[complexity], 0),
        `± ${amount(spread.cognitiveLoad * 100)} points`,
      ),
      each('success', (complexity) => percent(SESSION.success[complexity], 0)),
      [
        'domain',
        Object.entries(SESSION.domain)
          .map(([name, share]) => `${name} ${percent(share, 0)}`)
          .join(', '),
        '',
        '',
        '',
      ],
    ],
  }
}

function armParameters(): Table {
  const arms: readonly Keeping[] = [NONE, SESSION_JSON, PLAN_ONCE]
  const row = (what: string, cell: (arm: Keeping) => string | undefined) => [
    what,
    ...arms.map((arm) => cell(arm) ?? ''),
  ]
  const points = (value: number) => (value === 0 ? '' : `+ ${amount(value * 100)} points`)
  return {
    head: ['', ...arms.map(({ name }) => ARM_WORDS[name])],
    rows: [
      row('writes, whatever the model does', ({ writes }) => amount(writes.medium)),
      row('written by the model', ({ byModel: by }) =>
        by === undefined
          ? undefined
          : by.writesPerTask > 0
            ? `${by.writesPerTask} a task`
            : `${by.writes}`,
      ),
      row('read by the model', ({ byModel: by }) => by && amount(by.reads)),
      row('tokens a write', ({ byModel: by }) => by && amount(by.tokensPerWrite)),
      row('tokens a read', ({ byModel: by }) => by && amount(by.tokensPerRead)),
      row(
        'tokens for calling the tool, each',
        ({ byModel: by }) => by && amount(by.tokensPerAccess),
      ),
      row('API calls, each', ({ byModel: by }) => by && '1'),
      row('milliseconds, each', ({ byModel: by }) => by && amount(SESSION.msPerAccess)),
      row('cognitive load', ({ cognitiveLoad }) => points(cognitiveLoad.besides)),
      row(
        'traceability',
        ({ traceability: { middle, spread } }) =>
          `${percent(middle.medium, 0)} ± ${amount(spread * 100)} points`,
      ),
      row('stale', ({ failures }) => failures && percent(failures.stale)),
      row('forgotten', ({ failures }) => failures && percent(failures.forgotten)),
      row('unreadable', ({ failures }) => failures && percent(failures.unreadable)),
      row('conflict, for each agent', ({ failures }) =>
        failures?.conflictPerAgent === undefined ? undefined : percent(failures.conflictPerAgent),
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
            .map((penalty) => amount(penalty * 100))
            .join(' / '),
      ),
      row(
        'complex sessions delegated',
        ({ delegation: { complex } }) =>
          `${percent(complex.share, 0)}, 1–${complex.mostAgents} agents`,
      ),
      row('medium sessions delegated', ({ delegation: { medium } }) =>
        medium === undefined
          ? undefined
          : `${percent(medium.share, 0)}, 1–${medium.mostAgents} agents`,
      ),
      row('success of complex ones that are', ({ successOfDelegated }) =>
        points(successOfDelegated),
      ),
    ],
  }
}
