import { StintError } from '../../journal/errors.ts'
import { type Draft, type EntryData, type EntryKind, draft } from '../../session/entries.ts'
import { type Item, type SessionState, type Step, openBlockers } from '../../session/state.ts'
import { cleanText, oneLine } from '../../text/clean.ts'

/** Steps, blockers and next steps are named by their text, a unique part of it, or their number. */
export type LogEntry =
  | { readonly goal: string }
  | { readonly tldr: string }
  | { readonly step: string }
  | { readonly current: string }
  | { readonly done: string }
  | { readonly progress: string }
  | {
      readonly decision: string
      readonly context?: string
      readonly options?: string
      readonly choice?: string
      readonly rationale?: string
    }
  | { readonly discovery: string }
  | { readonly gotcha: string }
  | { readonly blocker: string }
  | { readonly resolved: string; readonly resolution?: string }
  | { readonly next: string }
  | { readonly key: string }
  | { readonly file: string; readonly description?: string }
  | { readonly command: string }
  | { readonly note: string }

interface Context {
  readonly mint: () => string
  readonly by: string
}

/** The state is read only where it matters. */
export function draftsFor(
  entry: LogEntry,
  stateNow: () => SessionState,
  context: Context,
): readonly Draft[] {
  const make = <K extends EntryKind>(kind: K, data: EntryData[K], id = context.mint()): Draft =>
    draft(kind, data, { id, by: context.by }) as Draft
  if ('goal' in entry) return [make('goal.set', { text: text(entry.goal, 'goal') })]
  if ('tldr' in entry) return [make('tldr.written', { text: text(entry.tldr, 'tldr') })]
  if ('step' in entry) return [make('step.added', { text: text(entry.step, 'step') })]
  if ('current' in entry) return startStep(entry.current, stateNow(), make, context)
  if ('done' in entry) return finishStep(entry.done, stateNow(), make, context)
  if ('progress' in entry)
    return [make('progress.made', { text: text(entry.progress, 'progress') })]
  if ('decision' in entry) return [make('decision.made', decision(entry))]
  if ('discovery' in entry)
    return [make('discovery.made', { text: text(entry.discovery, 'discovery') })]
  if ('gotcha' in entry) return [make('gotcha.found', { text: text(entry.gotcha, 'gotcha') })]
  if ('blocker' in entry) return [make('blocker.raised', { text: text(entry.blocker, 'blocker') })]
  if ('resolved' in entry) {
    const open = openBlockers(stateNow())
    const blocker = named(open, entry.resolved)
    if (blocker === undefined) throw notFound('open blocker', entry.resolved, open)
    return [
      make('blocker.resolved', {
        blocker: blocker.id,
        ...optional('resolution', entry.resolution),
      }),
    ]
  }
  if ('next' in entry) return [make('next.added', { text: text(entry.next, 'next') })]
  if ('key' in entry) return [make('key.added', { text: text(entry.key, 'key') })]
  if ('command' in entry)
    return [make('command.kept', { command: oneLine(text(entry.command, 'command')) })]
  if ('note' in entry) return [make('note.added', { text: text(entry.note, 'note') })]
  const path = oneLine(text(entry.file, 'file'))
  const described = optional('description', entry.description)
  return [
    entry.description === undefined
      ? make('file.changed', { path })
      : make('file.noted', { path, ...described }),
  ]
}

type Make = <K extends EntryKind>(kind: K, data: EntryData[K], id?: string) => Draft

function startStep(
  reference: string,
  state: SessionState,
  make: Make,
  context: Context,
): readonly Draft[] {
  const step = named(state.steps.items, reference, numberOf(reference))
  if (step !== undefined && step.status === 'done')
    return [make('step.reopened', { step: step.id }), make('step.started', { step: step.id })]
  if (step !== undefined) return [make('step.started', { step: step.id })]
  const id = context.mint()
  return [
    make('step.added', { text: text(reference, 'current') }, id),
    make('step.started', { step: id }),
  ]
}

/** Finishing a step starts the next. A text that is no step is recorded as one, done. */
function finishStep(
  reference: string,
  state: SessionState,
  make: Make,
  context: Context,
): readonly Draft[] {
  const todo = state.steps.items.filter((step) => step.status !== 'done')
  const numbered = numberOf(reference)
  const step = numbered === undefined ? named(todo, reference) : state.steps.items[numbered - 1]
  const planned = state.next.items.find((item) => same(item.text, reference))
  const taken = planned === undefined ? [] : [make('next.taken', { next: planned.id })]
  if (step !== undefined)
    return [make('step.done', { step: step.id }), ...taken, ...following(step, todo, make)]
  if (numbered !== undefined) throw notFound('step', reference, state.steps.items)
  const isDone = state.steps.items.some(
    (done) => done.status === 'done' && same(done.text, reference),
  )
  if (isDone) return taken
  const id = context.mint()
  return [
    make('step.added', { text: text(reference, 'done') }, id),
    make('step.done', { step: id }),
    ...taken,
  ]
}

function following(done: Step, todo: readonly Step[], make: Make): readonly Draft[] {
  const others = todo.filter((step) => step.id !== done.id)
  const [first] = others
  if (
    done.status !== 'started' ||
    first === undefined ||
    others.some((step) => step.status === 'started')
  )
    return []
  const after = todo.slice(todo.indexOf(done) + 1)[0] ?? first
  return [make('step.started', { step: after.id })]
}

function decision(entry: Extract<LogEntry, { decision: string }>): EntryData['decision.made'] {
  return {
    title: oneLine(text(entry.decision, 'decision')),
    ...optional('context', entry.context),
    ...optional('options', entry.options),
    ...optional('choice', entry.choice),
    ...optional('rationale', entry.rationale),
  }
}

function named<T extends Item>(
  items: readonly T[],
  reference: string,
  number?: number,
): T | undefined {
  if (number !== undefined) return items[number - 1]
  const exact = items.filter((item) => same(item.text, reference))
  if (exact.length > 0) return exact[0]
  const plain = fold(reference)
  const parts = plain.length < 3 ? [] : items.filter((item) => fold(item.text).includes(plain))
  if (parts.length > 1)
    throw new StintError(
      'TEXT_AMBIGUOUS',
      [`"${reference}" fits several:`, ...parts.map((item) => `  ${item.text}`)].join('\n'),
    )
  return parts[0]
}

function numberOf(reference: string): number | undefined {
  const number = /^(?:step )?#?(\d{1,4})$/i.exec(reference.trim())
  return number === null ? undefined : Number(number[1])
}

function same(a: string, b: string): boolean {
  return fold(a) === fold(b)
}

function fold(value: string): string {
  return oneLine(value).toLowerCase()
}

function notFound(what: string, reference: string, items: readonly Item[]): StintError {
  const list = items.slice(0, 10).map((item, index) => `  ${index + 1}. ${oneLine(item.text)}`)
  return new StintError(
    'NOT_FOUND',
    [`there is no ${what} "${reference}"`, ...list].join('\n'),
    'name one of those above, or a part of it',
  )
}

function text(value: string, flag: string): string {
  const cleaned = cleanText(value).trim()
  if (cleaned === '')
    throw new StintError('EMPTY_TEXT', `--${flag} is empty`, `say what to record: --${flag} "…"`)
  return cleaned
}

function optional<K extends string>(name: K, value: string | undefined): { [P in K]?: string } {
  const cleaned = value === undefined ? '' : cleanText(value).trim()
  return cleaned === '' ? {} : ({ [name]: cleaned } as { [P in K]?: string })
}
