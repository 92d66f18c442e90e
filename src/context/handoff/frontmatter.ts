import { yamlValue } from '../../backlog/task-file-format.ts'
import { oneLine } from '../../text/clean.ts'
import { defined } from '../../text/defined.ts'
import { formatToSecond } from '../../text/times.ts'
import { shortenToCost } from '../text-size.ts'
import type { HandoffFacts } from './gather-facts.ts'

const FORMAT = 'stint-handoff/1'

export function frontmatterLines(facts: HandoffFacts): readonly string[] {
  const { state, git, position, madeBy, uncommitted } = facts
  const fields = {
    format: FORMAT,
    session: state.id,
    name: bounded(state.name, 14),
    number: facts.number,
    created_at: formatToSecond(facts.createdAt),
    branch: git?.branch === undefined ? undefined : bounded(git.branch, 20),
    commit: git?.commit?.slice(0, 12),
    dirty: git?.dirty,
    checkpoint: uncommitted.kept?.checkpoint,
    log: `{ bytes: ${position.bytes}, last_entry: ${position.last} }`,
    harness: madeBy === undefined ? undefined : bounded(madeBy.harness, 6),
  }
  return Object.entries(fields).flatMap(([key, value]) =>
    value === undefined || value === '' ? [] : [`${key}: ${value}`],
  )
}

function bounded(text: string, cost: number) {
  return yamlValue(shortenToCost(oneLine(text), cost))
}

export type HandoffFrontmatter = NonNullable<ReturnType<typeof readHandoffFrontmatter>>

export function readHandoffFrontmatter(text: string) {
  const [, head = ''] = /^\uFEFF?---\r?\n([\s\S]*?)\r?\n---(?:\r?\n|$)/.exec(text) ?? []
  const pairs = head.split(/\r?\n/).flatMap((line) => {
    const [, key, value] = /^([a-z_]+): (.*)$/.exec(line) ?? []
    return key === undefined || value === undefined ? [] : [[key, unquoted(value)] as const]
  })
  const values: Partial<Record<string, string>> = Object.fromEntries(pairs)
  if (values.format !== FORMAT) return undefined
  const { session = '', name = '', number = 0, created_at: createdAt = '' } = values
  const { branch, commit, checkpoint, hash } = values
  const dirty = values.dirty === undefined ? undefined : Number(values.dirty)
  const found = defined({ branch, commit, dirty, checkpoint, hash })
  return { session, name, number: Number(number), createdAt, ...found }
}

function unquoted(value: string) {
  if (!value.startsWith('"')) return value
  try {
    return String(JSON.parse(value))
  } catch {
    // Edited by hand or truncated: the raw text is the best there is.
    return value
  }
}

/** Excludes the hash line itself and ignores changed line endings. */
export function contentHash(text: string): string {
  // Loaded lazily: hooks load this module and rarely hash.
  const { createHash } = process.getBuiltinModule('node:crypto')
  const lines = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  // Only in the frontmatter: the body may contain a line that looks the same.
  const end = lines.startsWith('---\n') ? Math.max(0, lines.indexOf('\n---\n', 3)) : 0
  const head = lines
    .slice(0, end)
    .replace(/^hash: .*$/m, '')
    .replaceAll(/\n+/g, '\n')
  const canonical = `${head}${lines.slice(end)}`.trimEnd()
  return `sha256:${createHash('sha256').update(canonical).digest('hex')}`
}
