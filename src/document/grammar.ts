import type { Region } from '../session/kinds/kind.ts'

export const CURRENT_MARK = '<- CURRENT'
export const TIME_PATTERN = String.raw`\d{4}-\d{2}-\d{2}T\d{2}:\d{2}`

export const HEADINGS = [
  { key: 'tldr', title: 'TL;DR (Read This First)', region: 'tldr' },
  { key: 'context', title: 'Context', region: 'context' },
  { key: 'progress', title: 'Progress', region: 'progress' },
  { key: 'decisions', title: 'Decisions', region: 'decisions' },
  { key: 'discoveries', title: 'Discoveries', region: 'discoveries' },
  { key: 'blockers', title: 'Blockers', region: 'blockers' },
  { key: 'next', title: 'Next Steps', region: 'next' },
  { key: 'delegates', title: 'Delegates', region: 'delegates' },
  { key: 'notes', title: 'Notes', region: 'notes' },
  { key: 'changedFiles', title: 'Files Modified', region: 'changedFiles' },
  { key: 'commands', title: 'Resume Commands', region: 'commands' },
] as const satisfies readonly { key: string; title: string; region: Region }[]

export type HeadingKey = (typeof HEADINGS)[number]['key']

/** Shown only when not empty, so that a plain session looks exactly like the format's example. */
export const OPTIONAL_HEADINGS: ReadonlySet<HeadingKey> = new Set([
  'delegates',
  'notes',
  'changedFiles',
  'commands',
])

export const PROGRESS_HEADINGS = [
  { title: 'Completed', region: 'completed' },
  { title: 'In Progress', region: 'inProgress' },
  { title: 'Remaining', region: 'remaining' },
] as const satisfies readonly { title: string; region: Region }[]

export const KEY_FILES_LINE = '**Key Files**:'
export const KEY_CONTEXT_LINE = '**Key Context** (survives compaction):'

/** A computed line of the TL;DR. A person's remark about the workflow is not one. */
export const STATUS_PATTERN =
  /^\*\*(?:Progress|Current|Blocker)\*\*:|^\*\*Workflow\*\*: Phase .*\(\d+% complete\)$/

export const PLACEHOLDERS: ReadonlySet<string> = new Set(['None yet', 'None currently'])

export const DECISION_FIELDS = [
  { label: 'Context', field: 'context' },
  { label: 'Options', field: 'options' },
  { label: 'Choice', field: 'choice' },
  { label: 'Rationale', field: 'rationale' },
  { label: 'Delegate', field: 'whose' },
] as const

export const DELEGATE_PATTERN =
  /^\*\*[^*]+\*\* \((?:running|ready|merged|conflicted|failed|parked|discarded)\)(?::|$)/

export const NO_RATIONALE = 'not recorded'

export interface DocumentMarker {
  readonly offset: number
  readonly sum: string
}

export function markerLine(marker: DocumentMarker): string {
  return `<!-- stint: rendered from ${marker.offset} bytes ${marker.sum} -->`
}

export const MARKER_PATTERN = /^<!-- stint: rendered from (\d+) bytes ([0-9a-f]{8}) -->$/

// An item that could be parsed as something else gets a backslash, which the parser removes.
const MISTAKABLE = /^\\*(?:\[[ xX]\](?: |$)|None yet$|None currently$)/
const STRUCTURAL =
  /^\\*(?:#|\*\*(?:Progress|Current|Blocker|Objective|Key Files|Key Context)\*\*|\*\*Workflow\*\*: Phase |<!-- stint|<{7}|={7}|>{7}|---$|```|~~~)/

export function escapeItem(text: string): string {
  return MISTAKABLE.test(text) ? `\\${text}` : text
}

export function unescapeItem(text: string): string {
  return text.startsWith('\\') && MISTAKABLE.test(text) ? text.slice(1) : text
}

export function escapeLine(line: string): string {
  return STRUCTURAL.test(line) ? `\\${line}` : line
}

export function unescapeLine(line: string): string {
  return line.startsWith('\\') && STRUCTURAL.test(line) ? line.slice(1) : line
}

export interface ListItem {
  readonly text: string
  readonly end: number
}

/** A fence that never closes is an ordinary line. */
export function fencedLines(lines: readonly string[]): readonly boolean[] {
  const fenced = lines.map(() => false)
  const unclosed = new Set<string>()
  for (let start = 0; start < lines.length; start += 1) {
    const mark = /^(?:`{3,}|~{3,})/.exec(lines[start]!)?.[0]
    if (mark === undefined || unclosed.has(mark)) continue
    const end = lines.findIndex(
      (line, index) =>
        index > start && line.startsWith(mark) && line.slice(mark.length).trim() === '',
    )
    if (end === -1) {
      unclosed.add(mark)
      continue
    }
    fenced.fill(true, start, end + 1)
    start = end
  }
  return fenced
}

const LIST_MARKER = /^(?:[-*+]|\d+[.)])(?: +|$)/

export function listItemAt(lines: readonly string[], start: number): ListItem | undefined {
  const marker = LIST_MARKER.exec(lines[start]!)?.[0]
  if (marker === undefined) return undefined
  const { text, end } = continuationLines(lines, start + 1, marker.length)
  return { text: [lines[start]!.slice(marker.length), ...text].join('\n').trimEnd(), end }
}

export function continuationLines(
  lines: readonly string[],
  start: number,
  width: number,
): { text: readonly string[]; end: number } {
  const text: string[] = []
  let end = start
  let blanks = 0
  for (let index = start; index < lines.length; index += 1) {
    const line = lines[index]!
    if (line.trim() === '') {
      blanks += 1
      continue
    }
    if (!/^(?: {2}|\t)/.test(line)) break
    text.push(...Array.from({ length: blanks }, () => ''), dedent(line, width))
    blanks = 0
    end = index + 1
  }
  return { text, end }
}

function dedent(line: string, width: number) {
  const indent = /^ */.exec(line)![0].length
  return line.slice(Math.min(indent, width))
}

export function trimBlank(lines: readonly string[]): readonly string[] {
  let start = 0
  let end = lines.length
  while (start < end && lines[start]!.trim() === '') start += 1
  while (end > start && lines[end - 1]!.trim() === '') end -= 1
  return lines.slice(start, end)
}
