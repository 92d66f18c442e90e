// A template in YAML. A mistake in it is an error that names the file, the line and what is allowed: a phase that was
// misunderstood would be noticed only when somebody has worked through it.
import {
  LineCounter,
  type Node,
  type Pair,
  type YAMLMap,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
} from 'yaml'
import { StintError } from '../../journal/errors.ts'
import type { TemplatePhase, TemplateSubPhase, WorkflowTemplate } from '../../session/entries.ts'
import { MOST_PHASES } from '../../session/kinds/workflow.ts'
import { oneLine } from '../../text/clean.ts'
import { defined } from '../../text/defined.ts'

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,15}$/
const LONGEST_NAME = 60
const LONGEST_FOCUS = 300

/** The template in a text. `path` is what mistakes are named after, `name` what it is called unless it says so itself. */
export function readTemplate(text: string, path: string, name: string): WorkflowTemplate {
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
  })
  const reader = new Reader((offset) => lines.linePos(offset).line)
  for (const { pos, message } of document.errors) reader.say(pos[0], message)
  const template = document.errors.length > 0 ? undefined : reader.template(document.contents, name)
  if (template !== undefined && reader.mistakes.length === 0) return template
  const told = reader.mistakes.map(({ line, mistake }) => `${path}:${line}: ${mistake}`)
  throw new StintError(
    'TEMPLATE_INVALID',
    told.join('\n'),
    'stint workflow template nine-phases prints one that is right',
  )
}

class Reader {
  readonly mistakes: { line: number; mistake: string }[] = []
  readonly #lineAt: (offset: number) => number

  constructor(lineAt: (offset: number) => number) {
    this.#lineAt = lineAt
  }

  say(at: number | Node | null | undefined, mistake: string): void {
    const offset = typeof at === 'number' ? at : (at?.range?.[0] ?? 0)
    this.mistakes.push({ line: this.#lineAt(offset), mistake })
  }

  template(node: unknown, name: string): WorkflowTemplate | undefined {
    if (!isMap(node)) {
      this.say(node as Node | null, 'a template has a name and phases')
      return undefined
    }
    const fields = this.#fields(node, ['name', 'phases'], 'a template')
    const phases = this.#list(fields.phases, 'phases', node).map((phase, index) =>
      this.#phase(phase, index + 1),
    )
    if (isSeq(fields.phases) && phases.length === 0)
      this.say(fields.phases, 'phases is empty; a template has one at least')
    const read = phases.filter((phase) => phase !== undefined)
    this.#expectEachOnce(read)
    this.#expectTogether(read)
    const named = this.#text(fields.name, 'name', LONGEST_NAME) ?? name
    return { name: named, phases: read.map(({ value }) => value) }
  }

  #phase(node: Node | null, number: number): Read<TemplatePhase> | undefined {
    const allowed = [
      'id',
      'name',
      'sub_phases',
      'gate',
      'tokens',
      'deliverables',
      'focus',
      'conversation',
    ]
    const read = this.#part(node, allowed, `phase ${number}`, String(number))
    if (read === undefined) return undefined
    const { fields, value } = read
    const subs =
      fields.sub_phases === undefined ? [] : this.#list(fields.sub_phases, 'sub_phases', node)
    const subPhases = subs.flatMap((sub, index) => {
      const letter = String.fromCodePoint(97 + (index % 26))
      return (
        this.#part(
          sub,
          ['id', 'name', 'deliverables', 'focus'],
          'a sub-phase',
          `${value.id}${letter}`,
        ) ?? []
      )
    })
    const gate = this.#oneOf(fields.gate, 'gate', ['approval', 'none'])
    const tokens = this.#tokens(fields.tokens)
    const conversation = this.#text(fields.conversation, 'conversation', LONGEST_NAME)
    const phase: TemplatePhase = {
      ...value,
      ...defined({ gate, tokens, conversation }),
      ...(subPhases.length === 0 ? {} : { subPhases: subPhases.map((sub) => sub.value) }),
    }
    return { node: read.node, value: phase, parts: subPhases }
  }

  /** What phases and sub-phases have in common. */
  #part(node: Node | null, allowed: readonly string[], what: string, number: string) {
    if (!isMap(node)) {
      this.say(node, `${what} is a list of ${allowed.join(', ')}`)
      return undefined
    }
    const fields = this.#fields(node, allowed, what)
    const name = this.#text(fields.name, 'name', LONGEST_NAME)
    if (fields.name === undefined) this.say(node, `${what} has no name`)
    const id = this.#text(fields.id, 'id', 16) ?? number
    if (!ID.test(id))
      this.say(
        fields.id ?? node,
        `"${id}" is no id; it is up to 16 letters, digits, dots and dashes, such as 5a`,
      )
    const focus = this.#text(fields.focus, 'focus', LONGEST_FOCUS)
    const deliverables = this.#list(fields.deliverables, 'deliverables').flatMap(
      (path) => this.#path(path) ?? [],
    )
    const value: TemplateSubPhase = {
      id,
      name: name ?? id,
      ...defined({ focus }),
      ...(deliverables.length === 0 ? {} : { deliverables }),
    }
    return { fields, value, node, parts: [] as readonly Read<TemplateSubPhase>[] }
  }

  #fields(
    map: YAMLMap,
    allowed: readonly string[],
    what: string,
  ): Record<string, Node | undefined> {
    const found: Record<string, Node | undefined> = {}
    for (const { key, value } of map.items as Pair<Node, Node | null>[]) {
      const name = isScalar(key) ? String(key.value) : ''
      if (!allowed.includes(name))
        this.say(key, `${what} has no "${name}"; it has ${allowed.join(', ')}`)
      else if (isAlias(value)) this.say(value, `"${name}" is an alias; write it out`)
      else if (value !== null && !(isScalar(value) && value.value === null)) found[name] = value
    }
    return found
  }

  #list(node: Node | undefined, name: string, missingIn?: Node | null): readonly (Node | null)[] {
    if (isSeq(node)) {
      if (node.items.length > MOST_PHASES)
        this.say(node, `${name} has ${node.items.length}; at most ${MOST_PHASES} are taken`)
      return node.items as (Node | null)[]
    }
    if (node !== undefined) this.say(node, `${name} is a list, each line of it begun with a dash`)
    else if (missingIn !== undefined) this.say(missingIn, `there are no ${name}`)
    return []
  }

  #text(node: Node | undefined, name: string, longest: number): string | undefined {
    if (node === undefined) return undefined
    const { value } = isScalar(node) ? node : { value: undefined }
    // 1.0 or 007 is meant as it is written.
    const text =
      typeof value === 'number' && isScalar(node) ? (node.source ?? String(value)) : value
    const line = typeof text === 'string' ? oneLine(text) : ''
    if (line !== '' && line.length <= longest) return line
    this.say(node, `${name} is a text of up to ${longest} characters`)
    return undefined
  }

  #path(node: Node | null): string | undefined {
    const path = this.#text(node ?? undefined, 'a deliverable', 300)
    if (path === undefined || isInside(path)) return path
    this.say(
      node,
      `"${path}" leads out of the project; a deliverable is a path within it, such as docs/design.md`,
    )
    return undefined
  }

  #oneOf<T extends string>(
    node: Node | undefined,
    name: string,
    allowed: readonly T[],
  ): T | undefined {
    if (node === undefined) return undefined
    const found = allowed.find((candidate) => isScalar(node) && node.value === candidate)
    if (found === undefined) this.say(node, `${name} is one of ${allowed.join(', ')}`)
    return found
  }

  #tokens(node: Node | undefined): TokenRange | undefined {
    if (node === undefined) return undefined
    const range = isScalar(node) ? tokenRange(node.value) : undefined
    if (range === undefined)
      this.say(
        node,
        'tokens is a number above 0, such as 60000 or 60K, or a range from less to more, such as 50K-80K',
      )
    return range
  }

  /** Commands name a phase by its id or its name, so each may stand for one phase only. */
  #expectEachOnce(phases: readonly Read<TemplatePhase>[]): void {
    const known = new Map<string, string>()
    for (const { node, value } of phases.flatMap((phase) => [phase, ...phase.parts])) {
      for (const name of new Set([value.id.toLowerCase(), value.name.toLowerCase()])) {
        const other = known.get(name)
        if (other !== undefined)
          this.say(node, `"${name}" is phase ${other} already; every id and name is there once`)
        known.set(name, value.id)
      }
    }
  }

  #expectTogether(phases: readonly Read<TemplatePhase>[]): void {
    const over = new Set<string>()
    let current: string | undefined
    for (const { node, value } of phases) {
      if (value.conversation !== current && current !== undefined) over.add(current)
      current = value.conversation
      if (current !== undefined && over.has(current))
        this.say(
          node,
          `conversation "${current}" was over before phase ${value.id}; phases that share one stand together`,
        )
    }
  }
}

interface Read<T> {
  readonly node: Node
  readonly value: T
  readonly parts: readonly Read<TemplateSubPhase>[]
}

/** From and to; the same twice for a number. */
export type TokenRange = readonly [number, number]

const AMOUNT = String.raw`(\d+(?:[._]\d+)*)\s*([km]?)`
const RANGE = new RegExp(`^${AMOUNT}(?:\\s*(?:-|–|to)\\s*${AMOUNT})?$`, 'i')
const MOST = 1e9

/** `60000`, `60K`, `50K-80K`, `0.5M`; undefined for anything else. */
export function tokenRange(value: unknown): TokenRange | undefined {
  const match = RANGE.exec(String(value).trim())
  if (match === null || (typeof value !== 'number' && typeof value !== 'string')) return undefined
  const [, from = '', unit = '', to, toUnit = ''] = match
  // In 50-80K both are thousands.
  const low = amount(from, to !== undefined && unit === '' ? toUnit : unit)
  const high = to === undefined ? low : amount(to, toUnit)
  return low > 0 && low <= high && high <= MOST ? [low, high] : undefined
}

function amount(digits: string, unit: string): number {
  const times = { k: 1000, m: 1_000_000 }[unit.toLowerCase()] ?? 1
  return Number(digits.replaceAll('_', '')) * times
}

/** `50K-80K`, `115K`, `900` */
export function tokensText([from, to]: TokenRange): string {
  return from === to ? short(from) : `${short(from)}-${short(to)}`
}

function short(tokens: number): string {
  return tokens < 1000 ? String(tokens) : `${Number((tokens / 1000).toFixed(1))}K`
}

/** Whether a path, as it stands in a template or a journal, stays within the project, wherever that is. */
export function isInside(path: string): boolean {
  if (path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path) || path.includes('\\')) return false
  return !path.split('/').includes('..')
}
