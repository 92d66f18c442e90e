// The one projection for programs: `--json`, MCP, the page, state.json and the library show only these fields, which docs/json.md lists.
// Rows of runs, delegates and conversations are public as they are.
import type { Task } from '../backlog/task.ts'
import { entryText, joinWords } from '../index/entry-text.ts'
import type { WorkflowOverview } from '../project/workflow/phases.ts'
import { type RawEntry, sortedById } from '../session/effective-entries.ts'
import { currentLeaf, currentFocus } from '../session/kinds/phases.ts'
import { kindGroup, kindLabel, subjectId } from '../session/registry.ts'
import { defined } from '../text/defined.ts'

export { type PublicError, StintError, errnoOf, isMissing, publicError } from '../journal/errors.ts'
export { shortId } from '../journal/ids.ts'
export { SEARCH_NAMES } from '../session/registry.ts'
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
} from '../session/public-session.ts'
export type { ConversationRow as PublicConversation } from '../project/history/history.ts'
export type {
  DelegateDetail as PublicDelegateDetail,
  DelegateRow as PublicDelegate,
} from '../run/delegate/delegate-row.ts'
export type { RunReport as PublicRunReport, RunRow as PublicRun } from '../run/entries.ts'

export type PublicTask = ReturnType<typeof publicTask>
export type PublicEntry = ReturnType<typeof publicEntry>
export type PublicWorkflow = ReturnType<typeof publicWorkflow>

export function publicTask({ id, shortname, ...task }: Task) {
  return { id, name: shortname, ...task }
}

/** One entry with its text. `findText` returns the text of the entry that this one is about. */
export function publicEntry(
  entry: RawEntry,
  isRetracted: boolean,
  findText: (id: string) => string | undefined,
) {
  const { id, at, kind, by, data } = entry
  return {
    id,
    at,
    kind,
    label: kindLabel(kind),
    group: kindGroup(kind),
    by,
    text: textOf(entry, findText),
    data,
    isRetracted,
  }
}

/** Entries of a session. One that is about another entry of `all` gets the text of that entry. */
export function publicEntries(
  entries: readonly RawEntry[],
  all: () => readonly RawEntry[] = () => entries,
): readonly PublicEntry[] {
  const retracted = new Set<unknown>()
  // Newest first, so that a retraction which was itself retracted no longer counts.
  for (const { id, kind, data } of sortedById(entries).toReversed())
    if (kind === 'entry.retracted' && !retracted.has(id)) retracted.add(data['entry'])
  let byId: ReadonlyMap<string, RawEntry> | undefined
  const findText = (id: string): string | undefined => {
    byId ??= new Map(all().map((entry) => [entry.id, entry]))
    const subject = byId.get(id)
    return subject === undefined ? undefined : joinWords(entryText(subject))
  }
  return entries.map((entry) => publicEntry(entry, retracted.has(entry.id), findText))
}

/** The text of an entry. One that ticks or retracts another has the text of that entry. */
function textOf(entry: RawEntry, findText: (id: string) => string | undefined): string {
  const own = joinWords(entryText(entry))
  if (own !== '') return own
  const subject = subjectId(entry)
  return subject === undefined ? '' : (findText(subject) ?? '')
}

export function publicWorkflow(overview: WorkflowOverview) {
  const { state, workflow, deliverables, conversation, splitHere, next } = overview
  const { phase, leaf } = currentLeaf(workflow)
  return {
    id: workflow.id,
    name: workflow.name,
    session: state.id,
    status: state.status,
    template: workflow.templateName,
    percent: workflow.percent,
    phase: { id: leaf.id, name: leaf.name, status: leaf.status },
    isWaitingForApproval: phase.status === 'waiting for approval',
    ...defined({ focus: currentFocus(state), conversation }),
    isSplitHere: splitHere,
    next,
    phases: workflow.phases,
    approvals: workflow.approvals,
    deliverables,
  }
}
