import { describe, expect, test } from 'vitest'
import { unverified, verified } from '../../src/context/handoff/probes.ts'
import { contentHash, readHandoffFrontmatter } from '../../src/context/handoff/frontmatter.ts'
import { HANDOFF_MIN_TOKENS, buildHandoffDocument } from '../../src/context/handoff/document.ts'
import { Story, sweepStory } from '../support/worlds.ts'
import { factsOf } from './any-facts.ts'

const COMMIT = 'abc123f0000a1b2c3d4e5f60718293a4b5c6d7e8'
const CHECKPOINT = '0194697b-f940-749b-b13c-ec38f5435c19'

/** Three uncommitted files and a checkpoint that saves them. */
const HALF_DONE = {
  git: { branch: 'fix/sweep', commit: COMMIT, dirty: 3 },
  uncommitted: {
    paths: ['sweep/sweeper.go', 'itest/sweep_test.go', 'notes.txt'],
    verdict: verified('working tree', COMMIT),
    kept: {
      commit: COMMIT,
      ref: `refs/stint/x/${CHECKPOINT}`,
      checkpoint: CHECKPOINT,
      leftOut: ['core.dump'],
      verdict: verified('kept code', COMMIT),
    },
  },
}

describe('a handoff document', () => {
  test('puts the vital parts first, starting with one next action', () => {
    const { text } = buildHandoffDocument(factsOf(sweepStory().entries, HALF_DONE))
    const headings = [...text.matchAll(/^## (.*)$/gm)].map((match) => match[1])
    expect(headings.slice(0, 5)).toEqual([
      'Objective',
      'Next action',
      'Open blockers',
      'Uncommitted work',
      'Where things stand',
    ])
    expect(text).toContain('## Next action\n\n1. Complete mutex implementation in sweeper.go\n2. ')
    expect(text).toContain('- Too large to keep: core.dump')
    expect(text).toContain('- Progress: 3/5 steps done; current: Implement fix')
    expect(text).toContain(
      '- Lock-first approach: Lock before check (because Simplest fix, performance impact minimal)',
    )
  })

  test('keeps room for each vital part, however long the others are', () => {
    const story = new Story()
    const long = 'a very long story about everything that ever happened '.repeat(40)
    story.add('goal.set', { text: long })
    for (let n = 0; n < 20; n += 1) {
      story.add('next.added', { text: `${n} ${long}` })
      story.add('blocker.raised', { text: `${n} ${long}` })
    }
    const { text } = buildHandoffDocument(factsOf(story.entries, HALF_DONE), {
      tokens: HANDOFF_MIN_TOKENS,
    })
    expect(text).toContain('## Objective\n\na very long story')
    expect(text).toContain('## Next action\n\n1. 0 a very')
    expect(text).toMatch(/## Open blockers\n\n(?:- .*\n)*- 19 a very/)
    expect(text).toContain('3 paths not committed: verified (working tree, abc123f).')
    expect(text).toContain(
      '`stint checkpoint restore 435c19 --session fix-sweep-bug` brings it back.',
    )
  })

  test.each([
    '## Next action',
    '```sh',
    '---',
    '<system-reminder>',
    '> quoted',
    '- [x] done',
    '1. one',
    '| a | b |',
    '# x',
  ])('treats %j in a recorded text as text', (text) => {
    const story = new Story()
    story.add('goal.set', { text })
    const made = buildHandoffDocument(factsOf(story.entries)).text
    const lines = made.split('\n')
    expect(lines[lines.indexOf('## Objective') + 2]).not.toBe(text)
    expect(made.match(/^## Next action$/gm)).toHaveLength(1)
  })

  test('names the omitted parts with the command that shows them', () => {
    const story = sweepStory()
    for (let n = 0; n < 60; n += 1)
      story.add('decision.made', { title: `Decision number ${n}`, rationale: 'for a reason' })
    const { text, leftOut } = buildHandoffDocument(factsOf(story.entries), { tokens: 900 })
    expect(leftOut).toContainEqual(
      expect.stringMatching(/^stint view --decisions \(decisions \d+\)$/),
    )
    expect(text).toContain('Left out here, shown by: ')
  })

  test('lists files of failing tests first, then key files, then changed files', () => {
    const facts = factsOf(sweepStory().entries, {
      files: [
        {
          path: 'itest/sweep_test.go',
          why: 'fails in make test',
          verdict: verified('file', COMMIT),
        },
        {
          path: 'sweep/old.go',
          why: 'Main sweeper logic',
          verdict: unverified('there is no such file'),
        },
      ],
    })
    expect(buildHandoffDocument(facts).text).toContain(
      '1. `itest/sweep_test.go`, fails in make test: verified (file, abc123f)\n2. `sweep/old.go`, Main sweeper logic: unverified (there is no such file)',
    )
  })

  test('names nothing that is specific to one agent program', () => {
    const story = sweepStory()
    story.add('conversation.joined', { conversation: 'c-1', harness: 'codex', source: 'startup' })
    const { text } = buildHandoffDocument(factsOf(story.entries))
    expect(text).toContain('in a conversation of codex (c-1)')
    expect(text).not.toMatch(/claude/i)
  })

  test('has frontmatter that reads back, even with values that YAML would reinterpret', () => {
    const facts = factsOf(new Story().entries, {
      git: { branch: 'true', commit: COMMIT, dirty: 0 },
    })
    const { text } = buildHandoffDocument(facts)
    expect(text).toContain('\nbranch: "true"\n')
    expect(readHandoffFrontmatter(text)).toMatchObject({
      name: 'fix-sweep-bug',
      number: 3,
      branch: 'true',
      commit: COMMIT.slice(0, 12),
      dirty: 0,
    })
    expect(readHandoffFrontmatter('# no handoff\n')).toBeUndefined()
    expect(readHandoffFrontmatter('---\nformat: other/1\n---\n')).toBeUndefined()
  })

  test('keeps its content hash when only the hash line changes', () => {
    const { text, hash } = buildHandoffDocument(factsOf(sweepStory().entries))
    const forged = text.replace(hash, `sha256:${'0'.repeat(64)}`)
    expect(contentHash(forged)).toBe(hash)
    expect(readHandoffFrontmatter(forged)!.hash).not.toBe(hash)
  })
})
