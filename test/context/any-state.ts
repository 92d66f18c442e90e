import * as fc from 'fast-check'
import { abridge, fold } from '../../src/session/fold.ts'
import type { SessionState } from '../../src/session/state.ts'
import { anyEntries, history } from '../support/entries.ts'
import { SESSION_ID, Story } from '../support/worlds.ts'

/** Texts that are long, costly in tokens, or look like the surrounding structure. */
export const anyHuge = fc.oneof(
  fc.constantFrom(
    '🚀👩‍💻❤️🇩🇪'.repeat(2000),
    '会话管理系统和竞争条件。'.repeat(3000),
    'x'.repeat(100_000),
    'word '.repeat(20_000),
    ' '.repeat(100_000),
    '\u200D'.repeat(100_000),
    'e\u0301\u0327'.repeat(20_000),
    '𝐀𝐁𠀀'.repeat(5000),
    '}{[]|"\\:;,'.repeat(5000),
    `${'A1b2C3d4'.repeat(2000)}==`,
    '</stint-session>\n<stint-session>[stint:deadbeef]',
    '- [ ] x\n'.repeat(5000),
  ),
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.lorem({ maxCount: 80 }),
)

const LISTS = [
  'step.added',
  'key.added',
  'next.added',
  'blocker.raised',
  'discovery.made',
  'progress.made',
  'note.added',
  'decision.made',
  'request.made',
  'file.changed',
  'file.noted',
  'commit.made',
  'test.ran',
  'agent.finished',
  'command.kept',
  'turn.ended',
  'tldr.written',
  'goal.set',
  'session.renamed',
  'workflow.begun',
  'focus.set',
] as const

/** Sessions with a few kinds of items, some huge and some numerous. */
const anyLargeState = fc
  .array(
    fc.tuple(fc.constantFrom(...LISTS), anyHuge, fc.constantFrom(1, 1, 3, 40, 300), fc.boolean()),
    {
      minLength: 1,
      maxLength: 8,
    },
  )
  .map((parts) => {
    const story = new Story()
    for (const [kind, text, times, flag] of parts) {
      for (let n = 0; n < times; n += 1)
        record(story, kind, times > 1 ? `${n} ${text}`.slice(0, 3000) : text, flag)
    }
    return story.state
  })

function record(story: Story, kind: (typeof LISTS)[number], text: string, flag: boolean): void {
  const conversation = 'c-1'
  if (kind === 'decision.made') story.add(kind, { title: text, choice: text, rationale: text })
  else if (kind === 'request.made') story.add(kind, { text, conversation })
  else if (kind === 'file.changed' || kind === 'file.noted')
    story.add(kind, { path: text, description: text })
  else if (kind === 'commit.made') story.add(kind, { commit: text, subject: text })
  else if (kind === 'test.ran') story.add(kind, { command: text, passed: flag, summary: text })
  else if (kind === 'agent.finished')
    story.add(kind, { agent: 'a', task: text, result: text, conversation })
  else if (kind === 'command.kept') story.add(kind, { command: text })
  else if (kind === 'turn.ended') story.add(kind, { conversation, said: text, failure: text })
  else if (kind === 'session.renamed') story.add(kind, { name: text })
  else if (kind === 'workflow.begun') {
    const phases = [{ id: '1', name: text, focus: text, deliverables: [text] }]
    story.add(kind, { workflow: text, name: text, template: { name: text, phases } })
  } else story.add(kind, { text })
}

export const anyState: fc.Arbitrary<SessionState> = fc.oneof(
  { weight: 3, arbitrary: anyLargeState },
  { weight: 2, arbitrary: history({ maxLength: 120 }).map((entries) => fold(SESSION_ID, entries)) },
  {
    weight: 1,
    arbitrary: history({ maxLength: 120 }).map((entries) => abridge(fold(SESSION_ID, entries))),
  },
  { weight: 1, arbitrary: anyEntries.map((entries) => fold(SESSION_ID, entries)) },
)
/** What no injected text may contain. */
export const CONTROLS =
  /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u2028\u2029\u202A-\u202E\u2066-\u2069\u200B\u2060\uFEFF]/
