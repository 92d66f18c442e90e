import type { StudyComplexity } from '../../src/cli/study/parameters.ts'
import { Chance } from './trials.ts'

/**
 * A recorded fact that a successor would otherwise have to find out again. It counts as preserved
 * if all its words are there.
 */
export interface Fact {
  readonly kind: 'decision' | 'discovery' | 'gotcha' | 'key' | 'blocker' | 'step' | 'next'
  readonly words: readonly string[]
}

export interface TaskStory {
  readonly title: string
  readonly file: string
  readonly decision: string
  readonly rationale: string
  readonly discovery: string
  readonly gotcha: string
}

export interface Story {
  readonly goal: string
  readonly tasks: readonly TaskStory[]
  readonly key: string
  readonly blocker: string
  readonly next: string
  /** Steps still open when the first conversation ends. */
  readonly open: readonly string[]
}

/** Range of tasks per session in the study, which draws them uniformly. */
const TASKS: Readonly<Record<StudyComplexity, readonly [least: number, most: number]>> = {
  simple: [1, 2],
  medium: [3, 5],
  complex: [6, 10],
}

/**
 * Stories of one complexity with the study's average number of tasks; a single one is the shortest.
 */
export function storiesOf(
  complexity: StudyComplexity,
  count: number,
  seed: number,
): readonly Story[] {
  const [least, most] = TASKS[complexity]
  const step = count < 2 ? 0 : (most - least) / (count - 1)
  return Array.from({ length: count }, (_, index) =>
    storyOf(Math.round(least + index * step), seed * 31 + index),
  )
}

function storyOf(length: number, seed: number): Story {
  const chance = new Chance(seed)
  const left = [...WORK]
  const tasks = Array.from({ length }, () => left.splice(chance.between(0, left.length - 1), 1)[0]!)
  return { ...AROUND, tasks }
}

export function factsOf({ tasks, key, blocker, next, open }: Story): readonly Fact[] {
  return [
    ...tasks.flatMap((task): Fact[] => [
      { kind: 'decision', words: [task.decision, task.rationale] },
      { kind: 'discovery', words: [task.discovery] },
      { kind: 'gotcha', words: [task.gotcha] },
    ]),
    { kind: 'key', words: [key] },
    { kind: 'blocker', words: [blocker] },
    { kind: 'next', words: [next] },
    ...open.map((step): Fact => ({ kind: 'step', words: [step] })),
  ]
}

const AROUND: Omit<Story, 'tasks'> = {
  goal: 'Let customers pay by invoice, from the cart to the ledger',
  key: 'Amounts are whole cents everywhere; the old service sends them as decimal strings',
  blocker: 'The sandbox of the bank refuses our certificate until their support renews it',
  next: 'Ask accounting whether credit notes need a number of their own',
  open: [
    'Run the migration against a copy of production',
    'Write the page for support about refused invoices',
  ],
}

const WORK: readonly TaskStory[] = [
  {
    title: 'Add the invoice table',
    file: 'db/migrations/0042-invoices.sql',
    decision: 'Number invoices by a sequence for each year',
    rationale:
      'The tax office wants them without gaps, and a shared sequence has gaps after a rollback',
    discovery:
      'The migration runner takes a lock on the whole schema, so a long backfill stops every deploy',
    gotcha:
      'A migration that fails half-way is not run again until its row in schema_log is removed',
  },
  {
    title: 'Send invoices by mail',
    file: 'src/mail/send-invoice.ts',
    decision: 'Render the PDF in the worker and not in the request',
    rationale: 'It takes two seconds for a long cart, and the gateway gives up after one',
    discovery: 'The mail provider accepts a message twice within ten minutes and sends it once',
    gotcha: 'Attachments above 7 MB are dropped without an error by the provider',
  },
  {
    title: 'Check credit limits',
    file: 'src/credit/limit.ts',
    decision: 'Reserve the amount when the order is placed, not when it is shipped',
    rationale: 'Two carts paid at once went over the limit together in the first version',
    discovery: 'Half of the customers have no limit at all, which the old code took for zero',
    gotcha: 'The limit service answers in euros for customers that were created before 2019',
  },
  {
    title: 'Show open invoices in the account',
    file: 'web/account/invoices.tsx',
    decision: 'Page by date and id instead of by offset',
    rationale: 'New invoices shift the pages, and a customer saw one of them twice',
    discovery:
      'The account page is cached for five minutes by the edge, also for signed-in customers',
    gotcha: 'Dates come without a time zone and are in that of the warehouse',
  },
  {
    title: 'Match payments to invoices',
    file: 'src/ledger/match.ts',
    decision: 'Match by reference first and by amount only within one customer',
    rationale: 'Equal amounts on one day are common, and a wrong match is dear to undo',
    discovery: 'One bank cuts the reference after 27 characters, so the check digits are missing',
    gotcha: 'The statement file repeats the last day of the one before it',
  },
  {
    title: 'Remind of what is overdue',
    file: 'src/dunning/remind.ts',
    decision: 'Send the first reminder on a working day only',
    rationale: 'Support is closed at weekends and most answers come within an hour',
    discovery: 'A fifth of the reminders went to addresses that had bounced before',
    gotcha: 'The scheduler starts a job again after a deploy if it was running then',
  },
  {
    title: 'Write credit notes',
    file: 'src/ledger/credit-note.ts',
    decision: 'Never change an invoice, write a credit note for all of it and a new invoice',
    rationale: 'The export to accounting takes each document once and ignores later changes',
    discovery: 'Rounding each line apart is off by a cent in one of eight carts',
    gotcha: 'A credit note without a reason code is refused by the export at night, not at once',
  },
  {
    title: 'Export to accounting',
    file: 'src/export/accounting.ts',
    decision: 'Write one file a day and number the lines in it',
    rationale: 'Their import goes on from a line when it stops, but only within one file',
    discovery: 'The import wants Windows line ends and fails on the last line without one',
    gotcha: 'Files that arrive after 22:00 are imported two days later',
  },
  {
    title: 'Let support cancel an invoice',
    file: 'web/support/cancel.tsx',
    decision: 'Ask for a second person above five hundred euros',
    rationale: 'The auditors asked for it in spring, and the old tool had it by hand',
    discovery: 'The permission service caches roles for an hour, so a new role seems not to work',
    gotcha: 'The support tool sends each form twice when its tab was restored',
  },
  {
    title: 'Measure how long payment takes',
    file: 'src/metrics/payment-time.ts',
    decision: 'Count from the due date and not from the invoice date',
    rationale: 'Customers with long terms looked late although they were not',
    discovery: 'The clock of the second worker is four minutes behind',
    gotcha: 'A histogram with more than forty buckets is thrown away by the collector',
  },
]
