import { shortenToCost } from '../cost.ts'
import { yamlValue } from '../../backlog/task-file.ts'
import { oneLine } from '../../text/clean.ts'
import { second } from '../../text/times.ts'
import type { HandoffFacts } from './facts.ts'

export const FORMAT = 'stint-handoff/1'

/** The head of a document, without its hash. */
export function frontmatterLines(facts: HandoffFacts): readonly string[] {
  const { state, git, position, madeBy, uncommitted } = facts
  const fields: readonly (readonly [string, string | number | undefined])[] = [
    ['format', FORMAT],
    ['session', state.id],
    ['name', bounded(state.name, 14)],
    ['number', facts.number],
    ['created_at', second(facts.createdAt)],
    ['branch', git?.branch === undefined ? undefined : bounded(git.branch, 20)],
    ['commit', git?.commit?.slice(0, 12)],
    ['dirty', git?.dirty],
    ['checkpoint', uncommitted.kept?.checkpoint],
    ['log', `{ bytes: ${position.bytes}, last_entry: ${position.last} }`],
    ['harness', madeBy === undefined ? undefined : bounded(madeBy.harness, 6)],
  ]
  return fields.flatMap(([key, value]) =>
    value === undefined || value === '' ? [] : [`${key}: ${value}`],
  )
}

/** A name may be as long as somebody likes, and the head has its place in a bounded text. */
function bounded(text: string, cost: number): string {
  return yamlValue(shortenToCost(oneLine(text), cost))
}

/** What the head of a document says, read leniently. */
export interface HandoffHead {
  readonly session: string
  readonly name: string
  readonly number: number
  readonly createdAt: string
  readonly branch?: string
  readonly commit?: string
  readonly dirty?: number
  readonly checkpoint?: string
  /** The hash that the document claims to have. */
  readonly hash?: string
}

/** The head of a text that is a handoff of ours; undefined for any other text. */
export function readHead(text: string): HandoffHead | undefined {
  const [, head] = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/.exec(text) ?? []
  if (head === undefined) return undefined
  const values = new Map(head.split(/\r?\n/).flatMap((line) => pairIn(line)))
  if (values.get('format') !== FORMAT) return undefined
  const optional = <K extends string>(key: K, value: string | undefined) =>
    value === undefined ? {} : { [key]: value }
  const dirty = values.get('dirty')
  return {
    session: values.get('session') ?? '',
    name: values.get('name') ?? '',
    number: Number(values.get('number') ?? 0),
    createdAt: values.get('created_at') ?? '',
    ...optional('branch', values.get('branch')),
    ...optional('commit', values.get('commit')),
    ...(dirty === undefined ? {} : { dirty: Number(dirty) }),
    ...optional('checkpoint', values.get('checkpoint')),
    ...optional('hash', values.get('hash')),
  }
}

function pairIn(line: string): readonly (readonly [string, string])[] {
  const [, key, value] = /^([a-z_]+): (.*)$/.exec(line) ?? []
  return key === undefined || value === undefined ? [] : [[key, unquoted(value)]]
}

function unquoted(value: string): string {
  if (!value.startsWith('"')) return value
  try {
    return String(JSON.parse(value))
  } catch {
    // Edited by hand, or cut off: what stands there says as much as it can.
    return value
  }
}
