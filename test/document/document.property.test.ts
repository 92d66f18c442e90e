import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fold } from '../../src/session/fold.ts'
import { editsBetween } from '../../src/document/edits.ts'
import { parseDocument } from '../../src/document/parse.ts'
import { renderDocument } from '../../src/document/render.ts'
import { mintId } from '../../src/journal/ids.ts'
import { PLACES, anyStory, insert } from '../support/stories.ts'
import { anyText } from '../support/texts.ts'
import { SESSION_ID, Story } from '../support/worlds.ts'
import { cases } from '../support/cases.ts'

const MARKER = { offset: 1, sum: '00000000' }

function read(text: string) {
  const parsed = parseDocument(text)
  if (!parsed.ok) throw new Error(parsed.problem)
  return parsed.document
}

function absorb(story: Story, person: string, base = story.state) {
  let last = story.entries.at(-1)!.id
  const mint = () => (last = mintId(last))
  const edits = editsBetween(base, read(person), { mint, isBaseSure: true })
  for (const draft of edits.drafts) {
    const id = draft.id ?? mint()
    story.entries.push({
      at: '2025-01-16T09:00:00.000Z',
      ...draft,
      id,
      data: draft.data as Record<string, unknown>,
    })
  }
  return edits
}

describe('a rendered document', () => {
  test('parses back to no edits for any log', () => {
    fc.assert(
      fc.property(anyStory, (story) => {
        const state = story.state
        const edits = editsBetween(state, read(renderDocument(state, MARKER)), {
          mint: () => 'x',
          isBaseSure: true,
        })
        expect(edits).toEqual({ drafts: [], unabsorbed: [] })
      }),
      { numRuns: cases(400) },
    )
  })

  test('is the same for the same entries in any order', () => {
    fc.assert(
      fc.property(anyStory, fc.infiniteStream(fc.nat()), (story, random) => {
        const shuffled = story.entries.toSorted(() => (random.next().value % 3) - 1)
        expect(renderDocument(fold(SESSION_ID, shuffled), MARKER)).toBe(
          renderDocument(story.state, MARKER),
        )
      }),
      { numRuns: cases(100) },
    )
  })
})

const word = fc.stringMatching(/^[a-z]{5,12} [a-z]{5,12}$/)

describe("a user's edit of the document", () => {
  test('becomes entries, stays in the document, and is absorbed once', () => {
    fc.assert(
      fc.property(anyStory, fc.constantFrom(...PLACES), word, (original, place, text) => {
        const story = original.copy()
        const rendered = renderDocument(story.state, MARKER)
        const edits = absorb(story, insert(rendered, place, text))
        expect(edits.drafts.length).toBeGreaterThan(0)
        expect(edits.drafts.some((draft) => draft.kind === 'entry.retracted')).toBe(false)
        const after = renderDocument(story.state, MARKER)
        expect(after).toContain(text)
        expect(absorb(story, after).drafts).toEqual([])
      }),
      { numRuns: cases(300) },
    )
  })

  test('in an old copy reverts nothing newer', () => {
    fc.assert(
      fc.property(
        anyStory,
        anyStory,
        fc.constantFrom(...PLACES),
        word,
        (original, newer, place, text) => {
          const story = original.copy()
          const base = story.state
          const rendered = renderDocument(base, MARKER)
          const person = insert(rendered, place, text)
          for (const entry of newer.entries.slice(1)) {
            if (
              entry.kind === 'progress.made' ||
              entry.kind === 'key.added' ||
              entry.kind === 'decision.made'
            ) {
              story.add(entry.kind, entry.data as never)
            }
          }
          const before = story.state
          absorb(story, person, base)
          const after = story.state
          for (const list of ['progress', 'key', 'decisions'] as const) {
            const kept = new Set(after[list].items.map((item) => item.id))
            expect(before[list].items.every((item) => kept.has(item.id))).toBe(true)
          }
        },
      ),
      { numRuns: cases(150) },
    )
  })

  test('keeps an added section in its place', () => {
    const headings = [
      '## Context',
      '## Progress',
      '## Decisions',
      '## Discoveries',
      '## Blockers',
      '## Next Steps',
    ]
    fc.assert(
      fc.property(
        anyStory,
        fc.array(fc.tuple(fc.constantFrom(...headings), word, anyText), {
          minLength: 1,
          maxLength: 4,
        }),
        (original, added) => {
          const story = original.copy()
          for (const [heading, title, body] of added) {
            const own = `## ${title}\n${body.replaceAll(/^(#|```|~~~|<|>|=|---)/gm, ' $1')}\n`
            const person = renderDocument(story.state, MARKER).replace(
              `\n${heading}\n`,
              () => `\n${own}\n${heading}\n`,
            )
            absorb(story, person)
            const after = renderDocument(story.state, MARKER)
            expect(after).toContain(`${own}\n${heading}\n`)
            expect(absorb(story, after).drafts).toEqual([])
          }
        },
      ),
      { numRuns: cases(150) },
    )
  })

  test('is the new list when they reorder, add and remove lines', () => {
    const lists = [
      {
        kind: 'next.added',
        heading: '## Next Steps',
        line: (text: string) => `1. ${text}`,
        texts: (story: Story) => story.state.next.items,
      },
      {
        kind: 'key.added',
        heading: '**Key Context** (survives compaction):',
        line: (text: string) => `- ${text}`,
        texts: (story: Story) => story.state.key.items,
      },
      {
        kind: 'step.added',
        heading: '### Remaining',
        line: (text: string) => `- [ ] ${text}`,
        texts: (story: Story) => story.state.steps.items.filter(({ status }) => status === 'todo'),
      },
    ] as const
    const anyList = fc.uniqueArray(word, { maxLength: 8 }).chain((before) =>
      fc.record({
        before: fc.constant(before),
        kept: fc.shuffledSubarray(before),
        added: fc.array(fc.tuple(word, fc.nat()), { maxLength: 4 }),
      }),
    )
    fc.assert(
      fc.property(
        fc.constantFrom(...lists),
        anyList,
        ({ kind, heading, line, texts }, { before, kept, added }) => {
          const story = new Story()
          const done = story.add('step.added', { text: 'done long ago' })
          story.add('step.done', { step: done })
          for (const text of before) story.add(kind, { text })
          const wanted = [...kept]
          for (const [text, at] of added) wanted.splice(at % (wanted.length + 1), 0, text)
          const lines = wanted.map((text) => `${line(text)}\n`).join('')
          const person = renderDocument(story.state, MARKER).replace(
            new RegExp(`(${heading.replaceAll(/[()*]/g, String.raw`\$&`)}\n)(?:[^\n]+\n)*`),
            (_, kept: string) => `${kept}${lines}`,
          )
          absorb(story, person)
          expect(texts(story).map(({ text }) => text)).toEqual(wanted)
          expect(story.state.steps.items[0]?.text).toBe('done long ago')
          expect(absorb(story, renderDocument(story.state, MARKER)).drafts).toEqual([])
        },
      ),
      { numRuns: cases(500) },
    )
  })

  test('loses no other line, whichever line they overwrite', () => {
    fc.assert(
      fc.property(anyStory, fc.nat(), word, (original, at, text) => {
        const story = original.copy()
        const lines = renderDocument(story.state, MARKER).split('\n')
        const candidates = lines.flatMap((line, index) =>
          /^(?:- |\d+\. )/.test(line) && !/None (?:yet|currently)$/.test(line) ? [index] : [],
        )
        fc.pre(candidates.length > 0)
        const target = candidates[at % candidates.length]!
        const removed = lines[target]!
        lines[target] = removed.replace(/^((?:- (?:\[.\] )?|\d+\. ))(.*)$/, `$1${text}`)
        absorb(story, lines.join('\n'))
        expect(renderDocument(story.state, MARKER)).toContain(text)
      }),
      { numRuns: cases(200) },
    )
  })
})
