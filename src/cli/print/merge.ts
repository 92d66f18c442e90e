// The merge queue in words: its events, what came of each delegate, and the review by a person.
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

/** Undefined for the end of one, which is a result. */
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
  return MARKS[how] === '✓'
}

export function describeOutcome(outcome: MergeOutcome): string {
  const { next, contradictions = [] } = outcome
  return joinLines(
    `${MARKS[outcome.how]} ${shortLine(outcome.name, 60)} ${outcomeWords(outcome)}`,
    contradictions.map(contradiction),
    next !== undefined && `   ${shortLine(next, 400)}`,
  )
}

function contradiction(text: string) {
  return `   ⚠ ${shortLine(text, 400)}`
}

const MARKS: Readonly<Record<MergeOutcome['how'], string>> = {
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

function outcomeWords(outcome: MergeOutcome) {
  const { commit, files = [], pr } = outcome
  const into = shortLine(outcome.target, 60)
  const back = outcome.isSentBack === true ? '; it was sent back to be mended' : ''
  const why = reasonSuffix(outcome.because, 400)
  switch (outcome.how) {
    case 'merged':
      return `merged into ${into}${commit === undefined ? '' : ` at ${commitPrefix(commit)}`}${why}`
    case 'would merge':
      return `would be merged into ${into}${why}`
    case 'pull request':
      return `has a pull request${pr === undefined ? '' : `: ${shortLine(pr, 300)}`}`
    case 'conflicted':
      return `conflicted${why === '' ? ` with ${into} in ${fileList(files)}` : why}${back}`
    case 'red':
      return `is red on ${into}${why}${back}`
    case 'parked':
      return `parked${why}`
    case 'waiting':
      return `is ready, and ${into} was not moved${why}`
    case 'refused':
      return 'refused in the review'
    case 'not ready':
      return `is not ready${why}`
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
  const text = (value: string) => indent(cleanText(value.slice(0, 8000)).trimEnd())
  return joinLines(
    `${shortLine(name, 60)} into ${shortLine(target, 60)}, ${commitPrefix(from)}..${commitPrefix(to)}`,
    shortLine(summary) !== '' && text(summary),
    stat.trim() !== '' && text(stat),
    contradictions.map(contradiction),
  )
}

type Answer = 'yes' | 'no' | 'diff'

export interface Reviewer {
  /** Undefined when the person leaves. */
  ask(
    message: string,
    choices: readonly { value: Answer; label: string }[],
  ): Promise<Answer | undefined>
  say(text: string): void
  diff(from: string, to: string): string | Promise<string>
  leave(): void
}

const MOST_LINES = 2000

const CHOICES = [
  { value: 'yes', label: 'Yes, merge it' },
  { value: 'no', label: 'No, it stays ready' },
  { value: 'diff', label: 'Show the diff' },
] as const

export function interactiveReview({
  ask,
  say,
  diff,
  leave,
}: Reviewer): NonNullable<MergeOptions['review']> {
  return async (proposal) => {
    const { name, target, from, to } = proposal
    say(describeProposal(proposal))
    for (;;) {
      const answer = await ask(
        `Merge ${shortLine(name, 60)} into ${shortLine(target, 60)}?`,
        CHOICES,
      )
      if (answer === 'diff') {
        const lines = cleanText(await diff(from, to)).split('\n')
        const more = lines.length - MOST_LINES
        say(
          joinLines(
            lines.slice(0, MOST_LINES),
            more > 0 && `… ${more} more lines: git diff ${from} ${to}`,
          ),
        )
        continue
      }
      if (answer === undefined) leave()
      return answer === 'yes'
    }
  }
}
