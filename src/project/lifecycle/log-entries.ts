import { StintError } from '../../journal/errors.ts'
import {
  type EntryDraft,
  type EntryData,
  type EntryKind,
  draftEntry,
} from '../../session/entries.ts'
import { type Item, type SessionState, type Step, openBlockers } from '../../session/state.ts'
import { cleanText, oneLine } from '../../text/clean.ts'

/** What is logged as a text and nothing else. */
const TEXTS = {
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

type OneText<K> = K extends string ? { readonly [P in K]: string } : never

/** Steps, blockers and next steps are named by their text, a unique part of it, or their number. */
export type LogEntry =
  | OneText<keyof typeof TEXTS | 'current' | 'done' | 'command'>
  | {
      readonly decision: string
      readonly context?: string
      readonly options?: string
      readonly choice?: string
      readonly rationale?: string
    }
  | { readonly resolved: string; readonly resolution?: string }
  | { readonly file: string; readonly description?: string }

type Make = <K extends EntryKind>(kind: K, data: EntryData[K], id?: string) => EntryDraft

/** The state is read only where it matters. */
export function logEntryDrafts(
  entry: LogEntry,
  stateNow: () => SessionState,
  { mint, by }: { mint: () => string; by: string },
): readonly EntryDraft[] {
  const make: Make = (kind, data, id = mint()) => draftEntry(kind, data, { id, by }) as EntryDraft
  for (const [flag, kind] of Object.entries(TEXTS))
    if (flag in entry)
      return [make(kind, { text: text((entry as Record<string, string>)[flag]!, flag) })]
  if ('current' in entry) return startStep(entry.current, stateNow(), make, mint)
  if ('done' in entry) return finishStep(entry.done, stateNow(), make, mint)
  if ('decision' in entry) {
    const { decision, context, options, choice, rationale } = entry
    const title = oneLine(text(decision, 'decision'))
    return [make('decision.made', { title, ...given({ context, options, choice, rationale }) })]
  }
  if ('resolved' in entry) {
    const open = openBlockers(stateNow())
    const blocker = named(open, entry.resolved)
    if (blocker === undefined) throw notFound('open blocker', entry.resolved, open)
    const { resolution } = entry
    return [make('blocker.resolved', { blocker: blocker.id, ...given({ resolution }) })]
  }
  if ('command' in entry)
    return [make('command.kept', { command: oneLine(text(entry.command, 'command')) })]
  const { file, description } = entry as Extract<LogEntry, { file: string }>
  const path = oneLine(text(file, 'file'))
  return [
    description === undefined
      ? make('file.changed', { path })
      : make('file.noted', { path, ...given({ description }) }),
  ]
}

function startStep(
  reference: string,
  { steps: { items } }: SessionState,
  make: Make,
  mint: () => string,
) {
  const number = numberOf(reference)
  const step = number === undefined ? named(items, reference) : items[number - 1]
  const id = step?.id ?? mint()
  const before =
    step === undefined
      ? [make('step.added', { text: text(reference, 'current') }, id)]
      : step.status === 'done'
        ? [make('step.reopened', { step: id })]
        : []
  return [...before, make('step.started', { step: id })]
}

/** Finishing a step starts the next. A text that is no step is recorded as one, done. */
function finishStep(
  reference: string,
  { steps: { items }, next }: SessionState,
  make: Make,
  mint: () => string,
) {
  const todo = items.filter((step) => step.status !== 'done')
  const number = numberOf(reference)
  const step = number === undefined ? named(todo, reference) : items[number - 1]
  const planned = next.items.find((item) => same(item.text, reference))
  const taken = planned === undefined ? [] : [make('next.taken', { next: planned.id })]
  if (step !== undefined)
    return [make('step.done', { step: step.id }), ...taken, ...following(step, todo, make)]
  if (number !== undefined) throw notFound('step', reference, items)
  if (items.some((done) => done.status === 'done' && same(done.text, reference))) return taken
  const id = mint()
  return [
    make('step.added', { text: text(reference, 'done') }, id),
    make('step.done', { step: id }),
    ...taken,
  ]
}

function following(done: Step, todo: readonly Step[], make: Make) {
  const others = todo.filter((step) => step.id !== done.id)
  const after = todo[todo.indexOf(done) + 1] ?? others[0]
  const isWanted = done.status === 'started' && others.every((step) => step.status !== 'started')
  return isWanted && after !== undefined ? [make('step.started', { step: after.id })] : []
}

function named<T extends Item>(items: readonly T[], reference: string) {
  const exact = items.find((item) => same(item.text, reference))
  if (exact !== undefined) return exact
  const plain = fold(reference)
  const parts = plain.length < 3 ? [] : items.filter((item) => fold(item.text).includes(plain))
  if (parts.length > 1)
    throw new StintError(
      'TEXT_AMBIGUOUS',
      [`"${reference}" fits several:`, ...parts.map((item) => `  ${item.text}`)].join('\n'),
    )
  return parts[0]
}

function numberOf(reference: string) {
  const number = /^(?:step )?#?(\d{1,4})$/i.exec(reference.trim())
  return number === null ? undefined : Number(number[1])
}

function same(a: string, b: string) {
  return fold(a) === fold(b)
}

function fold(value: string) {
  return oneLine(value).toLowerCase()
}

function notFound(what: string, reference: string, items: readonly Item[]) {
  const list = items.slice(0, 10).map((item, index) => `  ${index + 1}. ${oneLine(item.text)}`)
  return new StintError(
    'NOT_FOUND',
    [`there is no ${what} "${reference}"`, ...list].join('\n'),
    'name one of those above, or a part of it',
  )
}

function text(value: string, flag: string) {
  const cleaned = cleanText(value).trim()
  if (cleaned === '')
    throw new StintError('EMPTY_TEXT', `--${flag} is empty`, `say what to record: --${flag} "…"`)
  return cleaned
}

/** The texts that are not empty. */
function given<K extends string>(texts: Record<K, string | undefined>) {
  const cleaned = Object.entries<string | undefined>(texts).flatMap(([name, value]) => {
    const said = cleanText(value ?? '').trim()
    return said === '' ? [] : [[name, said]]
  })
  return Object.fromEntries(cleaned)
}
