// Never loaded by hooks.
import * as captured from './kinds/captured.ts'
import * as conversations from './kinds/conversations.ts'
import * as delegates from './kinds/delegates.ts'
import * as document from './kinds/document.ts'
import * as files from './kinds/files.ts'
import * as findings from './kinds/findings.ts'
import * as handoffs from './kinds/handoffs.ts'
import type { EntryTopic, DocumentItem, EntryGroup, Kind, Kinds, Writer } from './kinds/kind.ts'
import * as session from './kinds/session.ts'
import * as statements from './kinds/statements.ts'
import * as steps from './kinds/steps.ts'
import * as tasks from './kinds/tasks.ts'
import * as workflow from './kinds/workflow.ts'
import type { EntryData, EntryKind } from './entries.ts'
import type { RawEntry } from './effective-entries.ts'
import type { SessionState } from './state.ts'

const KINDS: Kinds<EntryData, SessionState> = {
  ...session.kinds(),
  ...steps.kinds(),
  ...findings.kinds(),
  ...delegates.kinds(),
  ...files.kinds(),
  ...document.kinds(),
  ...handoffs.kinds(),
  ...captured.kinds(),
  ...statements.kinds(),
  ...conversations.kinds(),
  ...workflow.kinds(),
  ...tasks.kinds(),
}

type AnyKind = Kind<Record<string, unknown>, SessionState>

function kindOf(kind: string) {
  return Object.hasOwn(KINDS, kind) ? (KINDS[kind as EntryKind] as unknown as AnyKind) : undefined
}

export const SEARCH_NAMES: ReadonlyMap<string, readonly string[]> = searchNames()

function searchNames() {
  const names = new Map<string, string[]>()
  for (const [kind, { searchedAs }] of Object.entries<AnyKind>(KINDS as never)) {
    if (searchedAs === undefined) continue
    names.set(searchedAs, [...(names.get(searchedAs) ?? []), kind])
  }
  return names
}

export function kindLabel(kind: string): string {
  return kindOf(kind)?.label ?? kind.replaceAll(/[._]/g, ' ')
}

export function kindGroup(kind: string): EntryGroup {
  return kindOf(kind)?.group ?? 'session'
}

export function mayWrite(writer: Writer, kind: string): boolean {
  return kindOf(kind)?.writers.includes(writer) === true
}

export function amendableFields(kind: string): readonly string[] {
  return kindOf(kind)?.amendable ?? []
}

export function entryTopic({ kind, data }: RawEntry): EntryTopic {
  const about = kindOf(kind)?.about ?? 'work'
  return typeof about === 'function' ? about(data) : about
}

function proseFields({ kind, data }: RawEntry) {
  const prose = kindOf(kind)?.prose ?? Object.keys(data)
  return typeof prose === 'function' ? prose(data) : prose
}

/** Every field where the kind is unknown. */
export function entryProse(entry: RawEntry): Readonly<Record<string, unknown>> {
  const prose = proseFields(entry)
  return Object.fromEntries(Object.entries(entry.data).filter(([name]) => prose.includes(name)))
}

export function subjectId({ kind, data }: RawEntry): string | undefined {
  const { subject } = kindOf(kind) ?? {}
  const id = subject === undefined ? undefined : data[subject]
  return typeof id === 'string' ? id : undefined
}

export function entryHeadline(
  entry: RawEntry,
  find: (id: string) => RawEntry | undefined,
  depth = 0,
): string {
  const line = kindOf(entry.kind)?.line ?? proseFields(entry)
  const own = typeof line === 'function' ? line(entry.data) : ''
  if (own !== '') return own
  const about = subjectId(entry)
  // A retraction of a retraction has an entry as subject that has a subject itself.
  const subject = about === undefined || depth > 3 ? undefined : find(about)
  if (subject !== undefined) return entryHeadline(subject, find, depth + 1)
  const texts = typeof line === 'function' ? [] : line.map((field) => entry.data[field])
  return texts.find((text): text is string => typeof text === 'string' && text !== '') ?? ''
}

export const DOCUMENT_ITEMS: readonly (DocumentItem<SessionState> & {
  readonly kind: EntryKind
})[] = (Object.entries(KINDS) as [EntryKind, AnyKind][]).flatMap(([kind, known]) =>
  known.document === undefined ? [] : [{ ...known.document, kind }],
)
