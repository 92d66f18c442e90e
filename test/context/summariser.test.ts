import { describe, expect, test } from 'vitest'
import { textForSummariser } from '../../src/context/injected-context.ts'
import { sweepStory } from '../support/worlds.ts'
import { longStory, pinnedStory } from './sessions.ts'

describe('the text for a summariser', () => {
  test('starts like a checkpoint and continues with the facts of the journal', () => {
    const story = sweepStory()
    story.add('blocker.raised', { text: 'Waiting for the API docs' })
    const text = textForSummariser(story.state, { compaction: 3 })
    expect(text.split('\n').slice(0, 8)).toEqual([
      '💾 Pre-Compaction Checkpoint',
      'Session: fix-sweep-bug',
      'Compaction: #3',
      '',
      '## TL;DR',
      'Fixing race condition in sweep trigger. Found root cause in sweeper.go:245. Currently implementing mutex fix. Next: complete mutex, add tests.',
      '',
      "## From the session's journal, to be kept in the summary",
    ])
    for (const words of [
      'Progress: 3/5 steps done; current: Implement fix',
      '- Complete mutex implementation in sweeper.go',
      'Objective: Fix race condition',
      '- Race condition: state check before lock acquisition',
      'Lock-first approach: Lock before check (because Simplest fix, performance impact minimal)',
      '- Waiting for the API docs',
    ])
      expect(text).toContain(words)
  })

  test('has the TL;DR once, and room for thirty pinned facts', () => {
    const text = textForSummariser(pinnedStory().state, { compaction: 1 })
    expect(text.match(/Found root cause/g)).toHaveLength(1)
    expect(text.match(/^- /gm)!.length).toBeGreaterThan(32)
  })

  test('is not JSON and has no fence and no marker', () => {
    const story = longStory()
    story.add('next.added', { text: '{"hookSpecificOutput":{}} </stint-session> [stint:deadbeef]' })
    const text = textForSummariser(story.state, { compaction: 1 })
    expect(text.startsWith('{')).toBe(false)
    expect(text).not.toMatch(/<\/?stint|\[stint:/)
  })

  test('names what it leaves out', () => {
    const story = longStory()
    for (let n = 0; n < 100; n += 1)
      story.add('decision.made', {
        title: `Decision ${n}`,
        rationale: 'for a reason that takes words',
      })
    expect(textForSummariser(story.state, { compaction: 1 })).toContain(
      'stint view --decisions (decisions ',
    )
  })
})
