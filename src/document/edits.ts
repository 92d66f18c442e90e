import type { EntryDraft, EntryData, EntryKind } from '../session/entries.ts'
import type { DocumentItem, Region } from '../session/kinds/kind.ts'
import { DOCUMENT_ITEMS, mayWrite } from '../session/registry.ts'
import type { SessionState } from '../session/state.ts'
import { nameFrom } from '../text/redact.ts'
import { defined } from '../text/defined.ts'
import { parseYaml } from '../text/parse-yaml.ts'
import { formatToMinute } from '../text/times.ts'
import { type BaseBlock, type BaseDocument, baseDocument } from './base-document.ts'
import { HEADINGS } from './grammar.ts'
import { longestOrderedRun, matchBlocks } from './match-blocks.ts'
import type { DocumentBlock } from './model.ts'
import type { ParsedDocument } from './parse.ts'

export interface DocumentEdits {
  readonly drafts: readonly EntryDraft[]
  readonly unabsorbed: readonly string[]
}

type Loose<T> = { readonly [F in keyof T]: T[F] | undefined }

class EditLog implements DocumentEdits {
  readonly drafts: EntryDraft[] = []
  readonly unabsorbed: string[] = []
  readonly mint: () => string
  readonly #isBaseSure: boolean

  constructor({ mint, isBaseSure }: { mint: () => string; isBaseSure: boolean }) {
    this.mint = mint
    this.#isBaseSure = isBaseSure
  }

  reportUnabsorbed(sentence: string) {
    this.unabsorbed.push(sentence)
  }

  add<K extends EntryKind>(kind: K, data: Loose<EntryData[K]>, id?: string) {
    if (!mayWrite('document', kind)) throw new Error(`${kind} cannot be written by the document`)
    this.drafts.push({
      kind,
      data: defined(data),
      by: 'document',
      ...defined({ id }),
    } as EntryDraft)
  }

  /** Ignored when it is not certain what the document was rendered from. */
  revert<K extends EntryKind>(kind: K, data: Loose<EntryData[K]>, id?: string) {
    if (this.#isBaseSure) this.add(kind, data, id)
  }

  retract(entries: readonly string[], reason = 'removed in the document') {
    for (const entry of entries) this.revert('entry.retracted', { entry, reason })
  }

  amend(entry: string, fields: Readonly<Record<string, unknown>>) {
    const changes = defined(fields)
    if (Object.keys(changes).length > 0) this.add('entry.amended', { entry, changes })
  }
}

/** Ignores entries recorded after the base, so an old document saved late reverts nothing. */
export function editsBetween(
  base: SessionState,
  person: ParsedDocument,
  options: { mint: () => string; isBaseSure: boolean },
): DocumentEdits {
  const log = new EditLog(options)
  const before = baseDocument(base)
  fieldEdits(base, before, person, log)
  headEdits(before, person, log)
  const missing = missingRegions(before, person, log)
  const ids = new Map<DocumentBlock, string>()
  for (const family of ITEM_FAMILIES) familyEdits(family, before, person, missing, ids, log)
  remarkEdits(before, person, missing, ids, log)
  sectionEdits(before, person, log)
  return { drafts: log.drafts, unabsorbed: log.unabsorbed }
}

function headEdits(base: BaseDocument, person: ParsedDocument, log: EditLog) {
  if (person.title !== base.title && person.title !== '')
    log.add('session.titled', { title: person.title })
  if (person.objective !== base.objective && !person.missing.has('context'))
    log.add('goal.set', { text: person.objective })
  if (person.tldr !== base.tldr && person.tldr !== '')
    log.add('tldr.written', { text: person.tldr })
  const isChanged = (line: 'progressLine' | 'currentLine' | 'blockerLine' | 'workflowLine') =>
    person[line] !== base[line] && person[line] !== ''
  for (const label of ['Progress', 'Current', 'Blocker'] as const)
    if (isChanged(`${label.toLowerCase() as Lowercase<typeof label>}Line`))
      log.reportUnabsorbed(
        `**${label}** in the TL;DR is computed from the steps and blockers below it`,
      )
  if (isChanged('workflowLine'))
    log.reportUnabsorbed(
      '**Workflow** in the TL;DR is computed; stint workflow phase enters another phase',
    )
}

function missingRegions(base: BaseDocument, person: ParsedDocument, log: EditLog) {
  const missing = [...person.missing].filter((region) => base.present.has(region))
  for (const region of missing) {
    const title = HEADINGS.find((heading) => heading.region === region)?.title
    if (title !== undefined)
      log.reportUnabsorbed(`the section "${title}" was missing; what it held is kept`)
  }
  return new Set(missing)
}

interface ItemPosition {
  readonly id: string
  readonly after: string | undefined
  readonly region: Region
}

interface ItemEdits {
  added(block: DocumentBlock, position: ItemPosition, log: EditLog): void
  changed(base: BaseBlock, person: DocumentBlock, log: EditLog): void
  removed?(base: BaseBlock, log: EditLog): void
}

const DELEGATES_ARE_COMPUTED =
  'the lines under "Delegates" are computed; stint delegate begins one, and stint delegates shows them'

const CUSTOM_EDITS: Readonly<Record<string, ItemEdits>> = {
  step: {
    added: (block, { id, after, region }, log) => {
      log.add('step.added', { text: block.text, after }, id)
      if (block.isChecked === true) log.add('step.done', { step: id, when: statedTime(block) })
      else if (region === 'inProgress') log.add('step.started', { step: id })
    },
    changed: (base, person, log) => {
      const step = base.id
      const [wasDone, isDone] = [base.isChecked === true, person.isChecked === true]
      log.amend(step, { text: ifChanged(base.text, person.text) })
      if (wasDone && !isDone) log.revert('step.reopened', { step })
      if (wasDone && isDone && isRetimed(base, person)) log.add('step.reopened', { step })
      if (isDone && (!wasDone || isRetimed(base, person)))
        log.add('step.done', { step, when: statedTime(person) })
    },
  },
  blocker: {
    added: (block, { id, after }, log) => {
      const when = statedTime(block)
      const isResolved = block.isChecked === true
      const raised = isResolved ? undefined : when
      log.add('blocker.raised', { text: block.text, after, when: raised }, id)
      if (isResolved)
        log.add('blocker.resolved', { blocker: id, resolution: block.resolution, when })
    },
    changed: (base, person, log) => {
      rewordText(base, person, log)
      const [wasResolved, isResolved] = [base.isChecked === true, person.isChecked === true]
      const { resolution } = person
      if (isResolved && (!wasResolved || base.resolution !== resolution))
        log.add('blocker.resolved', { blocker: base.id, resolution, when: statedTime(person) })
      if (!isResolved && wasResolved) log.revert('blocker.reopened', { blocker: base.id })
    },
  },
  decision: {
    added: (block, { id, after }, log) => {
      const { text: title, context, options, rationale } = block
      const choice = block.choice === title ? undefined : block.choice
      const when = statedTime(block)
      log.add('decision.made', { title, context, options, choice, rationale, after, when }, id)
    },
    changed: (base, person, log) => {
      const changes: Record<string, unknown> = { title: ifChanged(base.text, person.text) }
      for (const name of ['context', 'options', 'choice', 'rationale'] as const)
        if (person[name] !== base[name]) changes[name] = person[name] ?? null
      // A choice that was not written defaults to the title, so it must be stored when the title is reworded.
      const isChoiceKept = !('choice' in changes) && person.choice !== person.text
      if (changes.title !== undefined && isChoiceKept) changes.choice = person.choice
      changes.when = newTime(base, person)
      if (person.whose !== base.whose) log.reportUnabsorbed('whose decision it is, is computed')
      log.amend(base.id, changes)
    },
  },
  delegate: {
    added: (_block, _position, log) => log.reportUnabsorbed(DELEGATES_ARE_COMPUTED),
    changed: (base, person, log) => {
      if (person.text !== base.text || isRetimed(base, person))
        log.reportUnabsorbed(DELEGATES_ARE_COMPUTED)
    },
    // The next render shows it again, and no text of a person is lost.
    removed: () => undefined,
  },
  command: {
    added: (block, { id, after }, log) =>
      log.add('command.kept', { command: block.text, after }, id),
    changed: (base, person, log) =>
      log.amend(base.id, { command: ifChanged(base.text, person.text) }),
  },
  keyFile: fileEdits('file.noted', 'key'),
  changedFile: fileEdits('file.changed', 'changed'),
}

type ItemFamily = DocumentItem<SessionState> & ItemEdits

const ITEM_FAMILIES: readonly ItemFamily[] = DOCUMENT_ITEMS.map((item) => ({
  ...item,
  ...(CUSTOM_EDITS[item.block] ?? {
    added: (block, { id, after }, log) =>
      log.add(item.kind, { text: block.text, after, when: statedTime(block) } as never, id),
    changed: rewordText,
  }),
}))

function familyEdits(
  family: ItemFamily,
  base: BaseDocument,
  person: ParsedDocument,
  missing: ReadonlySet<Region>,
  idOf: Map<DocumentBlock, string>,
  log: EditLog,
) {
  const regions = family.regions.filter((region) => !missing.has(region))
  const ofFamily = <B extends DocumentBlock>(blocks: readonly B[]) =>
    blocks.filter((block) => block.kind === family.block)
  const was = regions.flatMap((region) => ofFamily(base.regions[region]))
  const is = regions.flatMap((region) => ofFamily(person.regions[region]))
  const { pairs, removed } = matchBlocks(was, is)
  for (const [before, now] of pairs) idOf.set(now, before.id)

  for (const [before, now] of pairs) family.changed(before, now, log)
  for (const block of removed) {
    if (family.removed === undefined) log.retract(block.ids)
    else family.removed(block, log)
  }
  if (family.block === 'step' && regions.length === family.regions.length)
    stepMoves(pairs, base, person, log)

  const removedBlocks = new Set(removed)
  const order = was.filter((block) => !removedBlocks.has(block)).map((block) => block.id)
  const positions = new Map(order.map((id, index) => [id, index]))
  for (const region of regions) {
    const blocks = ofFamily(person.regions[region])
    const inOrder = family.ordered.includes(region)
      ? longestOrderedRun(blocks.map((block) => positions.get(idOf.get(block) ?? '')))
      : undefined
    for (const [index, block] of blocks.entries()) {
      const above = blocks[index - 1]
      // A region may show only a part of its list: its top is before its first block that was not moved.
      const firstInOrder = blocks.find((_, at) => inOrder?.has(at))
      const top = firstInOrder === undefined ? order.length : order.indexOf(idOf.get(firstInOrder)!)
      const after = above === undefined ? (order[top - 1] ?? 'start') : idOf.get(above)!
      const known = idOf.get(block)
      if (known === undefined) {
        // Minted only now: an entry names the one before it, which must have its id by then.
        const id = log.mint()
        idOf.set(block, id)
        const isLast = index === blocks.length - 1
        const anchor = inOrder === undefined || isLast ? undefined : after
        const timed = region === 'completed' && !isLast ? withTimeOf(above, block) : block
        family.added(timed, { id, after: anchor, region }, log)
      } else if (inOrder !== undefined && !inOrder.has(index)) {
        log.revert('item.moved', { entry: known, after }, log.mint())
      }
    }
  }
}

/** In a list ordered by time, an inserted line takes the time of the one above it, so that it stays there. */
function withTimeOf(above: DocumentBlock | undefined, block: DocumentBlock) {
  return { ...block, ...defined({ when: block.when ?? above?.when }) }
}

function stepMoves(
  pairs: readonly (readonly [BaseBlock, DocumentBlock])[],
  base: BaseDocument,
  person: ParsedDocument,
  log: EditLog,
) {
  for (const [before, now] of pairs) {
    if (before.isChecked === true || now.isChecked === true) continue
    const step = before.id
    const wasIn = (region: Region) => base.regions[region].includes(before)
    const isIn = (region: Region) => person.regions[region].includes(now)
    if (wasIn('remaining') && isIn('inProgress')) log.add('step.started', { step })
    if (wasIn('inProgress') && isIn('remaining')) log.revert('step.stopped', { step })
  }
}

function fileEdits(entry: 'file.noted' | 'file.changed', list: 'key' | 'changed'): ItemEdits {
  return {
    added: ({ text: path, description }, { id, after }, log) =>
      log.add(entry, { path, description, after }, id),
    changed: (base, { text: path, description = '' }, log) => {
      if (path !== base.text) log.revert('file.dropped', { path: base.text, list })
      if (path !== base.text || description !== (base.description ?? ''))
        log.add(entry, { path, description })
    },
    removed: (base, log) => log.revert('file.dropped', { path: base.text, list }),
  }
}

function rewordText(base: BaseBlock, person: DocumentBlock, log: EditLog) {
  log.amend(base.id, { text: ifChanged(base.text, person.text), when: newTime(base, person) })
}

function remarkEdits(
  base: BaseDocument,
  person: ParsedDocument,
  missing: ReadonlySet<Region>,
  idOf: ReadonlyMap<DocumentBlock, string>,
  log: EditLog,
) {
  const isRemark = (block: DocumentBlock) => block.kind === 'remark'
  for (const section of Object.keys(base.regions) as Region[]) {
    if (missing.has(section)) continue
    const blocks = person.regions[section]
    const found = matchBlocks(base.regions[section].filter(isRemark), blocks.filter(isRemark))
    const toPlace = [...found.added]
    for (const [before, now] of found.pairs) {
      if (before.text === now.text) continue
      // Its heading was the person's own before it became a known one.
      if (before.ids.length === 0) {
        toPlace.push(now)
        continue
      }
      log.amend(before.id, { text: now.text })
      log.retract(before.ids.slice(1), 'joined with the remark above')
    }
    for (const block of found.removed) log.retract(block.ids)
    const positions = new Map(blocks.map((block, index) => [block, index]))
    for (const block of toPlace) {
      const above = blocks[positions.get(block)! - 1]
      const after = above === undefined ? 'start' : (idOf.get(above) ?? 'end')
      log.add('remark.placed', { section, after, text: block.text })
    }
  }
}

function sectionEdits(base: BaseDocument, person: ParsedDocument, log: EditLog) {
  const named = (section: BaseDocument['sections'][number]) => ({
    ...section,
    id: section.id ?? '',
    text: section.title,
  })
  const { pairs, removed, added } = matchBlocks(
    base.sections.map(named),
    person.sections.map(named),
  )
  const idOf = new Map(pairs.map(([before, now]) => [now.id, before.id]))
  for (const section of added) idOf.set(section.id, log.mint())
  for (const [before, now] of pairs)
    log.amend(before.id, {
      title: ifChanged(before.title, now.title),
      body: now.body.trim() === before.body.trim() ? undefined : now.body,
    })
  log.retract(removed.map(({ id }) => id))
  for (const { id, title, body, after } of added)
    log.add('section.written', { title, body, after: idOf.get(after) ?? after }, idOf.get(id))
}

function ifChanged(was: string, is: string) {
  return was === is ? undefined : is
}

function statedTime({ when }: DocumentBlock) {
  return when?.length === 16 ? `${when}:00.000Z` : when
}

function isRetimed(base: DocumentBlock, person: DocumentBlock) {
  return (
    person.when !== undefined &&
    base.when !== undefined &&
    person.when !== formatToMinute(base.when) &&
    person.when !== base.when
  )
}

function newTime(base: DocumentBlock, person: DocumentBlock) {
  return isRetimed(base, person) ? statedTime(person) : undefined
}

function fieldEdits(state: SessionState, base: BaseDocument, person: ParsedDocument, log: EditLog) {
  const before = new Map(base.fields)
  const now = new Map(person.fields)
  for (const [key, value] of now) {
    if (before.get(key) === value) continue
    const isOwn = !before.has(key) || Object.hasOwn(state.fields, key)
    const change = isOwn ? undefined : FIELD_CHANGES[key]
    if (change !== undefined) change(parseValue(value), state, log)
    else if (isOwn && !COMPUTED_FIELDS.has(key)) log.add('field.set', { key, value })
    else log.reportUnabsorbed(`${key} in the frontmatter is computed`)
  }
  for (const key of Object.keys(state.fields))
    if (!now.has(key)) log.revert('field.set', { key, value: '' })
}

const COMPUTED_FIELDS = new Set([
  'id',
  'created_at',
  'updated_at',
  'compaction_count',
  'git_branch',
  'git_last_commit',
  'paused_at',
  'pause_reason',
  'closed_at',
  'duration_hours',
  'close_reason',
])

const FIELD_CHANGES: Readonly<
  Record<string, (value: unknown, state: SessionState, log: EditLog) => void>
> = {
  shortname: (value, _state, log) => {
    if (typeof value === 'string' && value.trim() !== '')
      log.add('session.renamed', { name: nameFrom(value) })
  },
  task_ids: (value, state, log) => {
    const tasks = Array.isArray(value) ? value.map(String) : []
    for (const task of tasks) if (!state.tasks.includes(task)) log.add('task.linked', { task })
    for (const task of state.tasks) if (!tasks.includes(task)) log.revert('task.unlinked', { task })
  },
  status: (value, state, log) => {
    if (value === 'paused') log.add('session.paused', {})
    else if (value === 'completed' || value === 'abandoned')
      log.add('session.closed', { how: value })
    else if (value === 'active' && state.status === 'paused') log.add('session.resumed', {})
    else if (value === 'active') log.add('session.reopened', {})
    else {
      log.reportUnabsorbed(
        `status in the frontmatter is one of active, paused, completed, abandoned`,
      )
      return
    }
    const status =
      value === 'completed' ? 'completed' : value === 'active' ? 'in_progress' : 'ready'
    for (const task of state.tasks) log.add('task.moved', { task, status })
  },
}

function parseValue(value: string): unknown {
  const parsed = parseYaml(value.trimStart())
  // Valid as part of the whole frontmatter but not alone (an anchor, say): it stays text.
  return parsed.isValid ? parsed.value : value.trim()
}
