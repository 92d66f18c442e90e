import { refuseInRun } from '../../../core.ts'
import type { DelegateRow, MergeOptions, MergeOutcome } from '../../../library.ts'
import { defined } from '../../../text/defined.ts'
import type { Flags } from '../../context/command.ts'
import {
  type DelegateInvocation,
  selectDelegates,
  defineDelegateCommand,
  delegateArguments,
  resolveDelegateIds,
  idsOf,
} from '../../context/delegate-command.ts'
import { Interrupt, UsageError } from '../../context/context.ts'
import { textFlag, toggle } from '../../context/flags.ts'
import { allowProtectedFlag } from '../../context/run-flags.ts'
import { isActive, delegateLabel, delegateStatusLine } from '../../print/delegate.ts'
import {
  countOutcomes,
  describeOutcome,
  isSuccessfulMerge,
  mergeEventText,
  interactiveReview,
} from '../../print/merge.ts'
import { plural } from '../../print/terminal/text.ts'
import { waitAndPrintDelegates } from '../../print/watch-delegates.ts'

const FLAGS = {
  all: toggle('All that are ready'),
  group: textFlag('All of this group that are ready', 'GROUP'),
  dryRun: toggle('Say what would come of it and change nothing'),
  review: toggle('Ask before each is merged, with what it brings'),
  noSendBack: toggle('Leave what conflicts or is red as it is'),
  pr: toggle('Open a pull request through gh instead'),
  allowProtected: allowProtectedFlag(
    'A path of settings or hooks that the work may change, once you have read it',
  ),
  wait: toggle('Go on until those that were sent back are merged or parked'),
}

type MergeFlags = Flags<typeof FLAGS>

export const merge = defineDelegateCommand({
  brief: 'Bring the work of delegates into the branches it is meant for',
  about:
    'One after another, each in a worktree made for it: merged, set up and verified there. Only then the target moves, by fast-forward, and only\nif it has not moved meanwhile. What conflicts or is red is sent back to its delegate, and parked after some times; the others go on.\nA checkout with changes in it is not touched. Exit codes: 0 all were merged, 1 otherwise, 130 interrupted.',
  usage: [
    ['fix-login', 'this one'],
    ['--all', 'all that are ready'],
    ['--all --dry-run', 'what would come of it'],
    ['--group release --review', 'those of a group, each put before you'],
    ['--all --wait', 'and wait for those that are sent back'],
    ['fix-login --pr', 'a pull request instead, by gh'],
  ],
  args: delegateArguments('The delegates to merge, in this order'),
  flags: FLAGS,
  async run(invocation, flags, ...names) {
    const { context, output, redacted, print, exit, json } = invocation
    const { all, group } = flags
    refuseInRun(context, 'merging')
    refuseConflicts(invocation, flags, names)
    if (!flags.dryRun) await invocation.delegates.reconcile()
    const rows = redacted(await selectDelegates(invocation, { names, group, isSelected: isReady }))
    if (rows.length === 0)
      return print(
        { outcomes: [] },
        () => 'No delegate is ready to be merged: stint delegates shows how they stand.',
      )
    const isExplicit = names.length > 0 || all || group !== undefined
    if (!isExplicit && !(await askToMerge(invocation, rows)))
      return output.info('nothing was merged')
    await Interrupt.during(async (interrupt) => {
      // In the order given, not in the order listed.
      const order =
        names.length === 0 ? [...idsOf(rows)] : await resolveDelegateIds(invocation, names)
      const outcomes = await mergeAll(invocation, flags, interrupt, order)
      if (json) print({ outcomes }, () => '')
      else if (outcomes.length > 1) output.line(countOutcomes(outcomes))
      exit(interrupt.exitCode(outcomes.length > 0 && outcomes.every(isSuccessfulMerge)))
    })
  },
})

/** Includes a delegate whose merge died. A read-only delegate has nothing to merge. */
function isReady({ status, isOrphaned, isReadOnly }: DelegateRow): boolean {
  return (status === 'ready' || (status === 'merging' && isOrphaned)) && !isReadOnly
}

function refuseConflicts(
  { context, json }: DelegateInvocation,
  { all, group, dryRun, review, pr, wait, noSendBack }: MergeFlags,
  names: readonly string[],
): void {
  if (names.length > 0 && all)
    throw new UsageError('--all means all that are ready', 'leave the names out, or --all')
  if (names.length > 0 && group !== undefined)
    throw new UsageError('--group names them', 'leave the names out, or --group')
  const conflicting = [review && '--review', pr && '--pr', wait && '--wait'].filter(Boolean)
  if (dryRun && conflicting.length > 0) {
    throw new UsageError(
      `--dry-run changes nothing, so ${conflicting.join(' and ')} cannot go with it`,
      'leave one of them out',
    )
  }
  if (pr && (review || wait)) {
    throw new UsageError(
      `--pr leaves it to the pull request, so ${review ? '--review' : '--wait'} cannot go with it`,
    )
  }
  if (wait && noSendBack) {
    throw new UsageError(
      '--wait waits for what is sent back, and --no-send-back sends nothing back',
      'leave one of them out',
    )
  }
  if (review && (!context.canAsk || json)) {
    throw new UsageError(
      '--review needs a terminal to ask on',
      'leave it out, or use a terminal and no --json',
    )
  }
}

async function askToMerge(
  { context, json }: DelegateInvocation,
  rows: readonly DelegateRow[],
): Promise<boolean> {
  if (!context.canAsk || json) {
    throw new UsageError(
      `${plural(rows.length, 'delegate')} could be merged: ${rows.map(delegateLabel).join(', ')}`,
      'stint merge --all merges them, or name those to merge',
    )
  }
  const { askYes } = await import('../../context/ask.ts')
  context.process.stderr.write(`${rows.map(delegateStatusLine).join('\n')}\n`)
  return askYes(`Merge ${rows.length === 1 ? 'it' : `these ${rows.length}`}?`)
}

/** With --wait, further rounds for what was returned for rework. */
async function mergeAll(
  invocation: DelegateInvocation,
  flags: MergeFlags,
  interrupt: Interrupt,
  ids: readonly string[],
): Promise<readonly MergeOutcome[]> {
  const outcomes = new Map<string, MergeOutcome>()
  for (let remaining = ids; remaining.length > 0 && !interrupt.signal.aborted;) {
    const round = await mergeRound(invocation, flags, interrupt, remaining)
    for (const outcome of round) outcomes.set(outcome.delegate, outcome)
    if (!flags.wait) break
    remaining = round.flatMap(({ delegate, isSentBack }) => (isSentBack ? [delegate] : []))
    const sentBack = new Set(remaining)
    const rows = (await invocation.delegates.list()).filter(({ id }) => sentBack.has(id))
    if (!rows.some(isActive)) continue
    invocation.output.info(`waiting for ${rows.map(delegateLabel).join(', ')}`)
    await waitAndPrintDelegates(invocation, rows, interrupt)
  }
  return [...outcomes.values()]
}

async function mergeRound(
  invocation: DelegateInvocation,
  { allowProtected, dryRun, pr, review, noSendBack }: MergeFlags,
  interrupt: Interrupt,
  ids: readonly string[],
): Promise<readonly MergeOutcome[]> {
  const { delegates, redacted, output, json } = invocation
  /** Each outcome is printed once, as it comes or at the end. */
  const printed = new Set<string>()
  const show = (outcome: MergeOutcome) => {
    if (printed.has(outcome.delegate)) return
    printed.add(outcome.delegate)
    const text = describeOutcome(outcome)
    if (!json) output.line(text)
    else for (const line of text.split('\n')) output.info(line.trim())
  }
  const options = {
    isStopped: interrupt.signal,
    isSentBack: !noSendBack && !dryRun,
    ...defined({ isDryRun: dryRun, isPullRequest: pr, allowProtected }),
    ...(review && { review: createReview(invocation, interrupt) }),
  }
  const outcomes = await delegates.merge(ids, options, (rawEvent) => {
    const event = redacted(rawEvent)
    if (event.kind === 'merge.ended') return show(event.data)
    const text = mergeEventText(event)
    if (text !== undefined) output.info(text)
  })
  for (const outcome of redacted(outcomes)) show(outcome)
  return redacted(outcomes)
}

function createReview(
  { context, delegates, redacted }: DelegateInvocation,
  interrupt: Interrupt,
): NonNullable<MergeOptions['review']> {
  const ask = interactiveReview({
    ask: async (message, choices) => {
      const { askChoice } = await import('../../context/ask.ts')
      return askChoice(message, choices)
    },
    say: (text) => void context.process.stderr.write(`${redacted(text)}\n`),
    diff: (from, to) => delegates.diff(from, to),
    cancel: interrupt.trigger,
  })
  return (proposal) => ask(redacted(proposal))
}
