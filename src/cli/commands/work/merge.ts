import { refuseInRun } from '../../../core.ts'
import type {
  DelegateRow,
  MergeEvent,
  MergeOptions,
  MergeOutcome,
  QueueOptions,
} from '../../../library.ts'
import { plural } from '../../print/terminal/text.ts'
import { buildCommand } from '@stricli/core'
import {
  type DelegateScene,
  chosenDelegates,
  delegateNames,
  idsNamed,
  idsOf,
  withDelegates,
} from '../../context/with-delegates.ts'
import type { Context } from '../../context/context.ts'
import { isAtWork, nameOf, rowLine } from '../../print/delegate.ts'
import {
  countOutcomes,
  describeOutcome,
  isAsWanted,
  mergeEventWords,
  reviewBy,
} from '../../print/merge.ts'
import { Misuse } from '../../context/errors.ts'
import { json, text, toggle } from '../../context/flags.ts'
import { Interrupt } from '../../context/interrupt.ts'
import { waitFor } from '../../print/watch-delegates.ts'
import { defined } from '../../../text/defined.ts'

interface MergeFlags {
  readonly all?: boolean
  readonly group?: string
  readonly dryRun?: boolean
  readonly review?: boolean
  readonly noSendBack?: boolean
  readonly pr?: boolean
  readonly wait?: boolean
  readonly json?: boolean
}

export const merge = buildCommand<MergeFlags, string[], Context>({
  docs: {
    brief: 'Bring the work of delegates into the branches it is meant for',
    fullDescription:
      'One after another, each in a worktree made for it: merged, set up and verified there. Only then the target moves, by fast-forward, and only\nif it has not moved meanwhile. What conflicts or is red is sent back to its delegate, and parked after some times; the others go on.\nA checkout with changes in it is not touched. Exit codes: 0 all were merged, 1 otherwise, 130 interrupted.',
    customUsage: [
      { input: 'fix-login', brief: 'this one' },
      { input: '--all', brief: 'all that are ready' },
      { input: '--all --dry-run', brief: 'what would come of it' },
      { input: '--group release --review', brief: 'those of a group, each put before you' },
      { input: '--all --wait', brief: 'and wait for those that are sent back' },
      { input: 'fix-login --pr', brief: 'a pull request instead, by gh' },
    ],
  },
  parameters: {
    positional: delegateNames('The delegates to merge, in this order'),
    flags: {
      all: toggle('All that are ready'),
      group: text('All of this group that are ready', 'GROUP'),
      dryRun: toggle('Say what would come of it and change nothing'),
      review: toggle('Ask before each is merged, with what it brings'),
      noSendBack: toggle('Leave what conflicts or is red as it is'),
      pr: toggle('Open a pull request through gh instead'),
      wait: toggle('Go on until those that were sent back are merged or parked'),
      json,
    },
  },
  async func(flags, ...names) {
    await withDelegates(this, flags, async (scene) => {
      refuseInRun(this, 'merging')
      refuseTogether(this, flags, names)
      const { output, shown } = scene
      const rows = shown(await chosenDelegates(scene, { names, group: flags.group, fits: isReady }))
      if (rows.length === 0) return output.result(flags.json, { outcomes: [] }, () => NOTHING_READY)
      if (
        names.length === 0 &&
        flags.all !== true &&
        flags.group === undefined &&
        !(await agreed(this, flags, rows))
      ) {
        return output.talk('nothing was merged')
      }
      const interrupt = new Interrupt()
      try {
        // As they were named, and not as they are listed.
        const order = names.length === 0 ? [...idsOf(rows)] : await idsNamed(scene, names)
        const outcomes = await new Merging(this, flags, scene, interrupt).merge(order)
        const isDone = outcomes.length > 0 && outcomes.every(isAsWanted)
        if (flags.json === true) output.line(JSON.stringify({ outcomes }, undefined, 2))
        else if (outcomes.length > 1) output.line(countOutcomes(outcomes))
        this.process.exitCode = interrupt.exitCode(isDone)
      } finally {
        interrupt.dispose()
      }
    })
  },
})

const NOTHING_READY = 'No delegate is ready to be merged: stint delegates shows how they stand.'

/** Also what somebody died in merging. What reads only has nothing to merge. */
function isReady({ status, isOrphaned, isReadOnly }: DelegateRow): boolean {
  return (status === 'ready' || (status === 'merging' && isOrphaned)) && !isReadOnly
}

function refuseTogether(context: Context, flags: MergeFlags, names: readonly string[]): void {
  const { all, group, dryRun, review, pr, wait, noSendBack } = flags
  if (names.length > 0 && all === true)
    throw new Misuse('--all means all that are ready', 'leave the names out, or --all')
  if (names.length > 0 && group !== undefined)
    throw new Misuse('--group names them', 'leave the names out, or --group')
  const others = { '--review': review, '--pr': pr, '--wait': wait }
  const given = Object.entries(others).flatMap(([name, isGiven]) =>
    isGiven === true ? [name] : [],
  )
  if (dryRun === true && given.length > 0) {
    throw new Misuse(
      `--dry-run changes nothing, so ${given.join(' and ')} cannot go with it`,
      'leave one of them out',
    )
  }
  if (pr === true && (review === true || wait === true)) {
    throw new Misuse(
      `--pr leaves it to the pull request, so ${review === true ? '--review' : '--wait'} cannot go with it`,
    )
  }
  if (wait === true && noSendBack === true) {
    throw new Misuse(
      '--wait waits for what is sent back, and --no-send-back sends nothing back',
      'leave one of them out',
    )
  }
  if (review === true && (!context.canAsk || flags.json === true)) {
    throw new Misuse(
      '--review needs a terminal to ask on',
      'leave it out, or use a terminal and no --json',
    )
  }
}

async function agreed(
  context: Context,
  flags: MergeFlags,
  rows: readonly DelegateRow[],
): Promise<boolean> {
  if (!context.canAsk || flags.json === true) {
    const names = rows.map(nameOf).join(', ')
    throw new Misuse(
      `${plural(rows.length, 'delegate')} could be merged: ${names}`,
      'stint merge --all merges them, or name those to merge',
    )
  }
  const { askYes } = await import('../../context/ask.ts')
  context.process.stderr.write(`${rows.map(rowLine).join('\n')}\n`)
  return askYes(`Merge ${rows.length === 1 ? 'it' : `these ${rows.length}`}?`)
}

/** One call of the command: the queue, and the rounds after it for what was sent back. */
class Merging {
  readonly #context: Context
  readonly #flags: MergeFlags
  readonly #scene: DelegateScene
  readonly #interrupt: Interrupt
  /** Outcomes that were told as they came. */
  readonly #told = new Set<string>()

  constructor(context: Context, flags: MergeFlags, scene: DelegateScene, interrupt: Interrupt) {
    this.#context = context
    this.#flags = flags
    this.#scene = scene
    this.#interrupt = interrupt
  }

  async merge(ids: readonly string[]): Promise<readonly MergeOutcome[]> {
    const outcomes = new Map<string, MergeOutcome>()
    let left = ids
    while (left.length > 0 && !this.#interrupt.signal.aborted) {
      const round = await this.#round(left)
      for (const outcome of round) outcomes.set(outcome.delegate, outcome)
      left =
        this.#flags.wait === true
          ? round.flatMap((outcome) => (outcome.isSentBack === true ? [outcome.delegate] : []))
          : []
      if (left.length > 0) await this.#untilDone(left)
    }
    return [...outcomes.values()]
  }

  async #round(ids: readonly string[]): Promise<readonly MergeOutcome[]> {
    this.#told.clear()
    const { delegates, shown } = this.#scene
    const outcomes = shown(
      await delegates.merge(ids, this.#options(), (event) => this.#tell(shown(event))),
    )
    for (const outcome of outcomes) this.#show(outcome)
    return outcomes
  }

  #options(): QueueOptions {
    const { dryRun, pr, review, noSendBack } = this.#flags
    return {
      isStopped: this.#interrupt.signal,
      isSentBack: noSendBack !== true && dryRun !== true,
      ...defined({
        isDryRun: dryRun,
        isPullRequest: pr,
        review: review === true ? this.#review() : undefined,
      }),
    }
  }

  #review(): NonNullable<MergeOptions['review']> {
    const { delegates, shown } = this.#scene
    const ask = reviewBy({
      ask: async (message, choices) => {
        const { askOne } = await import('../../context/ask.ts')
        return askOne(message, choices)
      },
      say: (words) => void this.#context.process.stderr.write(`${shown(words)}\n`),
      diff: (from, to) => delegates.diff(from, to),
      leave: this.#interrupt.now,
    })
    return (proposal) => ask(shown(proposal))
  }

  #tell(event: MergeEvent): void {
    if (event.kind === 'merge.ended') return this.#show(event.data)
    const words = mergeEventWords(event)
    if (words !== undefined) this.#scene.output.talk(words)
  }

  /** Once each round, as it comes where it is told as it comes. */
  #show(outcome: MergeOutcome): void {
    if (this.#told.has(outcome.delegate)) return
    this.#told.add(outcome.delegate)
    const words = describeOutcome(outcome)
    if (this.#flags.json !== true) this.#scene.output.line(words)
    else for (const each of words.split('\n')) this.#scene.output.talk(each.trim())
  }

  async #untilDone(ids: readonly string[]): Promise<void> {
    const rows = (await this.#scene.delegates.list()).filter(({ id }) => ids.includes(id))
    if (!rows.some(isAtWork)) return
    this.#scene.output.talk(`waiting for ${rows.map(nameOf).join(', ')}`)
    await waitFor(this.#context, this.#scene, rows, this.#interrupt)
  }
}
