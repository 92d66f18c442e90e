import { mintId } from '../../src/journal/ids.ts'
import type { EntryData, EntryKind } from '../../src/session/entries.ts'
import type { RawEntry } from '../../src/session/effective-entries.ts'
import { fold } from '../../src/session/fold.ts'
import type { SessionState } from '../../src/session/state.ts'

export const SESSION_ID = '019abc12-3456-7def-8901-234567890abc'

/** A list of entries: each call adds one, a minute after the last. */
export class Story {
  readonly entries: RawEntry[] = []
  #time = Date.parse('2025-01-15T10:00:00Z')

  constructor() {
    this.add('session.opened', {
      name: 'fix-sweep-bug',
      title: 'Fix Sweep Trigger Bug',
      goal: 'Fix race condition causing intermittent sweep failures',
      git: { branch: 'fix/sweep-trigger', commit: 'abc123f0000000000000000000000000000000000' },
    })
  }

  add<K extends EntryKind>(
    kind: K,
    data: EntryData[K],
    extra: { by?: string; once?: string } = {},
  ): string {
    const id = mintId(this.entries.at(-1)?.id, this.#time)
    this.entries.push({
      id,
      at: new Date(this.#time).toISOString(),
      kind,
      by: 'cli',
      data: data as Record<string, unknown>,
      ...extra,
    })
    this.#time += 60_000
    return id
  }

  copy(): Story {
    const copy = new Story()
    copy.entries.splice(0, 1, ...this.entries)
    copy.#time = this.#time
    return copy
  }

  get state(): SessionState {
    return fold(SESSION_ID, this.entries)
  }
}

/** The session of the format's own example. */
export function sweepStory(): Story & { steps: string[] } {
  const story = new Story()
  const steps = [
    'Reproduce bug in test',
    'Identify root cause',
    'Draft fix approach',
    'Implement fix',
    'Add regression test',
  ].map((text) => story.add('step.added', { text }))
  story.add('file.noted', { path: 'sweep/sweeper.go', description: 'Main sweeper logic' })
  story.add('file.noted', {
    path: 'contractcourt/chain_watcher.go',
    description: 'Triggers sweeps',
  })
  story.add('key.added', { text: 'Race condition: state check before lock acquisition' })
  story.add('key.added', { text: 'Test command: `go test -v -run TestSweepTrigger ./itest`' })
  for (const step of steps.slice(0, 3)) story.add('step.done', { step })
  story.add('step.started', { step: steps[3]! })
  story.add('decision.made', {
    title: 'Lock-first approach',
    context: 'Need to fix race without major refactor',
    options: '(1) Lock before check, (2) Atomic state, (3) Separate mutex',
    choice: 'Lock before check',
    rationale: 'Simplest fix, performance impact minimal',
  })
  story.add('discovery.made', {
    text: 'Lock ordering: chain_watcher must acquire\nlock before sweeper to avoid deadlock. Document this!',
  })
  story.add('next.added', { text: 'Complete mutex implementation in sweeper.go' })
  story.add('next.added', { text: 'Add regression test' })
  story.add('tldr.written', {
    text: 'Fixing race condition in sweep trigger. Found root cause in sweeper.go:245.\nCurrently implementing mutex fix. Next: complete mutex, add tests.',
  })
  story.add('context.compacted', {})
  story.add('context.compacted', {})
  return Object.assign(story, { steps })
}
