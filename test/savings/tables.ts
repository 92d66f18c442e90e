// What Stint saves and what it costs, as the page on it shows them. Put there by scripts/savings-tables.mjs.
import { readFileSync } from 'node:fs'
import { handoffDocument } from '../../src/handoff/document.ts'
import { instructionsEdit } from '../../src/harness/claude/setup/instructions.ts'
import { slashCommandFiles } from '../../src/harness/claude/slash-commands.ts'
import { BUILT_IN } from '../../src/run/profiles/built-in.ts'
import { profileIndex } from '../../src/run/prompts/setup-text.ts'
import { renderDocument } from '../../src/views/document/render.ts'
import { stateData, summaryOf } from '../../src/views/state-files.ts'
import { realTokens } from '../context/vocabularies.ts'
import { measuredDigests } from '../digest/measured.ts'
import { factsOf } from '../handoff/any-facts.ts'
import { saidOnPage } from '../survey/said-on-page.ts'
import {
  type SessionSize,
  VOCABULARIES,
  change,
  entriesOf,
  row,
  ruleFor,
  sameFields,
  stateOf,
  wholeAndSummary,
} from '../views/export/token-table.ts'
import { COMPACTS_AT, type Given, givenIn, recordedConversation } from './conversations.ts'
import { CLAIMED, COUNTED_RUNS, type CountedRun } from './sent-in-runs.ts'
import { slashLines } from './slash-lines.ts'

const PAGE = new URL('../../docs/savings.md', import.meta.url)
const SAVED = '| technique | claimed | compared | before | after | change |'
const SIZES = ['small', 'medium', 'long'] as const satisfies readonly SessionSize[]

type GivenBySize = Readonly<Record<SessionSize, Given>>

export function savingsPage(): string {
  return readFileSync(PAGE, 'utf8')
}

/** The page with its tables counted anew. */
export async function countedPage(): Promise<string> {
  const given = { small: await givenIn('small'), medium: await givenIn('medium'), long: await givenIn('long') }
  const tables = { savings: await savingsTable(given), runs: runTable(), costs: costTable(given) }
  return Object.entries(tables).reduce((page, [name, table]) => withTable(page, name, table), savingsPage())
}

function withTable(page: string, name: string, table: string): string {
  const [begin, end] = [`<!-- ${name} -->\n`, `\n<!-- end of ${name} -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  // A page that shows no table would have nothing wrong in it.
  if (from === -1 || to === -1) throw new Error(`the page has no place for the table of ${name}`)
  return `${page.slice(0, from)}${begin}${table}${page.slice(to)}`
}

interface Comparison {
  readonly compared: string
  readonly before: number
  readonly after: number
}

async function savingsTable(given: GivenBySize): Promise<string> {
  const { context, condensed } = saidOnPage()
  const lazily: readonly Comparison[] = [
    {
      compared: `${slashCommandFiles().size} slash commands: their files / a line each`,
      before: realTokens([...slashCommandFiles().values()].join('\n')),
      after: realTokens(slashLines()),
    },
    {
      compared: `${BUILT_IN.length} profiles of agents: their texts / a line each`,
      before: realTokens(BUILT_IN.map(({ body }) => body).join('\n')),
      after: realTokens(profileIndex(BUILT_IN)),
    },
  ]
  return [
    SAVED,
    ruleFor(SAVED),
    ...rowsOf('TOON format', claim(2000, 500), formats()),
    ...rowsOf('Lazy agent loading', claim(48_000, 2700), lazily),
    ...rowsOf('Compressed context', claim(5000, 500), [
      { compared: 'this project: what is read of it / `stint project`', before: condensed, after: context },
    ]),
    ...rowsOf('Response analyzer', claim(3000, 150), digests()),
    ...rowsOf('State persistence', claim(10_000, 500), await persisted(given)),
    row('Background agents', 'time', 'nothing: Stint has none yet', '', '', ''),
  ].join('\n')
}

function claim(before: number, after: number): string {
  return `${before} → ${after}, ${change(before, after)}`
}

function rowsOf(technique: string, claimed: string, comparisons: readonly Comparison[]): readonly string[] {
  return comparisons.map(({ compared, before, after }, index) =>
    row(...(index === 0 ? [technique, claimed] : ['', '']), compared, before, after, change(before, after)),
  )
}

function formats(): readonly Comparison[] {
  const { Claude, o200k } = VOCABULARIES
  const small = sameFields(stateData(stateOf('small')), Claude)
  const fewFields = sameFields(summaryOf(stateOf('small')), o200k)
  const inAll = (size: SessionSize): Comparison => {
    const { whole, summary } = wholeAndSummary(stateOf(size), Claude)
    return { compared: `${size} session: its state as JSON / its summary as TOON`, before: whole, after: summary }
  }
  return [
    { compared: 'the same fields, small session: JSON indented / TOON', before: small.indented, after: small.toon },
    { compared: 'the same fields, small session: JSON compact / TOON', before: small.compact, after: small.toon },
    { compared: "the same few fields, o200k's tokens: JSON compact / TOON", before: fewFields.compact, after: fewFields.toon },
    inAll('small'),
    inAll('long'),
  ]
}

function digests(): readonly Comparison[] {
  const each = measuredDigests().map(({ name, raw, digest }) => ({
    compared: `${name}: output / digest`,
    before: raw,
    after: digest,
  }))
  const sum = (of: 'before' | 'after') => each.reduce((total, digest) => total + digest[of], 0)
  return [...each, { compared: 'all of these', before: sum('before'), after: sum('after') }]
}

async function persisted(given: GivenBySize): Promise<readonly Comparison[]> {
  const { said, start } = await recordedConversation()
  const ofDocument = SIZES.flatMap((size): readonly Comparison[] => {
    const before = realTokens(renderDocument(stateOf(size), { offset: 1, sum: '00000000' }))
    const handoff = realTokens(handoffDocument(factsOf(entriesOf(size))).text)
    return [
      { compared: `${size} session: document / what a start gives`, before, after: realTokens(given[size].start) },
      { compared: `${size} session: document / handoff`, before, after: handoff },
    ]
  })
  const ofTranscript = { compared: 'a recorded conversation: what was said / what a start gives' }
  return [...ofDocument, { ...ofTranscript, before: realTokens(said), after: realTokens(start) }]
}

function runTable(): string {
  const head = row('tasks', 'claimed', 'tokens', 'a conversation each', 'one for all', 'change')
  return [head, ruleFor(head), ...Object.keys(CLAIMED).flatMap((tasks) => runRows(Number(tasks)))].join('\n')
}

function runRows(tasks: number): readonly string[] {
  const [each, one] = (['each', 'one'] as const).map((conversations) =>
    COUNTED_RUNS.find((run) => run.tasks === tasks && run.conversations === conversations)!,
  ) as [CountedRun, CountedRun]
  const compared = (what: string, of: 'said' | 'handoffs' | 'starts' | 'input') =>
    row('', '', what, each[of], one[of], change(each[of], one[of]))
  return [
    row(
      tasks,
      claim(...CLAIMED[tasks]!),
      'set-up and texts of tasks, as they are said',
      each.said,
      one.said,
      change(each.said, one.said),
    ),
    compared('handoffs', 'handoffs'),
    compared('first requests, whole', 'starts'),
    compared('all requests, whole', 'input'),
  ]
}

function costTable(given: GivenBySize): string {
  const always = realTokens(slashLines())
  const costs = (of: (given: Given) => string) => SIZES.map((size) => realTokens(of(given[size])))
  const stage = (percent: number) => (each: Given) => each.stages.find((one) => one.percent === percent)!.text
  const stages = [75, 85, 90].map((percent) => ({ percent, tokens: costs(stage(percent)) }))
  const [start, summariser, smartZone, reminder] = [
    costs((each) => each.start),
    costs((each) => each.summariser),
    costs((each) => each.smartZone),
    costs((each) => each.reminder),
  ]
  const once = [start, smartZone, ...stages.map(({ tokens }) => tokens), reminder, summariser]
  const sums = SIZES.map((_, index) => once.reduce((total, tokens) => total + tokens[index]!, always))
  const head = row('given', 'when', ...SIZES.map((size) => `${size} (${entriesOf(size).length} entries)`))
  return [
    head,
    ruleFor(head),
    row('a line for each slash command', 'every conversation', always, always, always),
    row('the session, and the project where there is room', 'a conversation begins', ...start),
    row('nothing', 'a prompt, a command, an edit, the end of a turn', ...costs((each) => each.ordinarily)),
    row('a reminder', 'after five edits that nobody logged', ...reminder),
    row('the smart zone is left', 'once', ...smartZone),
    ...stages.map(({ percent, tokens }) => row(`stage ${percent} % is reached`, 'once', ...tokens)),
    row('… of which lines for the eye', '', ...costs((each) => linesDrawn(stage(75)(each)))),
    row('what must not be lost', 'to the summariser, before a compaction', ...summariser),
    row('**sum**', 'from the beginning to a compaction', ...sums),
    row(`… of ${COMPACTS_AT}`, '', ...sums.map((sum) => `${((sum / COMPACTS_AT) * 100).toFixed(1)} %`)),
    row('the session', 'after a compaction', ...costs((each) => each.afterCompaction)),
    row(
      'lines in CLAUDE.md',
      'every conversation, with `--instructions`',
      ...SIZES.map(() => realTokens(instructionsEdit.add('').at(-1)!)),
    ),
  ].join('\n')
}

function linesDrawn(text: string): string {
  return text.match(/^━+$/gm)?.join('\n') ?? ''
}
