// A merge put before a person: what it brings, the diff when asked for, and yes or no.
import { line } from './text.ts'
import type { MergeOptions, MergeProposal } from '../run/delegate/contract.ts'
import { cleanText } from '../text/clean.ts'
import { describeProposal } from './describe-merge.ts'

type Answer = 'yes' | 'no' | 'diff'

export interface Reviewer {
  /** Undefined when the person leaves. */
  ask(
    message: string,
    choices: readonly { value: Answer; label: string }[],
  ): Promise<Answer | undefined>
  say(text: string): void
  diff(from: string, to: string): string
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
      if (answer === 'diff') say(shownDiff(proposal, diff(proposal.from, proposal.to)))
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
