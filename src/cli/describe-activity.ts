import { type Item, type SessionState, type Shelf, count } from '../session/state.ts'
import { oneLine, shorten } from '../text/clean.ts'
import { delegateLine } from '../document/delegate-line.ts'
import { minute } from '../text/times.ts'

const LONGEST = 200

/** What hooks noticed by themselves, for programs. */
export function activityJson(state: SessionState) {
  const { requests, changedFiles, commits, tests, agents, delegates, conversations, lastTurn } =
    state
  return {
    requests: requests.items,
    files: changedFiles.items.map(({ text }) => text),
    commits: commits.items,
    tests: tests.items,
    agents: agents.items,
    delegates: delegates.items,
    conversations: conversations.items,
    last_turn: lastTurn,
  }
}

/** The same for a person. */
export function describeActivity(state: SessionState): string {
  const { lastTurn } = state
  const parts = [
    part(
      'Requests',
      state.requests,
      ({ text, isRuling }) => `${isRuling ? '(ruling) ' : ''}${text}`,
    ),
    part('Files Changed', state.changedFiles, ({ text }) => text),
    part('Commits', state.commits, ({ text, commit }) => `${commit.slice(0, 7)} ${text}`),
    part('Test Runs', state.tests, ({ text, passed, summary }) => {
      return `${passed ? 'passed' : 'FAILED'}: ${text}${summary === undefined ? '' : ` (${oneLine(summary)})`}`
    }),
    part(
      'Agents',
      state.agents,
      ({ text, result }) => `${text}${result === undefined ? '' : `: ${result}`}`,
    ),
    part('Delegates', state.delegates, delegateLine),
    part('Conversations', state.conversations, ({ text, harness, reason }) => {
      return `${harness} ${text}${reason === undefined ? '' : ` (ended: ${reason})`}`
    }),
    ...(lastTurn === undefined ? [] : [lastSaid(lastTurn)]),
  ].filter((text) => text !== '')
  return parts.length === 0 ? 'No hook has noticed anything in this session.' : parts.join('\n\n')
}

function part<T extends Item>(title: string, shelf: Shelf<T>, line: (item: T) => string): string {
  if (count(shelf) === 0) return ''
  const earlier =
    shelf.earlier === 0 ? [] : [`- … and ${shelf.earlier} earlier: stint view --entries`]
  const lines = shelf.items.map(
    (item) => `- ${minute(item.at)} ${shorten(oneLine(line(item)), LONGEST)}`,
  )
  return [`## ${title}`, ...earlier, ...lines].join('\n')
}

function lastSaid({ at, said, failure, usage }: NonNullable<SessionState['lastTurn']>): string {
  const tokens =
    usage === undefined
      ? []
      : [`Context: ${usage.input + usage.cacheRead + usage.cacheWritten} tokens`]
  const failed = failure === undefined ? [] : [`Failed: ${oneLine(failure)}`]
  return [
    '## Last Turn',
    `${minute(at)} ${said === undefined ? '' : shorten(oneLine(said), 600)}`.trimEnd(),
    ...failed,
    ...tokens,
  ].join('\n')
}
