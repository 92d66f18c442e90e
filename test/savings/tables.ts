// The tables of savings and costs in the docs, inserted by scripts/savings-tables.mjs.
import { readFileSync } from 'node:fs'
import { instructionsEdit } from '../../src/harness/claude/setup/install.ts'
import { realTokens } from '../context/vocabularies.ts'
import { tokensOnPage } from '../survey/tokens-on-page.ts'
import { change, entriesOf, row, ruleFor } from '../document/export/token-table.ts'
import { type Claim, type GivenBySize, SIZES, claims, givenBySize, runClaims } from './claims.ts'
import { COMPACTS_AT, type Given } from './conversations.ts'
import { serverLines, serverWhole } from './server-lines.ts'
import { slashLines } from './slash-lines.ts'

const PAGE = new URL('../../docs/savings.md', import.meta.url)
const SAVINGS_HEADER = '| technique | claimed | compared | before | after | change |'

export function savingsPage(): string {
  return readFileSync(PAGE, 'utf8')
}

/** The page with its tables regenerated. */
export async function countedPage(): Promise<string> {
  const injected = await givenBySize()
  const tables = {
    savings: await savingsTable(injected),
    runs: runTable(),
    costs: costTable(injected),
  }
  return Object.entries(tables).reduce(
    (page, [name, table]) => withTable(page, name, table),
    savingsPage(),
  )
}

function withTable(page: string, name: string, table: string): string {
  const [begin, end] = [`<!-- ${name} -->\n`, `\n<!-- end of ${name} -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  // A page without tables would pass vacuously.
  if (from === -1 || to === -1) throw new Error(`the page has no place for the table of ${name}`)
  return `${page.slice(0, from)}${begin}${table}${page.slice(to)}`
}

async function savingsTable(injected: GivenBySize): Promise<string> {
  return [
    SAVINGS_HEADER,
    ruleFor(SAVINGS_HEADER),
    ...(await claims(injected, tokensOnPage())).flatMap(({ technique, ...claim }) =>
      toRows(technique, claim),
    ),
    row(
      'Background agents',
      'time',
      'tasks one after another / side by side: [benchmarks](benchmarks.md#savings)',
      '',
      '',
      '',
    ),
  ].join('\n')
}

function runTable(): string {
  const head = row('tasks', 'claimed', 'tokens', 'a conversation each', 'one for all', 'change')
  return [
    head,
    ruleFor(head),
    ...runClaims().flatMap(({ tasks, ...claim }) => toRows(tasks, claim)),
  ].join('\n')
}

function toRows(
  of: string | number,
  { claimed: [before, after], comparisons }: Omit<Claim, 'technique'>,
): readonly string[] {
  const claimed = `${before} → ${after}, ${change(before, after)}`
  return comparisons.map(({ compared, before, after }, index) =>
    row(
      ...(index === 0 ? [of, claimed] : ['', '']),
      compared,
      before,
      after,
      change(before, after),
    ),
  )
}

function costTable(injected: GivenBySize): string {
  const [slash, server] = [realTokens(slashLines()), realTokens(serverLines())]
  const costs = (of: (injected: Given) => string) =>
    SIZES.map((size) => realTokens(of(injected[size])))
  const stage = (percent: number) => (each: Given) =>
    each.stages.find((one) => one.percent === percent)!.text
  const stages = [75, 85, 90].map((percent) => ({ percent, tokens: costs(stage(percent)) }))
  const [start, summariser, smartZone, reminder] = [
    costs((each) => each.start),
    costs((each) => each.summariser),
    costs((each) => each.smartZone),
    costs((each) => each.reminder),
  ]
  const once = [start, smartZone, ...stages.map(({ tokens }) => tokens), reminder, summariser]
  const sums = SIZES.map((_, index) =>
    once.reduce((total, tokens) => total + tokens[index]!, slash + server),
  )
  const head = row(
    'given',
    'when',
    ...SIZES.map((size) => `${size} (${entriesOf(size).length} entries)`),
  )
  return [
    head,
    ruleFor(head),
    row('a line for each slash command', 'every conversation', slash, slash, slash),
    row(
      'the MCP server: its tools by name, what it says of itself',
      'every conversation',
      server,
      server,
      server,
    ),
    row('the session, and the project where there is room', 'a conversation begins', ...start),
    row(
      'nothing',
      'a prompt, a command, an edit, the end of a turn',
      ...costs((each) => each.ordinarily),
    ),
    row('a reminder', 'after five edits that nobody logged', ...reminder),
    row('the smart zone is left', 'once', ...smartZone),
    ...stages.map(({ percent, tokens }) => row(`stage ${percent} % is reached`, 'once', ...tokens)),
    row('what must not be lost', 'to the summariser, before a compaction', ...summariser),
    row('**sum**', 'from the beginning to a compaction', ...sums),
    row(
      `… of ${COMPACTS_AT}`,
      '',
      ...sums.map((sum) => `${((sum / COMPACTS_AT) * 100).toFixed(1)} %`),
    ),
    row('the session', 'after a compaction', ...costs((each) => each.afterCompaction)),
    row(
      'lines in CLAUDE.md',
      'every conversation, with `--instructions`',
      ...SIZES.map(() => realTokens(instructionsEdit.add('').at(-1)!)),
    ),
    row(
      'the MCP server: its tools whole',
      'every conversation, in the place of their names, with Claude Code 2.0.77',
      ...SIZES.map(() => realTokens(serverWhole())),
    ),
  ].join('\n')
}
