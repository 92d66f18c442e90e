// Generates facts for handoffs: any session, in any repository state.
import * as fc from 'fast-check'
import {
  type Verdict,
  couldNotBeChecked,
  unverified,
  verified,
} from '../../src/context/handoff/probes.ts'
import { type HandoffFacts, gatherFacts } from '../../src/context/handoff/gather-facts.ts'
import type { RawEntry } from '../../src/session/effective-entries.ts'
import { fold } from '../../src/session/fold.ts'
import { anyWords, history } from '../support/entries.ts'
import { anyStory } from '../support/stories.ts'
import { SESSION_ID } from '../support/worlds.ts'

const COMMIT = 'abc123f0000a1b2c3d4e5f60718293a4b5c6d7e8'
const ENTRY_ID = '0194697b-f940-749b-b13c-ec38f5435c19'

const anyVerdict: fc.Arbitrary<Verdict> = fc.oneof(
  fc.constant(verified('working tree', COMMIT)),
  anyWords.map((words) => unverified(words)),
  anyWords.map((words) => couldNotBeChecked(words)),
)

const anyUncommitted: fc.Arbitrary<HandoffFacts['uncommitted']> = fc
  .record({
    paths: fc.option(fc.array(anyWords, { maxLength: 300 }), { nil: undefined }),
    verdict: anyVerdict,
    kept: fc.option(
      fc.record({
        commit: fc.constant(COMMIT),
        ref: fc.constant(`refs/stint/${SESSION_ID}/${ENTRY_ID}`),
        checkpoint: fc.constant(ENTRY_ID),
        leftOut: fc.array(anyWords, { maxLength: 5 }),
        verdict: anyVerdict,
      }),
      { nil: undefined },
    ),
  })
  .map(({ paths, verdict, kept }) => ({
    verdict,
    ...(paths === undefined ? {} : { paths }),
    ...(kept === undefined ? {} : { kept }),
  }))

/** Facts about these entries, in a folder without any of their files. */
export function factsOf(
  entries: readonly RawEntry[],
  more: Partial<HandoffFacts> = {},
): HandoffFacts {
  const state = fold(SESSION_ID, entries)
  const facts = gatherFacts({
    state,
    entries,
    id: ENTRY_ID,
    number: 3,
    createdAt: '2026-01-02T03:04:05.000Z',
    position: { bytes: 123_456, entries: entries.length, last: ENTRY_ID },
    now: { root: '/nowhere', head: {} },
    deliverables: ['docs/design.md'],
  })
  return { ...facts, ...more }
}

export const anyFacts: fc.Arbitrary<HandoffFacts> = fc
  .record({
    entries: fc.oneof(
      anyStory.map((story) => story.entries as readonly RawEntry[]),
      history({ maxLength: 80 }),
    ),
    uncommitted: anyUncommitted,
    git: fc.option(
      fc.record({ branch: anyWords, commit: fc.constant(COMMIT), dirty: fc.nat({ max: 300 }) }),
      { nil: undefined },
    ),
    isDraft: fc.boolean(),
    reason: fc.option(anyWords, { nil: undefined }),
    to: fc.option(
      fc.record({
        kind: fc.constantFrom('task' as const, 'session' as const),
        id: anyWords,
        name: anyWords,
      }),
      {
        nil: undefined,
      },
    ),
  })
  .map(({ entries, uncommitted, git, isDraft, reason, to }) =>
    factsOf(entries, {
      isDraft,
      uncommitted,
      ...(git === undefined ? {} : { git }),
      ...(reason === undefined ? {} : { reason }),
      ...(to === undefined ? {} : { to }),
    }),
  )
