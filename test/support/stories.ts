import * as fc from 'fast-check'
import { anyLine, anyText } from './texts.ts'
import { Story } from './worlds.ts'

/** A story of up to thirty entries of every kind that shows in the document. */
export const anyStory = fc
  .array(fc.tuple(fc.nat({ max: 27 }), anyText, anyLine, fc.nat()), { maxLength: 30 })
  .map((moves) => {
    const story = new Story()
    const made: Record<'step' | 'blocker' | 'next' | 'any', string[]> = {
      step: [],
      blocker: [],
      next: [],
      any: [],
    }
    const pick = (ids: string[], at: number) => ids[at % ids.length]
    for (const [move, text, line, at] of moves) {
      const step = pick(made.step, at)
      const blocker = pick(made.blocker, at)
      const any = pick(made.any, at)
      if (move === 0) story.add('goal.set', { text })
      if (move === 1) story.add('tldr.written', { text })
      if (move === 2) made.step.push(story.add('step.added', { text }))
      if (move === 3 && step !== undefined) story.add('step.done', { step })
      if (move === 4 && step !== undefined) story.add('step.started', { step })
      if (move === 5) made.any.push(story.add('progress.made', { text }))
      if (move === 6)
        made.any.push(story.add('decision.made', { title: line, context: text, rationale: text }))
      if (move === 7)
        made.any.push(story.add('decision.made', { title: line, options: text, choice: line }))
      if (move === 8) made.any.push(story.add('discovery.made', { text }))
      if (move === 9) made.any.push(story.add('gotcha.found', { text }))
      if (move === 10) made.blocker.push(story.add('blocker.raised', { text }))
      if (move === 11 && blocker !== undefined)
        story.add('blocker.resolved', { blocker, resolution: line })
      if (move === 12) made.next.push(story.add('next.added', { text }))
      if (move === 13) made.any.push(story.add('key.added', { text }))
      if (move === 14) story.add('file.noted', { path: line, description: line })
      if (move === 15) story.add('file.changed', { path: line })
      if (move === 16) story.add('command.kept', { command: line })
      if (move === 17) story.add('note.added', { text })
      if (move === 18 && any !== undefined) story.add('entry.retracted', { entry: any })
      if (move === 19) made.any.push(story.add('checkpoint.made', { note: line }))
      if (move === 20) story.add('session.paused', { note: text })
      if (move === 21) story.add('field.set', { key: 'owner', value: ' alice' })
      if (move === 22) {
        const phases = [
          { id: '1', name: line, gate: 'approval' as const, focus: text },
          { id: '2', name: `${line}!` },
        ]
        story.add('workflow.begun', {
          workflow: 'wf-001',
          name: line,
          template: { name: line, phases },
        })
      }
      if (move === 23) story.add('phase.entered', { phase: at % 2 === 0 ? '1' : '2', note: text })
      if (move === 24)
        story.add('tldr.written', { text: `**Workflow**: Phase ${line} (7% complete)\n${text}` })
      const delegate = { delegate: `d-${at % 3}`, name: line }
      if (move === 25) story.add('delegate.begun', { ...delegate, what: text, branch: 'b' })
      if (move === 26) {
        const status = (
          ['ready', 'merged', 'conflicted', 'failed', 'parked', 'discarded'] as const
        )[at % 6]!
        story.add('delegate.reported', {
          ...delegate,
          status,
          what: text,
          summary: text,
          because: line,
        })
      }
      if (move === 27)
        made.any.push(story.add('decision.made', { title: line, choice: text, whose: line }))
    }
    return story
  })

/** The positions where a person may write something. */
export const PLACES = [
  { heading: '### Completed', line: (text: string) => `- [x] ${text}` },
  { heading: '### Remaining', line: (text: string) => `- [ ] ${text}` },
  { heading: '**Key Context** (survives compaction):', line: (text: string) => `- ${text}` },
  { heading: '## Discoveries', line: (text: string) => `1. ${text}` },
  { heading: '## Blockers', line: (text: string) => `- ${text}` },
  { heading: '## Next Steps', line: (text: string) => `1. ${text}` },
  { heading: '## Decisions', line: (text: string) => `### ${text}\n**Rationale**: it was said` },
  { heading: '## Decisions', line: (text: string) => `${text} as a paragraph of their own.\n` },
  {
    heading: '### Completed',
    line: (text: string) => `${text} in a fence:\n\n~~~\n## not a heading\n~~~\n`,
  },
]
/** The document with a text written into it at a position. */
export const insert = (rendered: string, place: (typeof PLACES)[number], text: string) =>
  rendered.replace(`\n${place.heading}\n`, () => `\n${place.heading}\n${place.line(text)}\n`)
