import { StintError } from '../../journal/errors.ts'
import {
  type EntryDraft,
  type EntryData,
  type EntryKind,
  draftEntry,
} from '../../session/entries.ts'
import { type Item, type SessionState, type Step, openBlockers } from '../../session/state.ts'
import { cleanText, oneLine } from '../../text/clean.ts'

/** Entries that hold only a text. */
const TEXT_KINDS = {
  goal: 'goal.set',
  tldr: 'tldr.written',
  step: 'step.added',
  progress: 'progress.made',
  discovery: 'discovery.made',
  gotcha: 'gotcha.found',
  blocker: 'blocker.raised',
  next: 'next.added',
  key: 'key.added',
  note: 'note.added',
} as const

type TextEntry<K> = K extends string ? { readonly [P in K]: string } : never

/** Steps, blockers and next steps are named by their text, a unique part of it, or their number. */
export type LogEntry =
  | TextEntry<keyof typeof TEXT_KINDS | 'current' | 'done' | 'command'>
  | {
      readonly decision: string
      readonly context?: string
      readonly options?: string
      readonly choice?: string
      readonly rationale?: string
    }
  | { readonly resolved: string; readonly resolution?: string }
  | { readonly file: string; readonly description?: string }

type MakeDraft = <K extends EntryKind>(kind: K, data: EntryData[K], id?: string) => EntryDraft

/** Reads the state only for entries that depend on it. */
export function logEntryDrafts(
  entry: LogEntry,
  readState: () => SessionState,
  { mint, by }: { mint: () => string; by: string },
): readonly EntryDraft[] {
  const make: MakeDraft = (kind, data, id = mint()) =>
    draftEntry(kind, data, { id, by }) as EntryDraft
  for (const [flag, kind] of Object.entries(TEXT_KINDS))
    if (flag in entry)
      return [make(kind, { text: requireText((entry as Record<string, string>)[flag]!, flag) })]
  if ('current' in entry) return startStep(entry.current, readState(), make, mint)
  if ('done' in entry) return finishStep(entry.done, readState(), make, mint)
  if ('decision' in entry) {
    const { decision, context, options, choice, rationale } = entry
    const title = oneLine(requireText(decision, 'decision'))
    return [
      make('decision.made', { title, ...nonEmptyTexts({ context, options, choice, rationale }) }),
    ]
  }
  if ('resolved' in entry) {
    const open = openBlockers(readState())
    const blocker = findByText(open, entry.resolved)
    if (blocker === undefined) throw notFound('open blocker', entry.resolved, open)
    const { resolution } = entry
    return [make('blocker.resolved', { blocker: blocker.id, ...nonEmptyTexts({ resolution }) })]
  }
  if ('command' in entry)
    return [make('command.kept', { command: oneLine(requireText(entry.command, 'command')) })]
  const { file, description } = entry as Extract<LogEntry, { file: string }>
  const path = oneLine(requireText(file, 'file'))
  return [
    description === undefined
      ? make('file.changed', { path })
      : make('file.noted', { path, ...nonEmptyTexts({ description }) }),
  ]
}

function startStep(
  reference: string,
  { steps: { items } }: SessionState,
  make: MakeDraft,
  mint: () => string,
) {
  const number = numberOf(reference)
  const step = number === undefined ? findByText(items, reference) : items[number - 1]
  const id = step?.id ?? mint()
  const before =
    step === undefined
      ? [make('step.added', { text: requireText(reference, 'current') }, id)]
      : step.status === 'done'
        ? [make('step.reopened', { step: id })]
        : []
  return [...before, make('step.started', { step: id })]
}

/** Finishing a step starts the next. An unknown step is recorded as done. */
function finishStep(
  reference: string,
  { steps: { items }, next }: SessionState,
  make: MakeDraft,
  mint: () => string,
) {
  const todo = items.filter((step) => step.status !== 'done')
  const number = numberOf(reference)
  const step = number === undefined ? findByText(todo, reference) : items[number - 1]
  const planned = next.items.find((item) => isSameText(item.text, reference))
  const nextDrafts = planned === undefined ? [] : [make('next.taken', { next: planned.id })]
  if (step !== undefined)
    return [
      make('step.done', { step: step.id }),
      ...nextDrafts,
      ...startFollowing(step, todo, make),
    ]
  if (number !== undefined) throw notFound('step', reference, items)
  if (items.some((done) => done.status === 'done' && isSameText(done.text, reference)))
    return nextDrafts
  const id = mint()
  return [
    make('step.added', { text: requireText(reference, 'done') }, id),
    make('step.done', { step: id }),
    ...nextDrafts,
  ]
}

function startFollowing(done: Step, todo: readonly Step[], make: MakeDraft) {
  const others = todo.filter((step) => step.id !== done.id)
  const after = todo[todo.indexOf(done) + 1] ?? others[0]
  const isWanted = done.status === 'started' && others.every((step) => step.status !== 'started')
  return isWanted && after !== undefined ? [make('step.started', { step: after.id })] : []
}

function findByText<T extends Item>(items: readonly T[], reference: string) {
  const exact = items.find((item) => isSameText(item.text, reference))
  if (exact !== undefined) return exact
  const plain = normalise(reference)
  const matches =
    plain.length < 3 ? [] : items.filter((item) => normalise(item.text).includes(plain))
  if (matches.length > 1)
    throw new StintError(
      'TEXT_AMBIGUOUS',
      [`"${reference}" fits several:`, ...matches.map((item) => `  ${item.text}`)].join('\n'),
    )
  return matches[0]
}

function numberOf(reference: string) {
  const number = /^(?:step )?#?(\d{1,4})$/i.exec(reference.trim())
  return number === null ? undefined : Number(number[1])
}

function isSameText(a: string, b: string) {
  return normalise(a) === normalise(b)
}

function normalise(value: string) {
  return oneLine(value).toLowerCase()
}

function notFound(noun: string, reference: string, items: readonly Item[]) {
  const list = items.slice(0, 10).map((item, index) => `  ${index + 1}. ${oneLine(item.text)}`)
  return new StintError(
    'NOT_FOUND',
    [`there is no ${noun} "${reference}"`, ...list].join('\n'),
    'name one of those above, or a part of it',
  )
}

function requireText(value: string, flag: string) {
  const cleaned = cleanText(value).trim()
  if (cleaned === '')
    throw new StintError('EMPTY_TEXT', `--${flag} is empty`, `say what to record: --${flag} "…"`)
  return cleaned
}

function nonEmptyTexts<K extends string>(texts: Record<K, string | undefined>) {
  const cleaned = Object.entries<string | undefined>(texts).flatMap(([name, value]) => {
    const text = cleanText(value ?? '').trim()
    return text === '' ? [] : [[name, text]]
  })
  return Object.fromEntries(cleaned)
}
