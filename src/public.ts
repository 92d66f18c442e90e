// The one projection for programs: `--json`, MCP, the page, state.json and the library show these and nothing else. docs/json.md lists the
// fields. A run, a delegate and a conversation are made for showing where they are read, so their rows are public as they are.
import type { Task } from './backlog/task.ts'
import { entryText, joinWords } from './index/entry-text.ts'
import type { WorkflowOverview } from './project/workflow/phases.ts'
import { type RawEntry, sortedById } from './session/effective-entries.ts'
import { currentLeaf, currentFocus } from './session/kinds/phases.ts'
import { kindGroup, kindLabel, subjectId } from './session/registry.ts'
import { defined } from './text/defined.ts'

export { type PublicError, StintError, errnoOf, isMissing, publicError } from './journal/errors.ts'
export { shortId } from './journal/ids.ts'
export { SEARCH_NAMES } from './session/registry.ts'
export {
  type PublicCheckpoint,
  type PublicHandoff,
  type PublicList,
  type PublicSession,
  type PublicSessionHead,
  type SessionRow,
  publicCheckpoint,
  publicHandoff,
  publicSession,
  publicSessionHead,
} from './session/public-session.ts'
export type { ConversationRow as PublicConversation } from './project/history/history.ts'
export type {
  DelegateDetail as PublicDelegateDetail,
  DelegateRow as PublicDelegate,
} from './run/delegate/delegate-row.ts'
export type { RunReport as PublicRunReport, RunRow as PublicRun } from './run/entries.ts'

export type PublicTask = ReturnType<typeof publicTask>
export type PublicEntry = ReturnType<typeof publicEntry>
export type PublicWorkflow = ReturnType<typeof publicWorkflow>

export function publicTask({ id, shortname, ...task }: Task) {
  return { id, name: shortname, ...task }
}

/** One entry with its words. `textOf` finds those of an entry that this one is about. */
export function publicEntry(
  entry: RawEntry,
  isRetracted: boolean,
  textOf: (id: string) => string | undefined,
) {
  const { id, at, kind, by, data } = entry
  return {
    id,
    at,
    kind,
    label: kindLabel(kind),
    group: kindGroup(kind),
    by,
    text: wordsOf(entry, textOf),
    data,
    isRetracted,
  }
}

/** Entries of a session. One about another of `all` says what that one says. */
export function publicEntries(
  entries: readonly RawEntry[],
  all: () => readonly RawEntry[] = () => entries,
): readonly PublicEntry[] {
  const retracted = new Set<unknown>()
  // Newest first, so that a retraction which was itself retracted no longer counts.
  for (const { id, kind, data } of sortedById(entries).toReversed())
    if (kind === 'entry.retracted' && !retracted.has(id)) retracted.add(data['entry'])
  let byId: ReadonlyMap<string, RawEntry> | undefined
  const textOf = (id: string): string | undefined => {
    byId ??= new Map(all().map((entry) => [entry.id, entry]))
    const about = byId.get(id)
    return about === undefined ? undefined : joinWords(entryText(about))
  }
  return entries.map((entry) => publicEntry(entry, retracted.has(entry.id), textOf))
}

/** What an entry says. One that ticks or retracts another says what that one says. */
function wordsOf(entry: RawEntry, textOf: (id: string) => string | undefined): string {
  const own = joinWords(entryText(entry))
  if (own !== '') return own
  const about = subjectId(entry)
  return about === undefined ? '' : (textOf(about) ?? '')
}

export function publicWorkflow(overview: WorkflowOverview) {
  const { state, workflow, deliverables, conversation, splitHere, next } = overview
  const { phase, leaf: place } = currentLeaf(workflow)
  return {
    id: workflow.id,
    name: workflow.name,
    session: state.id,
    status: state.status,
    template: workflow.templateName,
    percent: workflow.percent,
    phase: { id: place.id, name: place.name, status: place.status },
    isWaitingForApproval: phase.status === 'waiting for approval',
    ...defined({ focus: currentFocus(state), conversation }),
    isSplitHere: splitHere,
    next,
    phases: workflow.phases,
    approvals: workflow.approvals,
    deliverables,
  }
}
