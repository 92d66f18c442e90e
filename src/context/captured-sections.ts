// What hooks captured: it fills the room that recorded entries leave, most valuable first.
import { type Observations, NO_OBSERVATIONS } from '../command/merge-observations.ts'
import { observationLines } from '../command/observation-lines.ts'
import type { SessionState } from '../session/state.ts'
import { VIEW_COMMANDS, type ContextSection, bullets, paragraph, sectionFrame } from './section.ts'
import { withoutStatements } from '../session/kinds/statements.ts'
import { subjectOf } from '../session/statements/subject-words.ts'
import { type EntryValuer, ageFactor } from './entry-value.ts'

type CapturedStatement = SessionState['statements']['items'][number]

export function statementSections(state: SessionState): readonly ContextSection[] {
  const isKnown = recordedTexts(state)
  const fresh = state.statements.items.filter(({ text }) => !isKnown(text))
  const byUser = fresh.filter(({ speaker }) => speaker === 'user')
  const rules = byUser.filter(({ kind }) => kind === 'rule' || kind === 'decision')
  const facts = byUser.filter(({ kind }) => kind !== 'rule' && kind !== 'decision')
  const byAgent = fresh.filter(({ speaker }) => speaker === 'agent')
  return [
    list(valued(rules, 0.12, 0.1), 'Ruled by the user, in their words:', 'rulings', [3, 90, 500]),
    list(valued(facts, 0.1, 0.1), 'Said by the user:', 'facts from the user', [4, 60, 700]),
    list(
      valued(byAgent, 0.03, 0.06).map((statement) => ({
        ...statement,
        text: `${statement.isConfirmed === true ? '✓ ' : ''}${statement.text}`,
      })),
      'Said by the agent, unconfirmed unless marked ✓ (by a commit or the user):',
      'findings',
      [6, 60, 500],
    ),
  ]
}

/** From `least` by what the statement itself is worth; newer ones are worth more. */
function valued(statements: readonly CapturedStatement[], least: number, span: number) {
  return statements.map((statement, index) => ({
    ...statement,
    value:
      (least + span * statement.value + (statement.kind === 'rule' ? RULE_BONUS : 0)) *
      ageFactor(statements.length - 1 - index),
  }))
}

/** A rule holds until another replaces it. */
const RULE_BONUS = 0.15

/** By type, most useful first; each line names the command that showed it. */
const OBSERVATION_VALUES = {
  tests: 0.5,
  errors: 0.3,
  worked: 0.25,
  versions: 0.15,
  written: 0.12,
} as const

export function observationSection({ observations }: SessionState): ContextSection {
  const known = observations ?? NO_OBSERVATIONS
  const lines = Object.entries(OBSERVATION_VALUES).flatMap(([type, value]) =>
    observationLines({ ...NO_OBSERVATIONS, [type]: known[type as keyof Observations] }).map(
      (text) => ({ text, value }),
    ),
  )
  return list(lines, 'Seen in the output of commands:', 'observations', [5, 60, 500])
}

function list(
  statements: readonly Pick<CapturedStatement, 'text' | 'value'>[],
  heading: string,
  things: string,
  room: readonly [number, number, number],
): ContextSection {
  return bullets(
    statements,
    sectionFrame(heading, things, VIEW_COMMANDS.activity, room, { lengths: [Infinity, 70] }),
  )
}

/** More of them would be old orders, long carried out. */
const MAX_REQUESTS = 20

/** What the user asked for, without what is listed as a statement. */
export function requestSection(state: SessionState, value: EntryValuer): ContextSection {
  const { earlier, items } = state.requests
  const texts = items
    .slice(-MAX_REQUESTS)
    .map(({ asked }) => asked)
    .filter((text) => text.length >= 8)
  return bullets(
    value('request', texts),
    sectionFrame('Asked by the user lately:', 'requests', VIEW_COMMANDS.activity, [10, 60, 110], {
      shelf: { earlier: earlier + Math.max(0, items.length - MAX_REQUESTS) },
    }),
  )
}

export function lastWordsSection(state: SessionState, isOther: boolean): ContextSection {
  return paragraph(
    {
      text: withoutStatements(state.lastTurn?.said ?? '', state.statements.items),
      value: LAST_WORDS_VALUE,
    },
    sectionFrame(
      `The agent's last words${isOther ? ', in an earlier conversation' : ''}:`,
      'last words',
      VIEW_COMMANDS.activity,
      [9, 34, 100],
      { lengths: [160, 110, 80, 55, 35, 18] },
    ),
  )
}

const LAST_WORDS_VALUE = 0.08

/** Whether what people and agents recorded says the same. */
function recordedTexts(state: SessionState): (text: string) => boolean {
  const { key, decisions, discoveries, notes, next, steps, progress, blockers, goal } = state
  const lists = [key, discoveries, notes, next, steps, progress, blockers]
  const texts = [
    goal,
    ...lists.flatMap(({ items }) => items.map(({ text }) => text)),
    ...decisions.items.map(({ text, choice = '', rationale = '' }) =>
      [text, choice, rationale].join(' '),
    ),
  ]
  const known = texts.map((text) => ({ text, ...subjectOf(text) }))
  return (text) => {
    const { words, values } = subjectOf(text)
    if (words.size === 0) return false
    const least = REPEATED_SHARE * words.size
    return known.some((recorded) => {
      if (recorded.words.size < least) return false
      let shared = 0
      for (const word of words) if (recorded.words.has(word)) shared += 1
      // Another number or name is another fact.
      return shared >= least && values.every((value) => recorded.text.includes(value.text))
    })
  }
}

const REPEATED_SHARE = 0.85
