import type { Entry, EntryKind } from './entries.ts'
import { amountOf, fields, gitOf, item, optional, str, when } from './entry-fields.ts'
import { DELEGATES } from './delegates.ts'
import { HANDOFFS } from './handoffs.ts'
import { type RawEntry, inEffect, sortedById } from './in-effect.ts'
import { NOTICED } from './noticed.ts'
import type { FileLine, SessionState, Step } from './state.ts'
import { WORKFLOW, followName } from './workflow-fold.ts'
import {
  NeedsFullFold,
  type WorkingShelf,
  change,
  find,
  insert,
  move,
  remove,
} from './working-shelf.ts'
import { type Handler, type Working, initialState, isShelf, workingCopy } from './working-state.ts'
import { defined } from '../text/defined.ts'

export { NeedsFullFold } from './working-shelf.ts'

/** Raised whenever the same entries give another state, so that none kept by an older program is carried on. */
export const FOLD_VERSION = 4

const ONCE_KEPT = 200

/** The state that these entries make, in whatever order they come. Pure; never throws on any data. */
export function fold(sessionId: string, entries: readonly RawEntry[]): SessionState {
  const state = initialState(sessionId)
  for (const entry of inEffect(entries)) apply(state, entry)
  if (state.createdAt === '') state.createdAt = sortedById(entries)[0]?.at ?? ''
  const count = new Set(entries.map((entry) => entry.id)).size
  const last = entries.reduce((max, entry) => (entry.id > max.id ? entry : max), {
    id: '',
    at: state.updatedAt,
  })
  return {
    ...state,
    entryCount: count,
    lastId: last.id,
    updatedAt: last.at,
    once: newestOnce(entries),
  }
}

/**
 * Carries a state forward over newer entries without the older ones. Throws `NeedsFullFold` when
 * an entry is late, or takes back or changes one that went before.
 */
export function advance(state: SessionState, entries: readonly RawEntry[]): SessionState {
  const next = workingCopy(state)
  const known = itemIds(state)
  for (const entry of sortedById(entries)) {
    if (entry.id === next.lastId) continue
    const unknown = REFERENCES.find(
      (field) => isReference(entry.data[field]) && !known.has(entry.data[field]),
    )
    if (unknown !== undefined)
      throw new NeedsFullFold(`${entry.kind} ${entry.id} refers to what is not here`)
    known.add(entry.id)
    if (entry.id < next.lastId) throw new NeedsFullFold(`late entry ${entry.id}`)
    if (REACHING_BACK.has(entry.kind)) throw new NeedsFullFold(`${entry.kind} ${entry.id}`)
    if (entry.once !== undefined && next.once.includes(entry.once))
      throw new NeedsFullFold(`${entry.once} was noticed twice`)
    apply(next, entry)
    if (entry.once !== undefined) next.once = [...next.once, entry.once].slice(-ONCE_KEPT)
    next.entryCount += 1
    next.lastId = entry.id
    next.updatedAt = entry.at
  }
  return next
}

/** Fields by which an entry refers to an earlier one. */
const REFERENCES = ['step', 'blocker', 'next', 'from', 'after', 'handoff'] as const

function isReference(value: unknown): value is string {
  return typeof value === 'string' && value !== 'start'
}

// What is not in a list may have been left behind, taken back, or be another name of an entry that
// was noticed twice; only all entries can tell.
function itemIds(state: SessionState): Set<string> {
  return new Set(
    Object.values(state).flatMap((value) =>
      isShelf(value) ? value.items.map((item) => item.id) : [],
    ),
  )
}

const REACHING_BACK = new Set(['entry.retracted', 'entry.amended', 'item.moved'])

function newestOnce(entries: readonly RawEntry[]): readonly string[] {
  const keys = sortedById(entries).flatMap((entry) =>
    entry.once === undefined ? [] : [entry.once],
  )
  return [...new Set(keys)].slice(-ONCE_KEPT)
}

function apply(state: Working, entry: RawEntry): void {
  const handler = (
    Object.hasOwn(HANDLERS, entry.kind) ? HANDLERS[entry.kind as EntryKind] : undefined
  ) as Handler<EntryKind> | undefined
  handler?.(state, entry.data as never, entry as unknown as Entry)
  if (state.tldr !== undefined && !SILENT.has(entry.kind))
    state.tldr = { ...state.tldr, isOutdated: state.tldr.id !== entry.id }
  const git = gitOf(entry.data.git)
  // What a delegate's merge left was seen on its target, which need not be where this session works.
  if (git === undefined || optional(entry.data.whose) !== undefined) return
  // As a whole: a detached head has no branch, and must not seem to be on the one before.
  state.git = git
  if (BINDING.has(entry.kind)) bindToBranch(state, git.branch)
}

/** Kinds that say where a session is worked on. The others only say what git was like. */
const BINDING = new Set<string>([
  'session.opened',
  'session.resumed',
  'session.reopened',
  'git.observed',
])

function bindToBranch(state: Working, branch: string | undefined): void {
  if (branch === undefined) delete state.branch
  else state.branch = branch
}

/** Kinds after which a written TL;DR is as true as before. */
const SILENT = new Set<string>([
  'checkpoint.made',
  'handoff.made',
  'handoff.accepted',
  'context.compacted',
  'git.observed',
  'session.paused',
  'session.resumed',
  'item.moved',
  'context.given',
  'summary.kept',
  'conversation.joined',
  'conversation.ended',
  'turn.ended',
  'budget.crossed',
  'output.kept',
  'hooks.ran',
  'maintenance.done',
])

const HANDLERS: { readonly [K in EntryKind]?: Handler<K> } = {
  'session.opened': (state, data, entry) => {
    state.name = optional(data.name) ?? state.name
    state.title = optional(data.title) ?? titleFromName(state.name)
    state.goal = str(data.goal)
    state.createdAt = entry.at
    state.openedGit = gitOf(data.git) ?? {}
    bindTo(state, data.worktree)
    followName(state)
  },
  'session.renamed': (state, data) => {
    state.name = optional(data.name) ?? state.name
    followName(state)
  },
  'session.titled': (state, data) => {
    state.title = optional(data.title) ?? state.title
    followName(state)
  },
  'session.paused': (state, data, entry) => {
    if (state.status !== 'active') return
    state.status = 'paused'
    state.pausedAt = entry.at
    const note = optional(data.note)
    if (note !== undefined) state.pauseNote = note
  },
  'session.resumed': (state, data) => {
    if (state.status !== 'active' && state.status !== 'paused') return
    clearEndings(state)
    bindTo(state, data.worktree)
  },
  'session.closed': (state, data, entry) => {
    clearEndings(state)
    state.status = data.how === 'abandoned' ? 'abandoned' : 'completed'
    state.closedAt = entry.at
    const reason = optional(data.reason)
    if (reason !== undefined) state.closeReason = reason
  },
  'session.reopened': (state) => clearEndings(state),
  'goal.set': (state, data) => {
    state.goal = str(data.text)
  },
  'tldr.written': (state, data, entry) => {
    state.tldr = { text: str(data.text), id: entry.id, at: entry.at, isOutdated: false }
  },

  'step.added': (state, data, entry) => {
    const step: Step = {
      ...item(entry, data.text),
      status: 'todo',
      changedAt: entry.at,
      ...fields(data, 'plan'),
    }
    insert(state.steps, step, data.after)
  },
  'step.started': (state, data, entry) => setStep(state, data.step, 'started', entry.at),
  'step.stopped': (state, data, entry) => setStep(state, data.step, 'todo', entry.at),
  'step.done': (state, data, entry) => setStep(state, data.step, 'done', when(data.when, entry.at)),
  'step.reopened': (state, data, entry) => {
    change<Step>(state.steps, data.step, (step) => ({
      ...step,
      status: 'todo',
      changedAt: entry.at,
    }))
  },
  'step.dropped': (state, data) => {
    remove(state.steps, find(state.steps, data.step))
  },

  'progress.made': (state, data, entry) => {
    state.progress.items.push(item(entry, data.text, data.when))
  },
  'decision.made': (state, data, entry) => {
    const decision = {
      ...item(entry, data.title, data.when),
      ...fields(data, 'context', 'options', 'choice', 'rationale', 'whose'),
    }
    insert(state.decisions, decision, data.after)
  },
  'discovery.made': (state, data, entry) => {
    insert(
      state.discoveries,
      { ...item(entry, data.text, data.when), gotcha: false, ...fields(data, 'whose') },
      data.after,
    )
  },
  'gotcha.found': (state, data, entry) => {
    insert(
      state.discoveries,
      { ...item(entry, data.text, data.when), gotcha: true, ...fields(data, 'whose') },
      data.after,
    )
  },
  'blocker.raised': (state, data, entry) => {
    insert(
      state.blockers,
      { ...item(entry, data.text, data.when), ...fields(data, 'whose') },
      data.after,
    )
  },
  'blocker.resolved': (state, data, entry) => {
    const resolution = { resolvedAt: when(data.when, entry.at), ...fields(data, 'resolution') }
    change(state.blockers, data.blocker, (blocker) => ({ ...blocker, ...resolution }))
  },
  'blocker.reopened': (state, data) => {
    change(
      state.blockers,
      data.blocker,
      ({ resolvedAt: _at, resolution: _how, ...blocker }) => blocker,
    )
  },
  'next.added': (state, data, entry) => {
    insert(state.next, item(entry, data.text), data.after)
  },
  'next.taken': (state, data) => {
    remove(state.next, find(state.next, data.next))
  },
  'key.added': (state, data, entry) => {
    insert(state.key, { ...item(entry, data.text), ...fields(data, 'from') }, data.after)
  },
  'file.noted': (state, data, entry) => {
    noteFile(state.keyFiles, fileLine(entry, data), data.after)
  },
  'file.changed': (state, data, entry) => {
    noteFile(state.changedFiles, fileLine(entry, data), data.after)
  },
  'file.dropped': (state, data) => {
    const list = data.list === 'key' ? state.keyFiles : state.changedFiles
    const index = list.items.findIndex((file) => file.text === data.path)
    if (index !== -1) remove(list, index)
    else if (isLeftOut(list, str(data.path)))
      throw new NeedsFullFold(`${str(data.path)} is not in the snapshot`)
  },
  'command.kept': (state, data, entry) => {
    insert(state.commands, item(entry, data.command), data.after)
  },
  'note.added': (state, data, entry) => {
    insert(state.notes, item(entry, data.text, data.when), data.after)
  },
  'remark.placed': (state, data, entry) => {
    state.remarks.items.push({
      ...item(entry, data.text),
      section: str(data.section),
      after: str(data.after),
    })
  },
  'section.written': (state, data, entry) => {
    state.sections.items.push({
      ...item(entry, data.body),
      title: str(data.title),
      after: str(data.after),
    })
  },
  'field.set': (state, data) => {
    const { [str(data.key)]: _replaced, ...others } = state.fields
    const value = str(data.value)
    state.fields = value === '' ? others : { ...others, [str(data.key)]: value }
  },
  'item.moved': (state, data) => {
    const {
      steps,
      decisions,
      discoveries,
      blockers,
      next,
      key,
      keyFiles,
      changedFiles,
      commands,
      notes,
    } = state
    for (const list of [
      steps,
      decisions,
      discoveries,
      blockers,
      next,
      key,
      keyFiles,
      changedFiles,
      commands,
      notes,
    ]) {
      move(list as WorkingShelf<{ readonly id: string }>, data.entry, data.after)
    }
  },
  'checkpoint.made': (state, data, entry) => {
    if (state.tldr?.isOutdated === true) state.tldr = { ...state.tldr, renewed: entry.id }
    const git = gitOf(data.git)
    const code = data.code as { commit: string; ref: string } | undefined
    state.checkpoints.items.push({
      ...item(entry, data.note),
      preCompact: data.preCompact === true,
      ...fields(data, 'tldr'),
      ...defined({ git }),
      ...(typeof code?.commit === 'string' ? { code } : {}),
    })
  },
  'context.compacted': (state, data, entry) => {
    state.compactions += 1
    const tokens = amountOf(data.tokensBefore)
    const conversation = optional(data.conversation)
    if (data.trigger !== 'auto' || tokens === undefined || conversation === undefined) return
    state.lastAutomatic = { conversation, tokens, at: entry.at }
  },

  ...HANDOFFS,
  ...NOTICED,
  ...DELEGATES,
  ...WORKFLOW,
  'task.linked': (state, data) => {
    state.tasks = [...new Set([...state.tasks, str(data.task)])]
  },
  'task.unlinked': (state, data) => {
    state.tasks = state.tasks.filter((task) => task !== data.task)
  },
}

// A done step stays done until it is reopened: an old "started" arriving late must not undo it.
function setStep(state: Working, id: unknown, status: Step['status'], changedAt: string): void {
  change<Step>(state.steps, id, (step) =>
    step.status === 'done' ? step : { ...step, status, changedAt },
  )
}

function clearEndings(state: Working): void {
  state.status = 'active'
  delete state.pausedAt
  delete state.pauseNote
  delete state.closedAt
  delete state.closeReason
}

function bindTo(state: Working, worktree: unknown): void {
  const path = optional(worktree)
  if (path !== undefined) state.worktree = path
}

function fileLine(
  entry: RawEntry | Entry,
  data: { path?: unknown; description?: unknown },
): FileLine {
  return {
    ...item(entry, data.path),
    ...(typeof data.description === 'string' ? { description: data.description } : {}),
  }
}

// The same path noted again keeps its place, so a file edited a hundred times is one line. A new
// description replaces the old one, and an empty one takes it away.
function noteFile(list: WorkingShelf<FileLine>, file: FileLine, after: unknown): void {
  const index = list.items.findIndex((other) => other.text === file.text)
  const known = list.items[index]
  if (known === undefined && isLeftOut(list, file.text)) return
  const { description = known?.description, ...rest } = file
  const noted = {
    ...rest,
    id: known?.id ?? file.id,
    ...(description === undefined || description === '' ? {} : { description }),
  }
  if (known === undefined) insert(list, noted, after)
  else list.items[index] = noted
}

function isLeftOut(list: WorkingShelf<FileLine>, path: string): boolean {
  if (list.earlier === 0) return false
  if (list.leftOut === undefined)
    throw new NeedsFullFold(`${path} may be in the part the snapshot left out`)
  return list.leftOut.includes(path)
}

function titleFromName(name: string): string {
  return name
    .split('-')
    .filter((word) => word !== '')
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join(' ')
}
