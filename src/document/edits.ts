import { parse as parseYaml } from 'yaml'
import type { Draft, EntryData, EntryKind } from '../session/entries.ts'
import type { DocumentItem, Region } from '../session/kinds/kind.ts'
import { DOCUMENT_ITEMS, mayWrite } from '../session/registry.ts'
import type { SessionState } from '../session/state.ts'
import { slug } from '../text/clean.ts'
import { defined } from '../text/defined.ts'
import { minute } from '../text/times.ts'
import { type BaseBlock, type BaseDocument, baseDocument } from './base.ts'
import { HEADINGS } from './grammar.ts'
import { inOrder, match } from './match.ts'
import type { Block } from './model.ts'
import type { ParsedDocument } from './parse.ts'

export interface Edits {
  readonly drafts: readonly Draft[]
  /** Changes that cannot become an entry, a sentence each. */
  readonly unabsorbed: readonly string[]
}

/** Ignores entries recorded after the base, so an old document saved late takes nothing back. */
export function editsBetween(
  base: SessionState,
  person: ParsedDocument,
  options: { mint: () => string; isBaseSure: boolean },
): Edits {
  const drafts: Draft[] = []
  const unabsorbed: string[] = []
  const log: EditLog = {
    mint: options.mint,
    say: (sentence) => unabsorbed.push(sentence),
    add: (kind, data, id) => {
      if (!mayWrite('document', kind)) throw new Error(`${kind} cannot be written by the document`)
      drafts.push({
        kind,
        data: defined(data),
        by: 'document',
        ...defined({ id }),
      } as Draft)
    },
    takeBack: (kind, data, id) => {
      if (options.isBaseSure) log.add(kind, data, id)
    },
  }
  const before = baseDocument(base)
  fieldEdits(base, before, person, log)
  headEdits(before, person, log)
  const missing = missingRegions(before, person, log)
  const ids = new Map<Block, string>()
  for (const family of FAMILIES) familyEdits(family, before, person, missing, ids, log)
  remarkEdits(before, person, missing, ids, log)
  sectionEdits(before, person, log)
  return { drafts, unabsorbed }
}

function headEdits(base: BaseDocument, person: ParsedDocument, log: EditLog): void {
  if (person.title !== base.title && person.title !== '')
    log.add('session.titled', { title: person.title })
  if (person.objective !== base.objective && !person.missing.has('context'))
    log.add('goal.set', { text: person.objective })
  if (person.tldr !== base.tldr && person.tldr !== '')
    log.add('tldr.written', { text: person.tldr })
  const computed = [
    ['Progress', base.progressLine, person.progressLine],
    ['Current', base.currentLine, person.currentLine],
    ['Blocker', base.blockerLine, person.blockerLine],
  ] as const
  for (const [label, was, is] of computed) {
    if (is !== was && is !== '')
      log.say(`**${label}** in the TL;DR is computed from the steps and blockers below it`)
  }
  if (person.workflowLine !== base.workflowLine && person.workflowLine !== '')
    log.say('**Workflow** in the TL;DR is computed; stint workflow phase enters another phase')
}

function missingRegions(
  base: BaseDocument,
  person: ParsedDocument,
  log: EditLog,
): ReadonlySet<Region> {
  const missing = [...person.missing].filter((region) => base.present.has(region))
  for (const region of missing) {
    const title = HEADINGS.find((heading) => heading.region === region)?.title
    if (title !== undefined) log.say(`the section "${title}" was missing; what it held is kept`)
  }
  return new Set(missing)
}

interface ItemEdits {
  added(block: Block, id: string, after: string | undefined, region: Region, log: EditLog): void
  changed(base: BaseBlock, person: Block, log: EditLog): void
  removed?(base: BaseBlock, log: EditLog): void
}

const DELEGATES_ARE_COMPUTED =
  'the lines under "Delegates" are computed; stint delegate begins one, and stint delegates shows them'

const OWN_EDITS: Readonly<Record<string, ItemEdits>> = {
  step: {
    added: (block, id, after, region, log) => {
      log.add('step.added', { text: block.text, ...anchor(after) }, id)
      if (block.isChecked === true) log.add('step.done', { step: id, ...stated(block) })
      else if (region === 'inProgress') log.add('step.started', { step: id })
    },
    changed: stepChanged,
  },
  blocker: {
    added: (block, id, after, _region, log) => {
      const time = block.isChecked === true ? {} : stated(block)
      log.add('blocker.raised', { text: block.text, ...anchor(after), ...time }, id)
      if (block.isChecked === true)
        log.add('blocker.resolved', { blocker: id, ...resolution(block), ...stated(block) })
    },
    changed: (base, person, log) => {
      rewordText(base, person, log)
      const isResolvedAnew =
        person.isChecked === true &&
        (base.isChecked !== true || base.resolution !== person.resolution)
      if (isResolvedAnew)
        log.add('blocker.resolved', { blocker: base.id, ...resolution(person), ...stated(person) })
      if (person.isChecked !== true && base.isChecked === true)
        log.takeBack('blocker.reopened', { blocker: base.id })
    },
  },
  decision: {
    added: (block, id, after, _region, log) => {
      const { context, options, rationale } = block
      const choice = block.choice === block.text ? undefined : block.choice
      log.add(
        'decision.made',
        {
          title: block.text,
          ...defined({ context, options, choice, rationale }),
          ...anchor(after),
          ...stated(block),
        },
        id,
      )
    },
    changed: (base, person, log) => {
      const changes: Record<string, unknown> = {}
      if (person.text !== base.text) changes.title = person.text
      for (const name of ['context', 'options', 'choice', 'rationale'] as const) {
        if (person[name] !== base[name]) changes[name] = person[name] ?? null
      }
      // A choice that nobody wrote follows the title, so it must be kept when the title is reworded.
      if (
        changes.title !== undefined &&
        changes.choice === undefined &&
        person.choice !== person.text
      )
        changes.choice = person.choice
      if (isRetimed(base, person)) changes.when = stated(person).when
      if (person.whose !== base.whose) log.say('whose decision it is, is computed')
      if (Object.keys(changes).length > 0) log.add('entry.amended', { entry: base.id, changes })
    },
  },
  delegate: {
    added: (_block, _id, _after, _region, log) => log.say(DELEGATES_ARE_COMPUTED),
    changed: (base, person, log) => {
      if (person.text !== base.text || isRetimed(base, person)) log.say(DELEGATES_ARE_COMPUTED)
    },
    // The next rendering shows it again, and nothing a person wrote is lost.
    removed: () => undefined,
  },
  command: {
    added: (block, id, after, _region, log) =>
      log.add('command.kept', { command: block.text, ...anchor(after) }, id),
    changed: (base, person, log) => {
      if (person.text !== base.text)
        log.add('entry.amended', { entry: base.id, changes: { command: person.text } })
    },
  },
  keyFile: fileEdits('file.noted', 'key'),
  changedFile: fileEdits('file.changed', 'changed'),
}

type Family = DocumentItem<SessionState> & ItemEdits

const FAMILIES: readonly Family[] = DOCUMENT_ITEMS.map((item) => ({
  ...item,
  ...(OWN_EDITS[item.block] ?? textEdits(item.kind)),
}))

function familyEdits(
  family: Family,
  base: BaseDocument,
  person: ParsedDocument,
  missing: ReadonlySet<Region>,
  idOf: Map<Block, string>,
  log: EditLog,
): void {
  const regions = family.regions.filter((region) => !missing.has(region))
  const ofFamily = <B extends Block>(blocks: readonly B[]) =>
    blocks.filter((block) => block.kind === family.block)
  const was = regions.flatMap((region) => ofFamily(base.regions[region]))
  const is = regions.flatMap((region) => ofFamily(person.regions[region]))
  const { pairs, removed } = match(was, is)
  for (const [before, now] of pairs) idOf.set(now, before.id)

  for (const [before, now] of pairs) family.changed(before, now, log)
  for (const block of removed) {
    if (family.removed === undefined)
      for (const id of block.ids)
        log.takeBack('entry.retracted', { entry: id, reason: 'removed in the document' })
    else family.removed(block, log)
  }
  if (missing.size === 0 || regions.length === family.regions.length)
    regionChanges(family, pairs, base, person, log)

  const gone = new Set(removed)
  const order = was.filter((block) => !gone.has(block)).map((block) => block.id)
  const places = new Map(order.map((id, place) => [id, place]))
  for (const region of regions) {
    const blocks = ofFamily(person.regions[region])
    const isOrdered = family.ordered.includes(region)
    const kept = isOrdered
      ? inOrder(blocks.map((block) => places.get(idOf.get(block) ?? '')))
      : undefined
    for (const [index, block] of blocks.entries()) {
      const isLast = index === blocks.length - 1
      const after =
        index === 0
          ? placeBefore(
              blocks.find((_, at) => kept?.has(at)),
              idOf,
              order,
            )
          : idOf.get(blocks[index - 1]!)!
      const known = idOf.get(block)
      if (known === undefined) {
        // Minted only now: an entry names the one in front of it, which must be in place by then.
        const id = log.mint()
        idOf.set(block, id)
        family.added(
          timedBy(blocks[index - 1], block, region, isLast),
          id,
          isOrdered && !isLast ? after : undefined,
          region,
          log,
        )
      } else if (kept !== undefined && !kept.has(index)) {
        log.takeBack('item.moved', { entry: known, after }, log.mint())
      }
    }
  }
}

/** A region may show only a part of its list: this is what precedes its first block that stays. */
function placeBefore(
  staying: Block | undefined,
  idOf: ReadonlyMap<Block, string>,
  order: readonly string[],
): string {
  const index = staying === undefined ? order.length : order.indexOf(idOf.get(staying)!)
  return order[index - 1] ?? 'start'
}

/** In a list ordered by time, an inserted line takes the time of the one above it, so that it stays there. */
function timedBy(above: Block | undefined, block: Block, region: Region, isLast: boolean): Block {
  if (region !== 'completed' || isLast || block.when !== undefined || above?.when === undefined)
    return block
  return { ...block, when: above.when }
}

function regionChanges(
  family: Family,
  pairs: readonly (readonly [BaseBlock, Block])[],
  base: BaseDocument,
  person: ParsedDocument,
  log: EditLog,
): void {
  if (family.block !== 'step') return
  const stands = (
    document: { regions: Readonly<Record<Region, readonly Block[]>> },
    block: Block,
  ) => family.regions.find((region) => document.regions[region].includes(block))
  for (const [before, now] of pairs) {
    if (before.isChecked === true || now.isChecked === true) continue
    const from = stands(base, before)
    const to = stands(person, now)
    if (from === 'remaining' && to === 'inProgress') log.add('step.started', { step: before.id })
    if (from === 'inProgress' && to === 'remaining')
      log.takeBack('step.stopped', { step: before.id })
  }
}

function stepChanged(base: BaseBlock, person: Block, log: EditLog): void {
  if (person.text !== base.text)
    log.add('entry.amended', { entry: base.id, changes: { text: person.text } })
  if (person.isChecked === true && base.isChecked !== true)
    log.add('step.done', { step: base.id, ...stated(person) })
  if (person.isChecked !== true && base.isChecked === true)
    log.takeBack('step.reopened', { step: base.id })
  if (person.isChecked === true && base.isChecked === true && isRetimed(base, person)) {
    log.add('step.reopened', { step: base.id })
    log.add('step.done', { step: base.id, ...stated(person) })
  }
}

function textEdits(kind: EntryKind): ItemEdits {
  return {
    added: (block, id, after, _region, log) =>
      log.add(kind, { text: block.text, ...anchor(after), ...stated(block) } as never, id),
    changed: rewordText,
  }
}

function fileEdits(entry: 'file.noted' | 'file.changed', list: 'key' | 'changed'): ItemEdits {
  return {
    added: (block, id, after, _region, log) =>
      log.add(
        entry,
        { path: block.text, ...defined({ description: block.description }), ...anchor(after) },
        id,
      ),
    changed: (base, person, log) => {
      if (person.text !== base.text) log.takeBack('file.dropped', { path: base.text, list })
      if (person.text !== base.text || person.description !== base.description) {
        log.add(entry, { path: person.text, description: person.description ?? '' })
      }
    },
    removed: (base, log) => log.takeBack('file.dropped', { path: base.text, list }),
  }
}

function rewordText(base: BaseBlock | (Block & { id: string }), person: Block, log: EditLog): void {
  const changes: Record<string, unknown> = {}
  if (person.text !== base.text) changes.text = person.text
  if (isRetimed(base, person)) changes.when = stated(person).when
  if (Object.keys(changes).length > 0) log.add('entry.amended', { entry: base.id, changes })
}

function remarkEdits(
  base: BaseDocument,
  person: ParsedDocument,
  missing: ReadonlySet<Region>,
  idOf: ReadonlyMap<Block, string>,
  log: EditLog,
): void {
  for (const region of Object.keys(base.regions) as Region[]) {
    if (missing.has(region)) continue
    const isRemark = (block: Block) => block.kind === 'remark'
    const { pairs, removed, added } = match(
      base.regions[region].filter(isRemark),
      person.regions[region].filter(isRemark),
    )
    const placed = [...added]
    for (const [before, now] of pairs) {
      if (before.text === now.text) continue
      // Its heading was the person's own before it became a known one.
      if (before.ids.length === 0) {
        placed.push(now)
        continue
      }
      log.add('entry.amended', { entry: before.id, changes: { text: now.text } })
      for (const id of before.ids.slice(1))
        log.takeBack('entry.retracted', { entry: id, reason: 'joined with the remark above' })
    }
    for (const block of removed)
      for (const id of block.ids)
        log.takeBack('entry.retracted', { entry: id, reason: 'removed in the document' })
    const aboveOf = new Map(
      person.regions[region].map((block, index, blocks) => [block, blocks[index - 1]]),
    )
    for (const block of placed) {
      const above = aboveOf.get(block)
      log.add('remark.placed', {
        section: region,
        after: above === undefined ? 'start' : (idOf.get(above) ?? 'end'),
        text: block.text,
      })
    }
  }
}

function sectionEdits(base: BaseDocument, person: ParsedDocument, log: EditLog): void {
  const was = base.sections.map((section) => ({ ...section, text: section.title }))
  const is = person.sections.map((section) => ({ ...section, text: section.title }))
  const { pairs, removed, added } = match(was, is)
  const idOf = new Map<string, string>(
    pairs.map(([before, now]) => [now.id ?? '', before.id ?? '']),
  )
  for (const section of added) idOf.set(section.id ?? '', log.mint())
  for (const [before, now] of pairs) {
    const changes: Record<string, unknown> = {}
    if (now.title !== before.title) changes.title = now.title
    if (now.body.trim() !== before.body.trim()) changes.body = now.body
    if (Object.keys(changes).length > 0)
      log.add('entry.amended', { entry: before.id ?? '', changes })
  }
  for (const section of removed)
    log.takeBack('entry.retracted', { entry: section.id ?? '', reason: 'removed in the document' })
  for (const section of added) {
    const { title, body, after } = section
    log.add(
      'section.written',
      { title, body, after: idOf.get(after) ?? after },
      idOf.get(section.id ?? ''),
    )
  }
}

function stated(block: Block): { when?: string } {
  return block.when === undefined
    ? {}
    : { when: block.when.length === 16 ? `${block.when}:00.000Z` : block.when }
}

function isRetimed(base: Block, person: Block): boolean {
  return (
    person.when !== undefined &&
    base.when !== undefined &&
    person.when !== minute(base.when) &&
    person.when !== base.when
  )
}

function anchor(after: string | undefined): { after?: string } {
  return after === undefined ? {} : { after }
}

function resolution(block: Block): { resolution?: string } {
  return block.resolution === undefined ? {} : { resolution: block.resolution }
}

function fieldEdits(
  state: SessionState,
  base: BaseDocument,
  person: ParsedDocument,
  log: EditLog,
): void {
  const before = new Map(base.fields)
  const now = new Map(person.fields)
  for (const [key, value] of now) {
    if (before.get(key) === value) continue
    if (!before.has(key) || Object.hasOwn(state.fields, key)) {
      if (KNOWN.has(key)) log.say(`${key} in the frontmatter is computed`)
      else log.add('field.set', { key, value })
      continue
    }
    const change = CHANGES[key]
    if (change === undefined) log.say(`${key} in the frontmatter is computed`)
    else change(parsed(value), state, log)
  }
  for (const key of Object.keys(state.fields))
    if (!now.has(key)) log.takeBack('field.set', { key, value: '' })
}

const KNOWN = new Set([
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

const CHANGES: Readonly<
  Record<string, (value: unknown, state: SessionState, log: EditLog) => void>
> = {
  shortname: (value, _state, log) => {
    if (typeof value === 'string' && value.trim() !== '')
      log.add('session.renamed', { name: slug(value) })
  },
  task_ids: (value, state, log) => {
    const tasks = Array.isArray(value) ? value.map(String) : []
    for (const task of tasks) if (!state.tasks.includes(task)) log.add('task.linked', { task })
    for (const task of state.tasks)
      if (!tasks.includes(task)) log.takeBack('task.unlinked', { task })
  },
  status: (value, state, log) => {
    if (value === 'paused') log.add('session.paused', {})
    else if (value === 'completed' || value === 'abandoned')
      log.add('session.closed', { how: value })
    else if (value === 'active' && state.status === 'paused') log.add('session.resumed', {})
    else if (value === 'active') log.add('session.reopened', {})
    else {
      log.say(`status in the frontmatter is one of active, paused, completed, abandoned`)
      return
    }
    const status =
      value === 'completed' ? 'completed' : value === 'active' ? 'in_progress' : 'ready'
    for (const task of state.tasks) log.add('task.moved', { task, status })
  },
}

function parsed(value: string): unknown {
  try {
    return parseYaml(value.trimStart())
  } catch {
    // Valid as part of the whole frontmatter but not alone (an anchor, say): it stays text.
    return value.trim()
  }
}

interface EditLog {
  add<K extends EntryKind>(kind: K, data: EntryData[K], id?: string): void
  /** Ignored when it is not certain what the document was rendered from. */
  takeBack<K extends EntryKind>(kind: K, data: EntryData[K], id?: string): void
  say(sentence: string): void
  mint(): string
}
