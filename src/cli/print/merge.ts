// The merge queue in words: what it does, and what came of each.
// A merge put before a person: what it brings, the diff when asked for, and yes or no.
import type { MergeEvent, MergeOptions, MergeOutcome, MergeProposal } from '../../library.ts'
import { fileList, indent, line, plural } from './terminal/text.ts'
import { cleanText } from '../../text/clean.ts'
import { span } from './terminal/amounts.ts'
import { commitName } from './run/words.ts'

/** Undefined for what is told otherwise: how one ended is a result. */
export function mergeEventWords(event: MergeEvent): string | undefined {
  const name = line(event.delegate ?? '', 60)
  switch (event.kind) {
    case 'merge.started':
      return `${name}: merging into ${line(event.data.target, 60)}`
    case 'setup.started':
      return `${name}: making the worktree ready with ${line(event.data.command, 80)}`
    case 'verify.started':
      return `${name}: verifying with ${line(event.data.command, 80)}`
    case 'verify.ended':
      return `${name}: ${event.data.passed ? 'verified' : 'verify FAILED'} after ${span(event.data.seconds)}`
    case 'message':
      return line(event.data.text, 400)
    case 'merge.ended':
      return undefined
  }
}

function name(outcome: { readonly name: string }): string {
  return line(outcome.name, 60)
}

/** It is in the target, or would be, or is where somebody else decides it. */
export function isAsWanted({ how }: MergeOutcome): boolean {
  return how === 'merged' || how === 'would merge' || how === 'pull request'
}

/** What came of one, why, and what to do next. */
export function describeOutcome(outcome: MergeOutcome): string {
  const { next, contradictions = [] } = outcome
  return [
    `${MARKS[outcome.how]} ${name(outcome)} ${outcomeWords(outcome)}`,
    ...contradictions.map((text) => `   ⚠ ${line(text, 400)}`),
    ...(next === undefined ? [] : [`   ${line(next, 400)}`]),
  ].join('\n')
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

function outcomeWords({
  how,
  target,
  commit,
  because,
  files = [],
  isSentBack,
  pr,
}: MergeOutcome): string {
  const into = line(target, 60)
  const at = commit === undefined ? '' : ` at ${commitName(commit)}`
  const back = isSentBack === true ? '; it was sent back to be mended' : ''
  const why = because === undefined || line(because) === '' ? '' : `: ${line(because, 400)}`
  switch (how) {
    case 'merged':
      return `merged into ${into}${at}${why}`
    case 'would merge':
      return `would be merged into ${into}${why}`
    case 'pull request':
      return `has a pull request${pr === undefined ? '' : `: ${line(pr, 300)}`}`
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

/** What a person decides on. */
export function describeProposal({
  name: called,
  target,
  from,
  to,
  stat,
  summary,
  contradictions,
}: MergeProposal): string {
  const text = (value: string) => indent(cleanText(value.slice(0, 8000)).trimEnd())
  return [
    `${line(called, 60)} into ${line(target, 60)}, ${commitName(from)}..${commitName(to)}`,
    ...(summary === undefined || line(summary) === '' ? [] : [text(summary)]),
    ...(stat.trim() === '' ? [] : [text(stat)]),
    ...contradictions.map((each) => `   ⚠ ${line(each, 400)}`),
  ].join('\n')
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
  /** The person left: no more is asked. */
  leave(): void
}

const MOST_LINES = 2000

export function reviewBy({ ask, say, diff, leave }: Reviewer): NonNullable<MergeOptions['review']> {
  return async (proposal) => {
    say(describeProposal(proposal))
    for (;;) {
      const answer = await ask(
        `Merge ${line(proposal.name, 60)} into ${line(proposal.target, 60)}?`,
        CHOICES,
      )
      if (answer === 'diff') say(shownDiff(proposal, await diff(proposal.from, proposal.to)))
      else {
        if (answer === undefined) leave()
        return answer === 'yes'
      }
    }
  }
}

const CHOICES = [
  { value: 'yes', label: 'Yes, merge it' },
  { value: 'no', label: 'No, it stays ready' },
  { value: 'diff', label: 'Show the diff' },
] as const

function shownDiff({ from, to }: MergeProposal, diff: string): string {
  const lines = cleanText(diff).split('\n')
  if (lines.length <= MOST_LINES) return lines.join('\n')
  return [
    ...lines.slice(0, MOST_LINES),
    `… ${lines.length - MOST_LINES} more lines: git diff ${from} ${to}`,
  ].join('\n')
}
