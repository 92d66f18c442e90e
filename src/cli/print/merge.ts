// The merge queue as text: its events, the outcomes, and the review by the user.
import type { MergeEvent, MergeOptions, MergeOutcome, MergeProposal } from '../../library.ts'
import { cleanText } from '../../text/clean.ts'
import {
  reasonSuffix,
  commitPrefix,
  fileList,
  indent,
  joinLines,
  shortLine,
  plural,
  durationText,
} from './terminal/text.ts'

/** Undefined for the end of a merge, which is printed as a result. */
export function mergeEventText({ kind, data, delegate = '' }: MergeEvent): string | undefined {
  const name = shortLine(delegate, 60)
  switch (kind) {
    case 'merge.started':
      return `${name}: merging into ${shortLine(data.target, 60)}`
    case 'setup.started':
      return `${name}: making the worktree ready with ${shortLine(data.command, 80)}`
    case 'verify.started':
      return `${name}: verifying with ${shortLine(data.command, 80)}`
    case 'verify.ended':
      return `${name}: ${data.passed ? 'verified' : 'verify FAILED'} after ${durationText(data.seconds)}`
    case 'message':
      return shortLine(data.text, 400)
    case 'merge.ended':
      return undefined
  }
}

export function isSuccessfulMerge({ how }: MergeOutcome): boolean {
  return OUTCOME_SYMBOLS[how] === '✓'
}

export function describeOutcome(outcome: MergeOutcome): string {
  const { next, contradictions = [] } = outcome
  return joinLines(
    `${OUTCOME_SYMBOLS[outcome.how]} ${shortLine(outcome.name, 60)} ${outcomeText(outcome)}`,
    contradictions.map(contradictionLine),
    next !== undefined && `   ${shortLine(next, 400)}`,
  )
}

function contradictionLine(block: string) {
  return `   ⚠ ${shortLine(block, 400)}`
}

const OUTCOME_SYMBOLS: Readonly<Record<MergeOutcome['how'], string>> = {
  merged: '✓',
  'would merge': '✓',
  'pull request': '✓',
  conflicted: '✗',
  red: '✗',
  parked: '⊘',
  waiting: '○',
  refused: '○',
  'not ready': '○',
}

function outcomeText(outcome: MergeOutcome) {
  const { commit, files = [], pr } = outcome
  const targetLabel = shortLine(outcome.target, 60)
  const reworkText = outcome.isSentBack === true ? '; it was sent back to be mended' : ''
  const reasonText = reasonSuffix(outcome.because, 400)
  switch (outcome.how) {
    case 'merged':
      return `merged into ${targetLabel}${commit === undefined ? '' : ` at ${commitPrefix(commit)}`}${reasonText}`
    case 'would merge':
      return `would be merged into ${targetLabel}${reasonText}`
    case 'pull request':
      return `has a pull request${pr === undefined ? '' : `: ${shortLine(pr, 300)}`}`
    case 'conflicted':
      return `conflicted${reasonText === '' ? ` with ${targetLabel} in ${fileList(files)}` : reasonText}${reworkText}`
    case 'red':
      return `is red on ${targetLabel}${reasonText}${reworkText}`
    case 'parked':
      return `parked${reasonText}`
    case 'waiting':
      return `is ready, and ${targetLabel} was not moved${reasonText}`
    case 'refused':
      return 'refused in the review'
    case 'not ready':
      return `is not ready${reasonText}`
  }
}

/** `2 merged, 1 conflicted` */
export function countOutcomes(outcomes: readonly MergeOutcome[]): string {
  const counts = new Map<string, number>()
  for (const { how } of outcomes) counts.set(how, (counts.get(how) ?? 0) + 1)
  return [...counts]
    .map(([how, count]) => (how === 'pull request' ? plural(count, how) : `${count} ${how}`))
    .join(', ')
}

export function describeProposal(proposal: MergeProposal): string {
  const { name, target, from, to, stat, summary = '', contradictions } = proposal
  const block = (value: string) => indent(cleanText(value.slice(0, 8000)).trimEnd())
  return joinLines(
    `${shortLine(name, 60)} into ${shortLine(target, 60)}, ${commitPrefix(from)}..${commitPrefix(to)}`,
    shortLine(summary) !== '' && block(summary),
    stat.trim() !== '' && block(stat),
    contradictions.map(contradictionLine),
  )
}

type ReviewAnswer = 'yes' | 'no' | 'diff'

export interface Reviewer {
  /** Undefined when the user cancels. */
  ask(
    message: string,
    choices: readonly { value: ReviewAnswer; label: string }[],
  ): Promise<ReviewAnswer | undefined>
  say(block: string): void
  diff(from: string, to: string): string | Promise<string>
  cancel(): void
}

const MAX_DIFF_LINES = 2000

const REVIEW_CHOICES = [
  { value: 'yes', label: 'Yes, merge it' },
  { value: 'no', label: 'No, it stays ready' },
  { value: 'diff', label: 'Show the diff' },
] as const

export function interactiveReview({
  ask,
  say,
  diff,
  cancel,
}: Reviewer): NonNullable<MergeOptions['review']> {
  return async (proposal) => {
    const { name, target, from, to } = proposal
    say(describeProposal(proposal))
    for (;;) {
      const answer = await ask(
        `Merge ${shortLine(name, 60)} into ${shortLine(target, 60)}?`,
        REVIEW_CHOICES,
      )
      if (answer === 'diff') {
        const lines = cleanText(await diff(from, to)).split('\n')
        const more = lines.length - MAX_DIFF_LINES
        say(
          joinLines(
            lines.slice(0, MAX_DIFF_LINES),
            more > 0 && `… ${more} more lines: git diff ${from} ${to}`,
          ),
        )
        continue
      }
      if (answer === undefined) cancel()
      return answer === 'yes'
    }
  }
}
