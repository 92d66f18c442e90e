import { basename, join, relative, resolve } from 'node:path'
import { StintError } from '../../journal/errors.ts'
import { listFolder, readOrUndefined } from '../../journal/read-files.ts'
import type { TemplatePhase, TemplateSubPhase, WorkflowTemplate } from '../../session/entries.ts'
import {
  LineCounter,
  type Node,
  type Pair,
  type YAMLMap,
  isAlias,
  isMap,
  isScalar,
  isSeq,
} from 'yaml'
import { MAX_PHASES } from '../../session/kinds/workflow.ts'
import { oneLine } from '../../text/clean.ts'
import { defined } from '../../text/defined.ts'
import { parseYaml } from '../../text/parse-yaml.ts'

export const DEFAULT_TEMPLATE = 'nine-phases'

interface TemplateFolders {
  readonly sessions: string
  readonly cwd: string
}

export interface TemplateSource {
  readonly name: string
  readonly path?: string
  readonly text: string
}

const FILE = /\.ya?ml$/

export function findTemplate(wanted: string, folders: TemplateFolders): TemplateSource {
  if (wanted.includes('/') || FILE.test(wanted))
    return templateAt(resolve(folders.cwd, wanted), wanted)
  const own = ownTemplates(folders).find(({ name }) => name === wanted)
  if (own !== undefined) return own
  if (wanted === DEFAULT_TEMPLATE) return { name: wanted, text: NINE_PHASES }
  const names = listTemplates(folders).map(({ name }) => name)
  throw new StintError(
    'NO_TEMPLATE',
    `there is no template "${wanted}"; there are ${names.join(', ')}`,
    `put one of your own at ${join(folders.sessions, 'workflows', `${wanted.replaceAll(/[^\w.-]/g, '-')}.yaml`)}, or name a file`,
  )
}

export function loadTemplate(found: TemplateSource, { cwd }: TemplateFolders): WorkflowTemplate {
  const path = found.path === undefined ? found.name : relative(cwd, found.path)
  return readTemplate(found.text, path, found.name)
}

export function listTemplates(folders: TemplateFolders): readonly TemplateSource[] {
  const own = ownTemplates(folders)
  const isReplaced = own.some(({ name }) => name === DEFAULT_TEMPLATE)
  return isReplaced ? own : [...own, { name: DEFAULT_TEMPLATE, text: NINE_PHASES }]
}

function ownTemplates({ sessions }: TemplateFolders): readonly TemplateSource[] {
  const folder = join(sessions, 'workflows')
  return listFolder(folder)
    .filter((name) => FILE.test(name) && !name.startsWith('.'))
    .toSorted()
    .map((name) => templateAt(join(folder, name), name))
}

function templateAt(path: string, wanted: string): TemplateSource {
  const text = readOrUndefined(path)?.toString('utf8')
  if (text === undefined)
    throw new StintError(
      'NO_TEMPLATE',
      `there is no file ${wanted}`,
      'stint workflow template lists the templates by name',
    )
  return { name: basename(path).replace(FILE, ''), path, text }
}

/** The default template as text, so that it is printed with its comments. */
export const NINE_PHASES = `# Nine phases over three conversations. Copy this to .sessions/workflows/NAME.yaml and change it.
name: nine-phases
phases:
  # id: how the phase is named in commands; its number when left out.
  # conversation: phases that name the same one share a conversation, and where it changes is the place for a fresh one.
  # tokens: what the phase typically uses, a number or a range; says how much of the whole it is.
  - id: 1
    name: Requirements
    conversation: planning
    tokens: 12.5K-20K
    focus: what is wanted, by whom, and how it will be told that it is there
  - id: 2
    name: Design
    conversation: planning
    tokens: 12.5K-20K
    focus: how it is going to be built, and what was decided against
  - id: 3
    name: UI
    conversation: planning
    tokens: 12.5K-20K
    focus: what people see and do
  # gate: approval means that the next phase opens when a person approved this one.
  - id: 4
    name: Tests
    conversation: planning
    tokens: 12.5K-20K
    focus: which tests will show that it works
    gate: approval
  - id: 5
    name: TDD Implementation
    conversation: implementation
    tokens: 80K-150K
    gate: approval
    # sub_phases have an id (the phase's with a letter when left out), a name, a focus and deliverables.
    sub_phases:
      - id: 5a
        name: TDD RED
        focus: tests that fail for the right reason
      - id: 5b
        name: TDD GREEN
        focus: the least code that makes them pass
      - id: 5c
        name: TDD REFACTOR
        focus: the same behaviour in better code
  # deliverables: paths that the phase is to leave behind, such as [docs/design.md].
  - id: 6
    name: Review
    conversation: review and deploy
    tokens: 10K-15K
    focus: the change as somebody reads it who did not write it
  - id: 7
    name: Verify
    conversation: review and deploy
    tokens: 10K-15K
    focus: the whole, run as it will be used
  - id: 8
    name: Docs
    conversation: review and deploy
    tokens: 10K-15K
    focus: what users and the next developer have to know
  - id: 9
    name: Notify
    conversation: review and deploy
    tokens: 10K-15K
    focus: telling those who wait for it
`

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,15}$/
const MAX_NAME = 60

export function readTemplate(text: string, path: string, name: string): WorkflowTemplate {
  const lines = new LineCounter()
  const parsed = parseYaml(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  const parser = new TemplateParser((offset) => lines.linePos(offset).line)
  if (!parsed.isValid)
    for (const { offset, message } of parsed.mistakes) parser.report(offset, message)
  const template = parsed.isValid ? parser.template(parsed.document.contents, name) : undefined
  if (template !== undefined && parser.mistakes.length === 0) return template
  throw new StintError(
    'TEMPLATE_INVALID',
    parser.mistakes.map(({ line, mistake }) => `${path}:${line}: ${mistake}`).join('\n'),
    'stint workflow template nine-phases prints one that is right',
  )
}

type Field = Node | null | undefined

interface ParsedPhase<T> {
  readonly node: Node
  readonly value: T
  readonly parts: readonly ParsedPhase<TemplateSubPhase>[]
}

class TemplateParser {
  readonly mistakes: { line: number; mistake: string }[] = []
  readonly #lineAt: (offset: number) => number

  constructor(lineAt: (offset: number) => number) {
    this.#lineAt = lineAt
  }

  report(at: number | Field, mistake: string): undefined {
    const offset = typeof at === 'number' ? at : (at?.range?.[0] ?? 0)
    this.mistakes.push({ line: this.#lineAt(offset), mistake })
  }

  template(node: unknown, name: string): WorkflowTemplate | undefined {
    if (!isMap(node)) return this.report(node as Field, 'a template has a name and phases')
    const fields = this.#fields(node, ['name', 'phases'], 'a template')
    const phases = this.#list(fields.phases, 'phases', node).flatMap(
      (phase, index) => this.#phase(phase, index + 1) ?? [],
    )
    if (isSeq(fields.phases) && fields.phases.items.length === 0)
      this.report(fields.phases, 'phases is empty; a template has one at least')
    this.#checkUnique(phases)
    this.#checkGrouped(phases)
    const named = this.#text(fields.name, 'name', MAX_NAME) ?? name
    return { name: named, phases: phases.map(({ value }) => value) }
  }

  #phase(node: Field, number: number): ParsedPhase<TemplatePhase> | undefined {
    const own = ['sub_phases', 'gate', 'tokens', 'deliverables', 'focus', 'conversation']
    const read = this.#phaseFields(node, ['id', 'name', ...own], `phase ${number}`, String(number))
    if (read === undefined) return undefined
    const { fields, value } = read
    const subs =
      fields.sub_phases === undefined ? [] : this.#list(fields.sub_phases, 'sub_phases', node)
    const parts = subs.flatMap((sub, index) => {
      const letter = String.fromCodePoint(97 + (index % 26))
      const allowed = ['id', 'name', 'deliverables', 'focus']
      return this.#phaseFields(sub, allowed, 'a sub-phase', `${value.id}${letter}`) ?? []
    })
    const gate = this.#gate(fields.gate)
    const tokens = this.#tokens(fields.tokens)
    const conversation = this.#text(fields.conversation, 'conversation', MAX_NAME)
    const subPhases = parts.length === 0 ? undefined : parts.map((sub) => sub.value)
    const phase = { ...value, ...defined({ gate, tokens, conversation, subPhases }) }
    return { node: read.node, value: phase, parts }
  }

  #phaseFields(node: Field, allowed: readonly string[], what: string, number: string) {
    if (!isMap(node)) return this.report(node, `${what} is a list of ${allowed.join(', ')}`)
    const fields = this.#fields(node, allowed, what)
    const name = this.#text(fields.name, 'name', MAX_NAME)
    if (fields.name === undefined) this.report(node, `${what} has no name`)
    const id = this.#text(fields.id, 'id', 16) ?? number
    if (!ID.test(id))
      this.report(
        fields.id ?? node,
        `"${id}" is no id; it is up to 16 letters, digits, dots and dashes, such as 5a`,
      )
    const focus = this.#text(fields.focus, 'focus', 300)
    const paths = this.#list(fields.deliverables, 'deliverables')
    const found = paths.flatMap((path) => this.#path(path) ?? [])
    const deliverables = found.length === 0 ? undefined : found
    const value = { id, name: name ?? id, ...defined({ focus, deliverables }) }
    return { fields, value, node, parts: [] }
  }

  #fields(map: YAMLMap, allowed: readonly string[], what: string) {
    const found: Record<string, Node | undefined> = {}
    for (const { key, value } of map.items as Pair<Node, Node | null>[]) {
      const name = isScalar(key) ? String(key.value) : ''
      if (!allowed.includes(name))
        this.report(key, `${what} has no "${name}"; it has ${allowed.join(', ')}`)
      else if (isAlias(value)) this.report(value, `"${name}" is an alias; write it out`)
      else if (value !== null && !(isScalar(value) && value.value === null)) found[name] = value
    }
    return found
  }

  #list(node: Field, name: string, missingIn?: Field): readonly (Node | null)[] {
    if (isSeq(node)) {
      if (node.items.length > MAX_PHASES)
        this.report(node, `${name} has ${node.items.length}; at most ${MAX_PHASES} are taken`)
      return node.items as (Node | null)[]
    }
    if (node !== undefined)
      this.report(node, `${name} is a list, each line of it begun with a dash`)
    else if (missingIn !== undefined) this.report(missingIn, `there are no ${name}`)
    return []
  }

  #text(node: Field, name: string, longest: number): string | undefined {
    if (node === undefined || node === null) return undefined
    const { value, source } = isScalar(node) ? node : { value: undefined }
    // 1.0 or 007 is meant as written.
    const text = typeof value === 'number' ? (source ?? String(value)) : value
    const line = typeof text === 'string' ? oneLine(text) : ''
    if (line !== '' && line.length <= longest) return line
    return this.report(node, `${name} is a text of up to ${longest} characters`)
  }

  #path(node: Node | null): string | undefined {
    const path = this.#text(node, 'a deliverable', 300)
    if (path === undefined || isProjectRelative(path)) return path
    return this.report(
      node,
      `"${path}" leads out of the project; a deliverable is a path within it, such as docs/design.md`,
    )
  }

  #gate(node: Field): TemplatePhase['gate'] {
    if (node === undefined) return undefined
    const value = isScalar(node) ? node.value : undefined
    if (value === 'approval' || value === 'none') return value
    return this.report(node, 'gate is one of approval, none')
  }

  #tokens(node: Field): TokenRange | undefined {
    if (node === undefined) return undefined
    const range = isScalar(node) ? tokenRange(node.value) : undefined
    return (
      range ??
      this.report(
        node,
        'tokens is a number above 0, such as 60000 or 60K, or a range from less to more, such as 50K-80K',
      )
    )
  }

  /** Commands accept a phase's id or name, so each may name only one phase. */
  #checkUnique(phases: readonly ParsedPhase<TemplatePhase>[]): void {
    const known = new Map<string, string>()
    for (const { node, value } of phases.flatMap((phase) => [phase, ...phase.parts])) {
      for (const name of new Set([value.id.toLowerCase(), value.name.toLowerCase()])) {
        const other = known.get(name)
        if (other !== undefined)
          this.report(node, `"${name}" is phase ${other} already; every id and name is there once`)
        known.set(name, value.id)
      }
    }
  }

  #checkGrouped(phases: readonly ParsedPhase<TemplatePhase>[]): void {
    const ended = new Set<string>()
    let current: string | undefined
    for (const { node, value } of phases) {
      if (value.conversation !== current && current !== undefined) ended.add(current)
      current = value.conversation
      if (current !== undefined && ended.has(current))
        this.report(
          node,
          `conversation "${current}" was over before phase ${value.id}; phases that share one stand together`,
        )
    }
  }
}

type TokenRange = readonly [number, number]

const AMOUNT_PATTERN = String.raw`(\d+(?:[._]\d+)*)\s*([km]?)`
const RANGE_PATTERN = new RegExp(`^${AMOUNT_PATTERN}(?:\\s*(?:-|–|to)\\s*${AMOUNT_PATTERN})?$`, 'i')
const MAX_TOKENS = 1e9

/** `60000`, `60K`, `50K-80K`, `0.5M`; undefined for anything else. */
export function tokenRange(value: unknown): TokenRange | undefined {
  const match = RANGE_PATTERN.exec(String(value).trim())
  if (match === null || (typeof value !== 'number' && typeof value !== 'string')) return undefined
  const [, from = '', unit = '', to, toUnit = ''] = match
  // In 50-80K both are thousands.
  const low = amount(from, to !== undefined && unit === '' ? toUnit : unit)
  const high = to === undefined ? low : amount(to, toUnit)
  return low > 0 && low <= high && high <= MAX_TOKENS ? [low, high] : undefined
}

function amount(digits: string, unit: string): number {
  const times = { k: 1000, m: 1_000_000 }[unit.toLowerCase()] ?? 1
  return Number(digits.replaceAll('_', '')) * times
}

/** `50K-80K`, `115K`, `900`. */
export function tokensText([from, to]: TokenRange): string {
  return from === to ? shortTokens(from) : `${shortTokens(from)}-${shortTokens(to)}`
}

function shortTokens(tokens: number): string {
  return tokens < 1000 ? String(tokens) : `${Number((tokens / 1000).toFixed(1))}K`
}

export function isProjectRelative(path: string): boolean {
  if (path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path) || path.includes('\\')) return false
  return !path.split('/').includes('..')
}
