// The token costs of a session in each format, as docs/export.md shows them. Written by scripts/token-table.mjs.
import { createHash } from 'node:crypto'
import { encode } from '@toon-format/toon'
import { Tokenizer } from 'ai-tokenizer'
import * as claude from 'ai-tokenizer/encoding/claude'
import * as o200k from 'ai-tokenizer/encoding/o200k_base'
import { fold } from '../../../src/session/fold.ts'
import type { RawEntry } from '../../../src/session/effective-entries.ts'
import type { SessionState } from '../../../src/session/state.ts'
import {
  renderStateJson,
  renderStateToon,
  summarizeSession,
} from '../../../src/document/state-files.ts'
import { publicSession } from '../../../src/session/public-session.ts'
import { FACTS, longStory } from '../../context/sessions.ts'
import { SESSION_ID, type Story, sweepStory } from '../../support/worlds.ts'

type CountTokens = (text: string) => number

export const VOCABULARIES = {
  o200k: countBy(new Tokenizer(o200k)),
  Claude: countBy(new Tokenizer(claude)),
}

const STORIES = { small: sweepStory, medium: longStory, long: monthStory }

export type SessionSize = keyof typeof STORIES

const SAME =
  '| session | fields | vocabulary | JSON, indented | JSON, compact | TOON | against indented | against compact |'
const IN_ALL = '| session | entries | vocabulary | whole state, JSON | summary, TOON | saved |'

/** Two tables: the same fields in both formats, and `--format json` against `--format toon`. */
export function tokenTable(): string {
  const same: string[] = []
  const inAll: string[] = []
  for (const size of Object.keys(STORIES) as SessionSize[]) {
    const state = stateOf(size)
    for (const [vocabulary, tokens] of Object.entries(VOCABULARIES)) {
      for (const [fields, value] of Object.entries({
        state: publicSession(state),
        summary: summarizeSession(publicSession(state)),
      })) {
        const { indented, compact, toon } = sameFields(value, tokens)
        same.push(
          row(
            size,
            fields,
            vocabulary,
            indented,
            compact,
            toon,
            change(indented, toon),
            change(compact, toon),
          ),
        )
      }
      const { whole, summary } = wholeAndSummary(state, tokens)
      inAll.push(row(size, state.entryCount, vocabulary, whole, summary, change(whole, summary)))
    }
  }
  return [SAME, ruleFor(SAME), ...same, '', IN_ALL, ruleFor(IN_ALL), ...inAll].join('\n')
}

export function sameFields(value: object, tokens: CountTokens) {
  return {
    indented: tokens(JSON.stringify(value, undefined, 2)),
    compact: tokens(JSON.stringify(value)),
    toon: tokens(encode(value)),
  }
}

export function wholeAndSummary(state: SessionState, tokens: CountTokens) {
  return { whole: tokens(renderStateJson(state)), summary: tokens(renderStateToon(state)) }
}

function countBy(tokenizer: Tokenizer): CountTokens {
  return (text) => tokenizer.encode(text, [], []).length
}

export function row(...cells: readonly (string | number)[]): string {
  return `| ${cells.join(' | ')} |`
}

export function ruleFor(head: string): string {
  return head.replaceAll(/[^|]+/g, '---')
}

export function change(from: number, to: number): string {
  const percent = Math.round((1 - to / from) * 100)
  return `${percent < 0 ? '+' : '−'}${Math.abs(percent)} %`
}

export function stateOf(size: SessionSize): SessionState {
  return fold(SESSION_ID, entriesOf(size))
}

/** Random ids cost a varying number of tokens, so here they are the same each time. */
export function entriesOf(size: SessionSize): readonly RawEntry[] {
  const settled = JSON.stringify(STORIES[size]().entries).replaceAll(
    /([0-9a-f]{8}-[0-9a-f]{4}-7)[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g,
    (_, time: string) => {
      const chance = createHash('sha256').update(time).digest('hex')
      return `${time}${chance.slice(0, 3)}-8${chance.slice(3, 6)}-${chance.slice(6, 18)}`
    },
  )
  return JSON.parse(settled) as RawEntry[]
}

/** A month of work: hundreds of notes, steps and files, with a checkpoint now and then. */
function monthStory(): Story {
  const story = longStory()
  for (const text of FACTS.slice(0, 8)) story.add('key.added', { text })
  for (let n = 1; n <= 60; n += 1) {
    const step = story.add('step.added', {
      text: `Move the ${n}th consumer of the old queue over, with its test`,
    })
    story.add('step.started', { step })
    for (const part of ['reader', 'writer', 'test'])
      story.add('file.changed', { path: `queue/consumer_${n}/${part}.go` })
    story.add('progress.made', {
      text: `Consumer ${n} reads from the new queue; its writer still goes to both`,
    })
    story.add('request.made', {
      text: `Go on with consumer ${n + 1}, and keep the old metrics`,
      conversation: 'c-2',
    })
    story.add('commit.made', {
      commit: `${1_000_000 + n * 7919}`,
      subject: `queue: consumer ${n} reads from the new queue`,
    })
    story.add('test.ran', {
      command: `go test ./queue/consumer_${n}/...`,
      passed: true,
      summary: `${n + 3} passed`,
    })
    if (n % 2 === 0) {
      const found = story.add('discovery.made', {
        text: `Consumer ${n} acknowledges before it has written; a crash there loses one message`,
      })
      story.add('key.added', {
        text: `Consumer ${n} acknowledges before it has written; a crash there loses one message`,
        from: found,
      })
    }
    if (n % 3 === 0) {
      story.add('decision.made', {
        title: `Order of consumer ${n}`,
        context: 'The old queue kept order for each account, the new one for each partition',
        choice: `Partition by account in group ${n}`,
        rationale: 'Nobody downstream can cope with reordering, and hot accounts are rare',
      })
    }
    if (n < 56) story.add('step.done', { step })
    if (n % 10 === 0)
      story.add('checkpoint.made', {
        note: `After consumer ${n}`,
        tldr: `${n} consumers are moved.`,
      })
  }
  story.add('next.added', { text: 'Take the double writing out of the first ten writers' })
  return story
}
