import { refuseInRun } from '../../../core.ts'
import type { DelegateRow, MergeOptions, MergeOutcome } from '../../../library.ts'
import { defined } from '../../../text/defined.ts'
import type { Flags } from '../../context/command.ts'
import {
  type DelegateScene,
  chosenDelegates,
  delegateCommand,
  delegateNames,
  idsNamed,
  idsOf,
} from '../../context/delegates.ts'
import { Interrupt, Misuse } from '../../context/context.ts'
import { text, toggle } from '../../context/flags.ts'
import { isAtWork, nameOf, rowLine } from '../../print/delegate.ts'
import {
  countOutcomes,
  describeOutcome,
  isAsWanted,
  mergeEventWords,
  reviewBy,
} from '../../print/merge.ts'
import { plural } from '../../print/terminal/text.ts'
import { waitFor } from '../../print/watch-delegates.ts'

const FLAGS = {
  all: toggle('All that are ready'),
  group: text('All of this group that are ready', 'GROUP'),
  dryRun: toggle('Say what would come of it and change nothing'),
  review: toggle('Ask before each is merged, with what it brings'),
  noSendBack: toggle('Leave what conflicts or is red as it is'),
  pr: toggle('Open a pull request through gh instead'),
  wait: toggle('Go on until those that were sent back are merged or parked'),
}

type MergeFlags = Flags<typeof FLAGS>

export const merge = delegateCommand({
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
  args: delegateNames('The delegates to merge, in this order'),
  flags: FLAGS,
  async run(scene, flags, ...names) {
    const { context, output, shown, print, exit, json } = scene
    const { all, group } = flags
    refuseInRun(context, 'merging')
    refuseTogether(scene, flags, names)
    const rows = shown(await chosenDelegates(scene, { names, group, fits: isReady }))
    if (rows.length === 0)
      return print(
        { outcomes: [] },
        () => 'No delegate is ready to be merged: stint delegates shows how they stand.',
      )
    const isNamed = names.length > 0 || all || group !== undefined
    if (!isNamed && !(await askToMerge(scene, rows))) return output.talk('nothing was merged')
    await Interrupt.during(async (interrupt) => {
      // As they were named, and not as they are listed.
      const order = names.length === 0 ? [...idsOf(rows)] : await idsNamed(scene, names)
      const outcomes = await mergeAll(scene, flags, interrupt, order)
      if (json) print({ outcomes }, () => '')
      else if (outcomes.length > 1) output.line(countOutcomes(outcomes))
      exit(interrupt.exitCode(outcomes.length > 0 && outcomes.every(isAsWanted)))
    })
  },
})

/** Also what somebody died in merging. What reads only has nothing to merge. */
function isReady({ status, isOrphaned, isReadOnly }: DelegateRow): boolean {
  return (status === 'ready' || (status === 'merging' && isOrphaned)) && !isReadOnly
}

function refuseTogether(
  { context, json }: DelegateScene,
  { all, group, dryRun, review, pr, wait, noSendBack }: MergeFlags,
  names: readonly string[],
): void {
  if (names.length > 0 && all)
    throw new Misuse('--all means all that are ready', 'leave the names out, or --all')
  if (names.length > 0 && group !== undefined)
    throw new Misuse('--group names them', 'leave the names out, or --group')
  const given = [review && '--review', pr && '--pr', wait && '--wait'].filter(Boolean)
  if (dryRun && given.length > 0) {
    throw new Misuse(
      `--dry-run changes nothing, so ${given.join(' and ')} cannot go with it`,
      'leave one of them out',
    )
  }
  if (pr && (review || wait)) {
    throw new Misuse(
      `--pr leaves it to the pull request, so ${review ? '--review' : '--wait'} cannot go with it`,
    )
  }
  if (wait && noSendBack) {
    throw new Misuse(
      '--wait waits for what is sent back, and --no-send-back sends nothing back',
      'leave one of them out',
    )
  }
  if (review && (!context.canAsk || json)) {
    throw new Misuse(
      '--review needs a terminal to ask on',
      'leave it out, or use a terminal and no --json',
    )
  }
}

async function askToMerge(
  { context, json }: DelegateScene,
  rows: readonly DelegateRow[],
): Promise<boolean> {
  if (!context.canAsk || json) {
    throw new Misuse(
      `${plural(rows.length, 'delegate')} could be merged: ${rows.map(nameOf).join(', ')}`,
      'stint merge --all merges them, or name those to merge',
    )
  }
  const { askYes } = await import('../../context/ask.ts')
  context.process.stderr.write(`${rows.map(rowLine).join('\n')}\n`)
  return askYes(`Merge ${rows.length === 1 ? 'it' : `these ${rows.length}`}?`)
}

/** The queue, and with --wait the rounds after it for what was sent back. */
async function mergeAll(
  scene: DelegateScene,
  flags: MergeFlags,
  interrupt: Interrupt,
  ids: readonly string[],
): Promise<readonly MergeOutcome[]> {
  const outcomes = new Map<string, MergeOutcome>()
  for (let left = ids; left.length > 0 && !interrupt.signal.aborted;) {
    const round = await mergeRound(scene, flags, interrupt, left)
    for (const outcome of round) outcomes.set(outcome.delegate, outcome)
    if (!flags.wait) break
    left = round.flatMap(({ delegate, isSentBack }) => (isSentBack ? [delegate] : []))
    const sentBack = new Set(left)
    const rows = (await scene.delegates.list()).filter(({ id }) => sentBack.has(id))
    if (!rows.some(isAtWork)) continue
    scene.output.talk(`waiting for ${rows.map(nameOf).join(', ')}`)
    await waitFor(scene.context, scene, rows, interrupt)
  }
  return [...outcomes.values()]
}

async function mergeRound(
  scene: DelegateScene,
  { dryRun, pr, review, noSendBack }: MergeFlags,
  interrupt: Interrupt,
  ids: readonly string[],
): Promise<readonly MergeOutcome[]> {
  const { delegates, shown, output, json } = scene
  /** Each outcome once: as it comes where it is told as it comes. */
  const told = new Set<string>()
  const show = (outcome: MergeOutcome) => {
    if (told.has(outcome.delegate)) return
    told.add(outcome.delegate)
    const words = describeOutcome(outcome)
    if (!json) output.line(words)
    else for (const each of words.split('\n')) output.talk(each.trim())
  }
  const options = {
    isStopped: interrupt.signal,
    isSentBack: !noSendBack && !dryRun,
    ...defined({ isDryRun: dryRun, isPullRequest: pr }),
    ...(review && { review: askEach(scene, interrupt) }),
  }
  const outcomes = await delegates.merge(ids, options, (each) => {
    const event = shown(each)
    if (event.kind === 'merge.ended') return show(event.data)
    const words = mergeEventWords(event)
    if (words !== undefined) output.talk(words)
  })
  for (const outcome of shown(outcomes)) show(outcome)
  return shown(outcomes)
}

function askEach(
  { context, delegates, shown }: DelegateScene,
  interrupt: Interrupt,
): NonNullable<MergeOptions['review']> {
  const ask = reviewBy({
    ask: async (message, choices) => {
      const { askOne } = await import('../../context/ask.ts')
      return askOne(message, choices)
    },
    say: (words) => void context.process.stderr.write(`${shown(words)}\n`),
    diff: (from, to) => delegates.diff(from, to),
    leave: interrupt.now,
  })
  return (proposal) => ask(shown(proposal))
}
