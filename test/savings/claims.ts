// The claimed savings, and what is counted for each claim.
import { buildHandoffDocument } from '../../src/context/handoff/document.ts'
import { slashCommandFiles } from '../../src/harness/claude/setup/plugin.ts'
import { BUILT_IN_PROFILES } from '../../src/run/profiles/profile.ts'
import { profileIndex } from '../../src/run/agent-prompts/setup-text.ts'
import { renderDocument } from '../../src/document/render.ts'
import { summarizeSession } from '../../src/document/state-files.ts'
import { publicSession } from '../../src/session/public-session.ts'
import { realTokens } from '../context/vocabularies.ts'
import { measuredDigests } from '../command/measured.ts'
import { factsOf } from '../handoff/any-facts.ts'
import {
  type SessionSize,
  VOCABULARIES,
  entriesOf,
  sameFields,
  stateOf,
  wholeAndSummary,
} from '../document/export/token-table.ts'
import { type Given, givenIn, recordedConversation } from './conversations.ts'
import { promptTokensInRuns } from './prompt-tokens-in-runs.ts'
import { CLAIMED, COUNTED_RUNS, type CountedRun } from './sent-in-runs.ts'
import { slashLines } from './slash-lines.ts'

export const SIZES = ['small', 'medium', 'long'] as const satisfies readonly SessionSize[]

export type GivenBySize = Readonly<Record<SessionSize, Given>>

/** Tokens. */
export interface Comparison {
  readonly compared: string
  readonly before: number
  readonly after: number
  /** Counted when the real programs were last run. */
  readonly isRecorded?: boolean
}

export interface Claim {
  readonly technique: string
  readonly claimed: readonly [before: number, after: number]
  readonly comparisons: readonly Comparison[]
}

export async function givenBySize(): Promise<GivenBySize> {
  return {
    small: await givenIn('small'),
    medium: await givenIn('medium'),
    long: await givenIn('long'),
  }
}

/** Claims about single techniques. Figures of this project are passed in, because they change from day to day. */
export async function claims(
  injected: GivenBySize,
  project: { readonly context: number; readonly condensed: number },
): Promise<readonly Claim[]> {
  return [
    { technique: 'TOON format', claimed: [2000, 500], comparisons: formats() },
    {
      technique: 'Lazy agent loading',
      claimed: [48_000, 2700],
      comparisons: toolsLoadedOnDemand(),
    },
    {
      technique: 'Compressed context',
      claimed: [5000, 500],
      comparisons: [
        {
          compared: 'this project: what is read of it / `stint project`',
          before: project.condensed,
          after: project.context,
        },
      ],
    },
    { technique: 'Response analyzer', claimed: [3000, 150], comparisons: digests() },
    {
      technique: 'State persistence',
      claimed: [10_000, 500],
      comparisons: await persistedSessions(injected),
    },
  ]
}

function formats(): readonly Comparison[] {
  const { Claude, o200k } = VOCABULARIES
  const small = sameFields(publicSession(stateOf('small')), Claude)
  const fewFields = sameFields(summarizeSession(publicSession(stateOf('small'))), o200k)
  const inAll = (size: SessionSize): Comparison => {
    const { whole, summary } = wholeAndSummary(stateOf(size), Claude)
    return {
      compared: `${size} session: its state as JSON / its summary as TOON`,
      before: whole,
      after: summary,
    }
  }
  return [
    {
      compared: 'the same fields, small session: JSON indented / TOON',
      before: small.indented,
      after: small.toon,
    },
    {
      compared: 'the same fields, small session: JSON compact / TOON',
      before: small.compact,
      after: small.toon,
    },
    {
      compared: "the same few fields, o200k's tokens: JSON compact / TOON",
      before: fewFields.compact,
      after: fewFields.toon,
    },
    inAll('small'),
    inAll('long'),
  ]
}

function toolsLoadedOnDemand(): readonly Comparison[] {
  return [
    {
      compared: `${slashCommandFiles().size} slash commands: their files / a line each`,
      before: realTokens([...slashCommandFiles().values()].join('\n')),
      after: realTokens(slashLines()),
    },
    {
      compared: `${BUILT_IN_PROFILES.length} profiles of agents: their texts / a line each`,
      before: realTokens(BUILT_IN_PROFILES.map(({ body }) => body).join('\n')),
      after: realTokens(profileIndex(BUILT_IN_PROFILES)),
    },
  ]
}

function digests(): readonly Comparison[] {
  const each = measuredDigests().map(({ name, raw, digest }) => ({
    compared: `${name}: output / digest`,
    before: raw,
    after: digest,
  }))
  const sum = (of: 'before' | 'after') => each.reduce((total, digest) => total + digest[of], 0)
  return [...each, { compared: 'all of these', before: sum('before'), after: sum('after') }]
}

async function persistedSessions(injected: GivenBySize): Promise<readonly Comparison[]> {
  const { said, start } = await recordedConversation()
  const ofDocument = SIZES.flatMap((size): readonly Comparison[] => {
    const before = realTokens(renderDocument(stateOf(size), { offset: 1, sum: '00000000' }))
    const handoff = realTokens(buildHandoffDocument(factsOf(entriesOf(size))).text)
    return [
      {
        compared: `${size} session: document / what a start gives`,
        before,
        after: realTokens(injected[size].start),
      },
      { compared: `${size} session: document / handoff`, before, after: handoff },
    ]
  })
  const ofTranscript = { compared: 'a recorded conversation: what was said / what a start gives' }
  return [...ofDocument, { ...ofTranscript, before: realTokens(said), after: realTokens(start) }]
}

/** Claims about several tasks in one conversation, by their number. */
export function runClaims(): readonly (Omit<Claim, 'technique'> & { readonly tasks: number })[] {
  const said = promptTokensInRuns()
  return Object.entries(CLAIMED).map(([key, claimed]) => {
    const tasks = Number(key)
    const [each, one] = [countedRun(tasks, 'each'), countedRun(tasks, 'one')]
    const recorded = (compared: string, of: 'handoffs' | 'starts' | 'input'): Comparison => ({
      compared,
      before: each[of],
      after: one[of],
      isRecorded: true,
    })
    return {
      tasks,
      claimed,
      comparisons: [
        {
          compared: 'set-up and texts of tasks, as they are said',
          before: said(tasks, tasks),
          after: said(tasks, 1),
        },
        recorded('handoffs', 'handoffs'),
        recorded('first requests, whole', 'starts'),
        recorded('all requests, whole', 'input'),
      ],
    }
  })
}

function countedRun(tasks: number, conversations: CountedRun['conversations']): CountedRun {
  return COUNTED_RUNS.find((run) => run.tasks === tasks && run.conversations === conversations)!
}
