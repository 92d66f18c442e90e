import type { Region } from '../session/kinds/kind.ts'
import { DOCUMENT_ITEMS } from '../session/registry.ts'
import type { SessionState } from '../session/state.ts'
import { formatToMinute } from '../text/times.ts'

import {
  CURRENT_MARK,
  DECISION_FIELDS,
  HEADINGS,
  type HeadingKey,
  KEY_CONTEXT_LINE,
  KEY_FILES_LINE,
  type DocumentMarker,
  NO_RATIONALE,
  OPTIONAL_HEADINGS,
  PROGRESS_HEADINGS,
  escapeItem,
  escapeLine,
  markerLine,
} from './grammar.ts'
import {
  type DocumentBlock,
  type DocumentModel,
  type DocumentSection,
  modelOf,
  sectionRoots,
} from './model.ts'

export function renderDocument(state: SessionState, marker: DocumentMarker): string {
  return renderModel(modelOf(state), marker)
}

/** Without a marker the text is a copy to read, not a document to edit. */
export function renderModel(model: DocumentModel, marker?: DocumentMarker): string {
  const lines: string[] = [
    '---',
    ...model.fields.map(([key, value]) => `${key}:${value}`),
    '---',
    '',
    `# Session: ${model.title}`,
    '',
  ]
  lines.push(...remarksOnly(model.regions.head))
  const rest = new Map(sectionRoots(model.sections))
  const customUnder = (key: string) => {
    for (const [section, root] of rest) {
      if (root === key && rest.delete(section)) lines.push(...customSection(section))
    }
  }
  customUnder('title')
  for (const { key, title } of HEADINGS) {
    const body = BODIES[key](model)
    if (body.length > 0 || !OPTIONAL_HEADINGS.has(key)) lines.push(`## ${title}`, ...body, '')
    customUnder(key)
  }
  // Sections whose heading is gone keep their text, at the end.
  for (const section of rest.keys()) lines.push(...customSection(section))
  if (marker !== undefined) lines.push(markerLine(marker))
  return `${lines.join('\n').trimEnd()}\n`
}

const BODIES: Record<HeadingKey, (model: DocumentModel) => readonly string[]> = {
  tldr: (model) => [
    ...freeText(model.tldr),
    '',
    `**Progress**: ${model.progressLine}`,
    `**Current**: ${model.currentLine}`,
    `**Blocker**: ${model.blockerLine}`,
    ...(model.workflowLine === '' ? [] : [`**Workflow**: ${model.workflowLine}`]),
    ...region(model, 'tldr'),
  ],
  context: (model) => [
    ...field('Objective', model.objective),
    ...withBlankBefore(region(model, 'context')),
    '',
    KEY_FILES_LINE,
    ...region(model, 'keyFiles', 'None yet'),
    '',
    KEY_CONTEXT_LINE,
    ...region(model, 'key', 'None yet'),
  ],
  progress: (model) => [
    ...region(model, 'progress'),
    ...PROGRESS_HEADINGS.flatMap(({ title, region: name }, index) => [
      ...(index === 0 ? [] : ['']),
      `### ${title}`,
      ...region(model, name, 'None yet'),
    ]),
  ],
  decisions: (model) => region(model, 'decisions', 'None yet'),
  discoveries: (model) => region(model, 'discoveries', 'None yet'),
  blockers: (model) => region(model, 'blockers', 'None currently'),
  next: (model) => region(model, 'next', 'None yet'),
  delegates: (model) => region(model, 'delegates'),
  notes: (model) => region(model, 'notes'),
  changedFiles: (model) => region(model, 'changedFiles'),
  commands: (model) => commands(model.regions.commands),
}

function region(model: DocumentModel, name: Region, placeholder?: string): readonly string[] {
  const lines: string[] = []
  let number = 0
  for (const block of model.regions[name]) {
    if (block.kind === 'remark') {
      lines.push(...block.text.split('\n'))
      continue
    }
    number += 1
    if (block.kind === 'decision' && number > 1 && lines.at(-1) !== '') lines.push('')
    lines.push(...itemLines(block, number))
  }
  while (lines.at(-1) === '') lines.pop()
  if (number === 0 && placeholder !== undefined) lines.unshift(`- ${placeholder}`)
  return lines
}

/** A text right below a field would be parsed as the rest of the field. */
function withBlankBefore(lines: readonly string[]): readonly string[] {
  return lines.length === 0 || lines[0] === '' ? lines : ['', ...lines]
}

function itemLines(block: DocumentBlock, number: number): readonly string[] {
  const when = block.when === undefined ? '' : ` (${formatToMinute(block.when)})`
  switch (block.kind) {
    case 'step': {
      const mark = block.isCurrent === true ? `          ${CURRENT_MARK}` : ''
      return bullet(`- [${block.isChecked === true ? 'x' : ' '}] `, block.text, `${when}${mark}`, 2)
    }
    case 'decision':
      return [`### ${number}. ${block.text}${when}`, ...decisionFields(block)]
    case 'discovery':
    case 'gotcha':
      return discovery(`${number}. `, prefixOf(block), block.text, when)
    case 'blocker': {
      const resolution = block.resolution === undefined ? '' : `: ${block.resolution}`
      const resolved = ` (resolved ${formatToMinute(block.when ?? '')})${resolution}`
      return block.isChecked === true
        ? bullet('- [x] ', block.text, resolved, 2)
        : bullet('- ', escapeItem(block.text), when)
    }
    case 'delegate':
      return [`- ${block.text}${when}`]
    case 'next':
      return bullet(`${number}. `, escapeItem(block.text), '')
    case 'keyFile':
    case 'changedFile': {
      const fence = block.text.includes('`') ? '``' : '`'
      return [
        `- ${fence}${block.text}${fence}${block.description === undefined ? '' : ` - ${block.description}`}`,
      ]
    }
    default:
      return bullet('- ', escapeItem(`${prefixOf(block)}${block.text}`), when)
  }
}

const PREFIXES = new Map(DOCUMENT_ITEMS.map(({ block, text }) => [block, text?.prefix ?? '']))

function prefixOf(block: Pick<DocumentBlock, 'kind'>): string {
  return PREFIXES.get(block.kind) ?? ''
}

/** Further lines are indented, so that nothing in them can be parsed as structure. */
function bullet(
  marker: string,
  text: string,
  suffix: string,
  indent = marker.length,
): readonly string[] {
  if (!text.includes('\n')) return [`${marker}${text}${suffix}`]
  const [first = '', ...more] = text.split('\n')
  return [
    `${marker}${first}${suffix}`,
    ...more.map((line) => (line === '' ? '' : `${' '.repeat(indent)}${line}`)),
  ]
}

/** `1. **Lock ordering** (time): chain_watcher first`, or the whole first line in bold. */
function discovery(marker: string, prefix: string, text: string, when: string): readonly string[] {
  const [first = '', ...more] = `${prefix}${text}`.split('\n')
  const colon = first.indexOf(': ')
  // The colon of a prefix does not end the bold part.
  const isGotcha = first.startsWith(prefixOf({ kind: 'gotcha' }))
  const hasHead = colon > 0 && colon <= 60 && !isGotcha
  const head = hasHead
    ? `**${first.slice(0, colon)}**${when}: ${first.slice(colon + 2)}`
    : `**${first}**${when}`
  return bullet(marker, [head, ...more].join('\n'), '')
}

function decisionFields(block: DocumentBlock): readonly string[] {
  return DECISION_FIELDS.flatMap(({ label, field: name }) => {
    const text = block[name] ?? (name === 'rationale' ? NO_RATIONALE : undefined)
    return text === undefined ? [] : field(label, text)
  })
}

/** A further line stays at the margin if it would be parsed as part of the field. Otherwise it is indented. */
function field(label: string, text: string): readonly string[] {
  const [first = '', ...more] = text.split('\n')
  let isAfterBlank = false
  const rest = more.map((line) => {
    if (line === '') {
      isAfterBlank = true
      return ''
    }
    return isAfterBlank || !isLazy(line) ? `  ${line}` : line
  })
  return [`**${label}**:${first === '' ? '' : ` ${first}`}`, ...rest]
}

export function isLazy(line: string): boolean {
  return /^[^\s#*<>=|~`\\-]/.test(line) || /^[-*] \S/.test(line)
}

/** A fence that is never closed would swallow the rest of the document, so it is escaped. */
export function freeText(text: string): readonly string[] {
  const lines = text.split('\n')
  let fence: { mark: string; line: number } | undefined
  const inFence = new Set<number>()
  for (const [index, line] of lines.entries()) {
    const mark = /^(?:```+|~~~+)/.exec(line)?.[0]
    if (fence === undefined) {
      if (mark !== undefined) fence = { mark, line: index }
    } else if (line.startsWith(fence.mark) && line.slice(fence.mark.length).trim() === '') {
      for (let inside = fence.line; inside <= index; inside += 1) inFence.add(inside)
      fence = undefined
    }
  }
  return lines.map((line, index) => (inFence.has(index) ? line : escapeLine(line)))
}

function commands(blocks: readonly DocumentBlock[]): readonly string[] {
  const lines = blocks.filter((block) => block.kind === 'command').map((block) => block.text)
  const remarks = remarksOnly(blocks)
  while (remarks.at(-1) === '') remarks.pop()
  return [...(lines.length === 0 ? [] : ['```bash', ...lines, '```']), ...remarks]
}

function remarksOnly(blocks: readonly DocumentBlock[]): string[] {
  const lines = blocks
    .filter((block) => block.kind === 'remark')
    .flatMap((block) => block.text.replace(/^\n/, '').split('\n'))
  while (lines.at(-1) === '') lines.pop()
  return lines.length === 0 ? [] : [...lines, '']
}

function customSection(section: DocumentSection): readonly string[] {
  const body = section.body.split('\n')
  while (body.at(-1) === '') body.pop()
  return [`## ${section.title}`, ...body, '']
}
