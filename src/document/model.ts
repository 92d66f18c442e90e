import { REGIONS, type Region } from '../session/kinds/kind.ts'
import { phaseLine } from '../session/kinds/phases.ts'
import type { Item, ItemList } from '../session/kinds/item-list.ts'
import { DOCUMENT_ITEMS } from '../session/registry.ts'
import {
  type Decision,
  type SessionState,
  type Step,
  currentStep,
  openBlockers,
  stepCounts,
} from '../session/state.ts'
import { tldrOf } from '../session/tldr.ts'
import { defined } from '../text/defined.ts'
import { formatToSecond } from '../text/times.ts'
import { delegateName, delegateText } from './progress-file.ts'

export interface DocumentBlock {
  readonly kind: string
  readonly text: string
  readonly id?: string
  readonly when?: string
  readonly isChecked?: boolean
  readonly isCurrent?: boolean
  readonly description?: string
  readonly context?: string
  readonly options?: string
  readonly choice?: string
  readonly rationale?: string
  readonly resolution?: string
  readonly whose?: string
}

export interface DocumentSection {
  readonly title: string
  readonly body: string
  /** The heading above it: a known one by its key, or another section by its entry. */
  readonly after: string
  readonly id?: string
}

export interface DocumentModel {
  readonly fields: readonly (readonly [key: string, value: string])[]
  readonly title: string
  readonly tldr: string
  readonly progressLine: string
  readonly currentLine: string
  readonly blockerLine: string
  readonly workflowLine: string
  readonly objective: string
  readonly regions: Readonly<Record<Region, readonly DocumentBlock[]>>
  readonly sections: readonly DocumentSection[]
}

export function emptyRegions(): Record<Region, DocumentBlock[]> {
  return Object.fromEntries(REGIONS.map((region) => [region, [] as DocumentBlock[]])) as Record<
    Region,
    DocumentBlock[]
  >
}

export function modelOf(state: SessionState): DocumentModel {
  const { done, total } = stepCounts(state)
  const current = currentStep(state)
  const open = openBlockers(state)
  const more = open.length > 1 ? ` (+${open.length - 1} more)` : ''
  const currentNumber = state.steps.items.findIndex((step) => step.id === current?.id) + 1
  return {
    fields: frontmatter(state),
    title: toLine(state.title),
    tldr: tldrOf(state),
    progressLine: `${done}/${total} steps complete`,
    currentLine: current === undefined ? 'None' : `${toLine(current.text)} (step ${currentNumber})`,
    blockerLine: open[0] === undefined ? 'None' : `${toLine(open[0].text)}${more}`,
    workflowLine: toLine(phaseLine(state) ?? ''),
    objective: state.goal,
    regions: regionsOf(state, current?.id),
    sections: orderSections(state.sections.items).map(({ id, title, text: body, after }) => {
      return { id, title: toLine(title), body, after }
    }),
  }
}

const MAX_DERIVED_LINES = 12

function textBlocks(state: SessionState) {
  const derived = state.key.items.filter((item) => item.from !== undefined)
  const older = new Set<Item>(derived.slice(0, -MAX_DERIVED_LINES))
  const blocks: Record<string, DocumentBlock[]> = {}
  for (const list of new Set(DOCUMENT_ITEMS.flatMap(({ text }) => text?.list ?? []))) {
    const kinds = DOCUMENT_ITEMS.filter(({ text }) => text?.list === list)
    for (const item of (state[list] as ItemList<Item>).items) {
      const kind = kinds.find(({ text }) => text!.matches(item))
      if (kind === undefined || older.has(item)) continue
      const { id, text, at } = item
      const when = kind.text!.isTimed ? at : undefined
      const block = { kind: kind.block, id, text, ...defined({ when }) }
      ;(blocks[kind.regions[0]!] ??= []).push(block)
    }
  }
  return blocks
}

function regionsOf(state: SessionState, currentId: string | undefined) {
  const stepBlock = ({ id, text, status, changedAt }: Step): DocumentBlock => ({
    kind: 'step',
    id,
    text,
    isChecked: status === 'done',
    ...(status === 'done' ? { when: changedAt } : {}),
    ...(id === currentId ? { isCurrent: true } : {}),
  })
  const steps = (status: Step['status']) =>
    state.steps.items.filter((step) => step.status === status).map(stepBlock)
  const items: Record<Region, readonly DocumentBlock[]> = {
    ...emptyRegions(),
    ...textBlocks(state),
    keyFiles: state.keyFiles.items.map((file) => fileBlock('keyFile', file)),
    inProgress: steps('started'),
    remaining: steps('todo'),
    decisions: state.decisions.items.map(decisionBlock),
    blockers: state.blockers.items.map(({ id, text, at, resolvedAt, resolution }) => ({
      kind: 'blocker',
      id,
      text,
      when: resolvedAt ?? at,
      isChecked: resolvedAt !== undefined,
      ...defined({ resolution: resolution && toLine(resolution) }),
    })),
    delegates: state.delegates.items.map((one) => ({
      kind: 'delegate',
      id: one.id,
      text: `**${delegateName(one)}** (${one.status}): ${delegateText(one)}`.trimEnd(),
      when: one.updatedAt,
    })),
    changedFiles: state.changedFiles.items.map((file) => fileBlock('changedFile', file)),
    commands: state.commands.items.map((command) => fileBlock('command', command)),
  }
  items.completed = [...steps('done'), ...items.completed].toSorted(
    (a, b) => compare(a.when, b.when) || compare(a.id, b.id),
  )
  return Object.fromEntries(
    REGIONS.map((region) => [region, withRemarks(region, items[region], state)]),
  ) as Record<Region, readonly DocumentBlock[]>
}

function withRemarks(region: Region, items: readonly DocumentBlock[], state: SessionState) {
  const remarks = state.remarks.items.filter((remark) => remark.section === region)
  if (remarks.length === 0) return items
  const blockOf = new Map(
    remarks.map((remark) => [
      remark.id,
      { kind: 'remark' as const, id: remark.id, text: remark.text },
    ]),
  )
  const known = new Set<string>(['start', ...items.map((item) => item.id ?? ''), ...blockOf.keys()])
  // A remark whose neighbour left the region moves to the end of the region.
  const last = items.at(-1)?.id ?? 'start'
  const anchored = remarks.map((remark) => ({
    ...remark,
    after: known.has(remark.after) ? remark.after : last,
  }))
  const blocks: DocumentBlock[] = []
  const insertRemarks = (anchor: string) => {
    for (const remark of anchored.filter((candidate) => candidate.after === anchor).toReversed()) {
      blocks.push(blockOf.get(remark.id)!)
      insertRemarks(remark.id)
    }
  }
  insertRemarks('start')
  for (const item of items) {
    blocks.push(item)
    insertRemarks(item.id ?? '')
  }
  return blocks
}

function frontmatter(state: SessionState) {
  const { tasks, git, createdAt, pausedAt, pauseNote, closedAt, closeReason } = state
  const hours = (Date.parse(closedAt ?? '') - Date.parse(createdAt)) / 3_600_000
  const fields = defined({
    id: state.id,
    shortname: scalar(state.name),
    status: state.status,
    task_ids: tasks.length === 0 ? '[]' : tasks.map((task) => `\n  - ${scalar(task)}`).join(''),
    created_at: formatToSecond(createdAt),
    updated_at: formatToSecond(state.updatedAt),
    compaction_count: state.compactions,
    git_branch: scalar(git.branch ?? ''),
    git_last_commit: scalar((git.commit ?? '').slice(0, 7)),
    paused_at: ifSet(pausedAt, formatToSecond),
    pause_reason: ifSet(pauseNote, scalar),
    closed_at: ifSet(closedAt, formatToSecond),
    duration_hours: ifSet(closedAt, () =>
      Number.isFinite(hours) ? Math.max(0, hours).toFixed(1) : '0',
    ),
    close_reason: ifSet(closeReason, scalar),
  })
  const known = Object.entries(fields).map(([key, value]): [string, string] => {
    const text = String(value)
    return [key, text.startsWith('\n') ? text : ` ${text}`]
  })
  return [...known, ...Object.entries(state.fields)]
}

function ifSet(text: string | undefined, write: (text: string) => string) {
  return text === undefined ? undefined : write(text)
}

// Two dashes keep it from being parsed as a number or a time.
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function scalar(text: string) {
  if (UUID.test(text)) return text
  return /^[A-Za-z][\w./@-]*$/.test(text) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(text)
    ? text
    : JSON.stringify(text)
}

function decisionBlock(decision: Decision) {
  const { id, text, at, context, options, choice, rationale, whose } = decision
  return {
    kind: 'decision',
    id,
    text: toLine(text),
    when: at,
    choice: choice ?? text,
    ...defined({ context, options, rationale, whose: whose && toLine(whose) }),
  }
}

function fileBlock(kind: string, file: { id: string; text: string; description?: string }) {
  const description = file.description && toLine(file.description)
  return { kind, id: file.id, text: toLine(file.text), ...defined({ description }) }
}

function toLine(text: string) {
  return text.split('\n').join(' ').trim()
}

function compare(a = '', b = '') {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Of two sections under the same heading, the later was inserted in between, so it comes first; merged edits of two machines give one order. */
export function orderSections<T extends { readonly id: string; readonly after: string }>(
  sections: readonly T[],
): readonly T[] {
  const ids = new Set(sections.map((section) => section.id))
  const under = new Map<string, T[]>()
  for (const section of sections) {
    const siblings = under.get(section.after)
    if (siblings === undefined) under.set(section.after, [section])
    else siblings.push(section)
  }
  // Not recursive: a pasted page of thousands of headings is a chain as deep.
  const ordered: T[] = []
  for (const root of [...under.keys()].filter((after) => !ids.has(after))) {
    const waiting = [...under.get(root)!]
    for (let section = waiting.pop(); section !== undefined; section = waiting.pop()) {
      ordered.push(section)
      waiting.push(...(under.get(section.id) ?? []))
    }
  }
  return ordered
}

export function sectionRoots<T extends { readonly id?: string; readonly after: string }>(
  chained: readonly T[],
): ReadonlyMap<T, string> {
  const byId = new Map<string, string>()
  return new Map(
    chained.map((section) => {
      const root = byId.get(section.after) ?? section.after
      if (section.id !== undefined) byId.set(section.id, root)
      return [section, root]
    }),
  )
}
