import type { Region } from '../session/kinds/kind.ts'
import { DOCUMENT_ITEMS } from '../session/registry.ts'
import {
  CURRENT_MARK,
  DECISION_FIELDS,
  DELEGATE_PATTERN,
  NO_RATIONALE,
  PLACEHOLDERS,
  PROGRESS_HEADINGS,
  STATUS_PATTERN,
  TIME_PATTERN,
  continuationLines,
  fencedLines,
  listItemAt,
  trimBlank,
  unescapeItem,
  unescapeLine,
} from './grammar.ts'
import { defined } from '../text/defined.ts'
import type { DocumentBlock } from './model.ts'
import { isLazy } from './render.ts'

const TIME_SUFFIX = new RegExp(String.raw`^([\s\S]*?) \((${TIME_PATTERN})\)$`)
const RESOLVED_SUFFIX = new RegExp(String.raw`^(.*?) \(resolved (${TIME_PATTERN})\)(?:: (.*))?$`)
const BOLD_DISCOVERY = new RegExp(String.raw`^\*\*(.*?)\*\* \((${TIME_PATTERN})\)(?:: (.*))?$`)

export function parseRegion(region: Region, lines: readonly string[]): readonly DocumentBlock[] {
  if (region === 'decisions') return parseDecisions(lines)
  if (region === 'commands') return parseCommands(lines)
  if (region === 'delegates') return parseDelegates(lines)
  const toBlock = ITEMS[region]
  return collect(lines, (index) => {
    const item = toBlock === undefined ? undefined : listItemAt(lines, index)
    if (item === undefined) return undefined
    return { block: PLACEHOLDERS.has(item.text) ? undefined : toBlock!(item.text), end: item.end }
  })
}

export function parseTldr(lines: readonly string[]) {
  const fenced = fencedLines(lines)
  const isStatus = (line: string, index: number) => !fenced[index] && STATUS_PATTERN.test(line)
  const first = lines.findIndex(isStatus)
  const split = first === -1 ? lines.length : first
  const last = lines.findLastIndex(isStatus)
  const status = (label: string) => {
    const line = lines.find(
      (candidate, index) => isStatus(candidate, index) && candidate.startsWith(`**${label}**:`),
    )
    return line === undefined ? '' : line.slice(label.length + 5).trim()
  }
  const own = trimBlank(lines.slice(0, split))
  const isFenced = fencedLines(own)
  const text = own.map((line, index) => (isFenced[index] ? line : unescapeLine(line)))
  const rest = lines.slice(split, last + 1).filter((line, index) => !isStatus(line, split + index))
  return {
    tldr: text.join('\n'),
    progressLine: status('Progress'),
    currentLine: status('Current'),
    blockerLine: status('Blocker'),
    workflowLine: status('Workflow'),
    blocks: parseRegion('tldr', [...rest, ...lines.slice(last + 1)]),
  }
}

export function parseContext(lines: readonly string[]) {
  const fenced = fencedLines(lines)
  const at = (start: string) =>
    lines.findIndex((line, index) => !fenced[index] && line.startsWith(start))
  const filesAt = at('**Key Files**')
  const keyAt = at('**Key Context**')
  const top = lines.slice(
    0,
    [filesAt, keyAt].filter((index) => index !== -1).toSorted((a, b) => a - b)[0] ?? lines.length,
  )
  const objective = fieldAt(
    top,
    top.findIndex((line) => line.startsWith('**Objective**:')),
    'Objective',
  )
  const around =
    objective === undefined ? top : [...top.slice(0, objective.start), ...top.slice(objective.end)]
  const list = (start: number, other: number) =>
    lines.slice(start + 1, other > start ? other : lines.length)
  return {
    objective: objective?.text ?? '',
    context: parseRegion('context', around),
    ...(filesAt === -1 ? {} : { keyFiles: parseRegion('keyFiles', list(filesAt, keyAt)) }),
    ...(keyAt === -1 ? {} : { key: parseRegion('key', list(keyAt, filesAt)) }),
  }
}

/** Under any other sub-heading, everything is the person's own and stays together. */
export function parseProgress(
  lines: readonly string[],
): Partial<Record<Region, readonly DocumentBlock[]>> {
  const fenced = fencedLines(lines)
  const found: Partial<Record<Region, readonly DocumentBlock[]>> = {}
  const regionOf = (line: string) =>
    PROGRESS_HEADINGS.find(({ title }) => line.toLowerCase() === `### ${title.toLowerCase()}`)
      ?.region
  const starts = lines.flatMap((line, index) =>
    !fenced[index] && regionOf(line) !== undefined ? [index] : [],
  )
  found.progress = parseRegion('progress', lines.slice(0, starts[0] ?? lines.length))
  for (const [position, start] of starts.entries()) {
    const region = regionOf(lines[start]!)!
    const body = lines.slice(start + 1, starts[position + 1] ?? lines.length)
    const own = body.findIndex((line) => line.startsWith('### '))
    const steps = parseRegion(region, own === -1 ? body : body.slice(0, own))
    const rest =
      own === -1 ? [] : [{ kind: 'remark', text: `\n${trimBlank(body.slice(own)).join('\n')}\n` }]
    found[region] = [...(found[region] ?? []), ...steps, ...rest]
  }
  return found
}

const ITEMS: { readonly [R in Region]?: (text: string) => DocumentBlock } = {
  keyFiles: (text) => fileBlock('keyFile', text),
  changedFiles: (text) => fileBlock('changedFile', text),
  key: (text) => textItem('key', text),
  next: (text) => textItem('next', text),
  notes: (text) => textItem('notes', text),
  completed: (text) =>
    checkbox(text) === undefined ? textItem('completed', text) : step(text, true),
  inProgress: (text) => step(text, false),
  remaining: (text) => step(text, false),
  discoveries: discovery,
  blockers: blocker,
}

function step(text: string, isTimed: boolean) {
  const box = checkbox(text)
  const isChecked = box?.isChecked ?? false
  const [first = '', ...more] = (box?.rest ?? text).split('\n')
  const isCurrent = first.endsWith(CURRENT_MARK)
  const unmarked = isCurrent ? first.slice(0, -CURRENT_MARK.length).trimEnd() : first
  return {
    kind: 'step',
    ...timed([unmarked, ...more].join('\n'), isTimed || isChecked),
    isChecked,
    ...(isCurrent ? { isCurrent } : {}),
  }
}

function textItem(region: Region, text: string) {
  const isTimed = kindsIn(region).some((kind) => kind.text!.isTimed)
  const { text: untimed, ...when } = timed(text, isTimed)
  return { ...withKind(region, unescapeItem(untimed)), ...when }
}

function timed(text: string, isTimed = true) {
  const [first = '', ...more] = text.split('\n')
  const time = isTimed ? TIME_SUFFIX.exec(first) : null
  return time === null ? { text } : { text: [time[1]!, ...more].join('\n'), when: time[2]! }
}

function withKind(region: Region, text: string) {
  const kinds = kindsIn(region)
  const prefixed = kinds.find(
    (kind) => kind.text!.prefix !== '' && text.startsWith(kind.text!.prefix),
  )
  const { block, text: form } = prefixed ?? kinds.find((kind) => kind.text!.prefix === '')!
  return { kind: block, text: text.slice(form!.prefix.length) }
}

function kindsIn(region: Region) {
  return DOCUMENT_ITEMS.filter(
    ({ regions, text }) => text !== undefined && regions.includes(region),
  )
}

function discovery(text: string) {
  const [first = '', ...more] = text.split('\n')
  const [, head = '', when, rest] = BOLD_DISCOVERY.exec(first) ?? []
  const line =
    when === undefined
      ? first.replace(/^\*\*(.+?)\*\*/, '$1')
      : `${head}${rest === undefined ? '' : `: ${rest}`}`
  return { ...withKind('discoveries', [line, ...more].join('\n')), ...defined({ when }) }
}

function blocker(text: string) {
  const box = checkbox(text)
  const isChecked = box?.isChecked === true
  const [first = '', ...more] = (box?.rest ?? text).split('\n')
  const [, unresolved, resolvedAt, resolution] = RESOLVED_SUFFIX.exec(first) ?? []
  const untimed = timed(first)
  const fullText = [unresolved ?? untimed.text, ...more].join('\n')
  return {
    kind: 'blocker',
    text: isChecked ? fullText : unescapeItem(fullText),
    isChecked,
    ...defined(isChecked ? { when: resolvedAt, resolution } : { when: untimed.when }),
  }
}

function fileBlock(kind: 'keyFile' | 'changedFile', text: string) {
  const line = text.split('\n').join(' ')
  const quoted = /^(`+)(.+?)\1(?: - (.*))?$/.exec(line)
  const [path = line, description] =
    quoted === null ? line.split(/ - (.*)/) : [quoted[2]!, quoted[3]]
  return { kind, text: path, ...(description ? { description } : {}) }
}

function checkbox(text: string) {
  const box = /^\[([ xX])\](?: |$)/.exec(text)
  return box === null
    ? undefined
    : { isChecked: box[1] !== ' ', rest: text.slice(box[0].length).trimStart() }
}

function parseDelegates(lines: readonly string[]) {
  return collect(lines, (index) => {
    const item = listItemAt(lines, index)
    if (item === undefined || !DELEGATE_PATTERN.test(item.text)) return undefined
    const [, text = item.text, when] = TIME_SUFFIX.exec(item.text) ?? []
    return { block: { kind: 'delegate', text, ...defined({ when }) }, end: item.end }
  })
}

function parseDecisions(lines: readonly string[]) {
  let isUnderHeading = false
  return collect(lines, (index) => {
    const heading = /^### (?:\d+[.)] *)?(.*)$/.exec(lines[index]!)
    if (heading !== null) {
      isUnderHeading = true
      const { fields, end } = decisionFields(lines, index + 1)
      return { block: { kind: 'decision', ...timed(heading[1]!), ...fields }, end }
    }
    // A bullet before the first heading is a short decision; later ones belong to the decision above.
    const item = isUnderHeading ? undefined : listItemAt(lines, index)
    if (item === undefined) return undefined
    const block = PLACEHOLDERS.has(item.text)
      ? undefined
      : { kind: 'decision', text: item.text.split('\n').join(' ') }
    return { block, end: item.end }
  })
}

function decisionFields(lines: readonly string[], start: number) {
  const fields: Record<string, string> = {}
  let end = start
  for (;;) {
    const label = DECISION_FIELDS.find(
      ({ label: name, field }) =>
        lines[end]?.startsWith(`**${name}**:`) === true && fields[field] === undefined,
    )
    const found = label === undefined ? undefined : fieldAt(lines, end, label.label)
    if (label === undefined || found === undefined) break
    if (!(label.field === 'rationale' && found.text === NO_RATIONALE))
      fields[label.field] = found.text
    end = found.end
  }
  return { fields, end }
}

function fieldAt(lines: readonly string[], start: number, label: string) {
  const line = lines[start]
  if (line === undefined) return undefined
  const text = [line.slice(label.length + 5).trim()]
  let end = start + 1
  for (;;) {
    const next = lines[end]
    if (next !== undefined && next !== '' && isLazy(next)) {
      text.push(next)
      end += 1
      continue
    }
    const more = continuationLines(lines, end, 2)
    if (more.end === end || more.text.length === 0) break
    text.push(...more.text)
    end = more.end
    if (more.text.length > 0 && lines[end] === '') break
  }
  return { text: text.join('\n').trimEnd(), start, end }
}

/** The commands are shown and never run. */
function parseCommands(lines: readonly string[]) {
  const fenced = fencedLines(lines)
  const commands: DocumentBlock[] = []
  const rest: string[] = []
  for (const [index, line] of lines.entries()) {
    if (!fenced[index]) rest.push(line)
    else if (!/^(?:`{3,}|~{3,})/.test(line) && line.trim() !== '')
      commands.push({ kind: 'command', text: line.trim() })
  }
  return [...commands, ...parseRegion('head', rest)]
}

function collect(
  lines: readonly string[],
  itemAt: (index: number) => { block: DocumentBlock | undefined; end: number } | undefined,
) {
  const fenced = fencedLines(lines)
  const blocks: DocumentBlock[] = []
  let remark: string[] = []
  let hasBlank = false
  const endRemark = (trailing: string) => {
    if (remark.length > 0) blocks.push({ kind: 'remark', text: `${remark.join('\n')}${trailing}` })
    remark = []
  }
  for (let index = 0; index < lines.length;) {
    const line = lines[index]!
    if (line.trim() === '' && !fenced[index]) {
      hasBlank = true
      index += 1
      continue
    }
    const item = fenced[index] ? undefined : itemAt(index)
    if (item !== undefined) {
      endRemark(hasBlank ? '\n' : '')
      if (item.block !== undefined) blocks.push(item.block)
      index = Math.max(item.end, index + 1)
    } else {
      if (hasBlank) remark.push('')
      remark.push(line)
      index += 1
    }
    hasBlank = false
  }
  endRemark('')
  return blocks
}
