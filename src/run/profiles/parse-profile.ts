// A profile is Markdown under a head of a few keys. Heads are written for other programs, too, some of which take what is no
// YAML; so what cannot be parsed is read line by line.
import { parseDocument } from 'yaml'
import { estimateTokens } from '../../text/tokens.ts'
import { isRecord, line } from '../../backlog/canonical.ts'
import { readList } from '../../backlog/task.ts'
import { cleanText, shorten, slug } from '../../text/clean.ts'
import type { Profile } from './profile.ts'

const HEAD = /^---[ \t]*\n([\s\S]*?)\n---[ \t]*(?:\n|$)/
const LONGEST_DESCRIPTION = 200

export type ParsedProfile =
  | { readonly profile: Profile; readonly problem?: string }
  | { readonly problem: string }

/** The profile in a file, with what is odd about it. */
export function parseProfile(file: string, text: string): ParsedProfile {
  const plain = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  const head = HEAD.exec(plain)
  if (head === null)
    return { problem: 'has no head: begin it with ---, name: NAME, description: TEXT, ---' }
  const body = cleanText(plain.slice(head[0].length)).trim()
  if (body === '') return { problem: 'says nothing under its head' }
  const { values, problem } = valuesOf(head[1]!)
  const said = line(values.description)
  const model = line(values.model)
  const profile: Profile = {
    name: nameFor(line(values.name), file),
    description: shorten(
      said || line(body.split('\n')[0]!.replace(/^#+\s*/, '')),
      LONGEST_DESCRIPTION,
    ),
    labels: labelsOf(values.labels),
    ...(model === '' || model === 'inherit' ? {} : { model }),
    body,
    tokens: estimateTokens(body),
    file,
  }
  const odd =
    problem ?? (said === '' ? 'has no description: its first line stands in for it' : undefined)
  return odd === undefined ? { profile } : { profile, problem: odd }
}

function nameFor(name: string, file: string): string {
  const fileName = file.replace(/^.*\//, '').replace(/\.md$/i, '')
  const wanted = name === '' ? fileName : name
  // The name is typed in commands, and a name in another script has no Latin letters to type.
  return /^[\w.-]{1,60}$/.test(wanted)
    ? wanted.toLowerCase()
    : slug(/[a-z0-9]/i.test(wanted) ? wanted : fileName)
}

function labelsOf(value: unknown): readonly string[] {
  return readList(typeof value === 'string' ? value.split(',') : value) ?? []
}

function valuesOf(source: string): {
  readonly values: Readonly<Record<string, unknown>>
  readonly problem?: string
} {
  // Everything is text (`failsafe`), so that a name like 0123 stays what it was written as.
  const document = parseDocument(source, { schema: 'failsafe', logLevel: 'silent' })
  const [error] = document.errors
  if (error === undefined) {
    const value = asData(document)
    return isRecord(value)
      ? { values: value }
      : { values: {}, problem: 'has a head that is not a list of keys' }
  }
  const lines = [...source.matchAll(/^(name|description|labels|model):[ \t]*(.*)$/gm)]
  const values = Object.fromEntries(
    lines.map(([, key, value]) => [key!, value!.replace(/^(["'])(.*)\1$/, '$2')]),
  )
  return Object.keys(values).length > 0
    ? { values }
    : { values, problem: `has a head that cannot be read: ${line(error.message.split('\n')[0])}` }
}

function asData(document: { toJS(): unknown }): unknown {
  try {
    return document.toJS()
  } catch (error) {
    // The parser refuses aliases that would unfold without end; anything else is a defect of ours.
    if (error instanceof ReferenceError) return undefined
    throw error
  }
}
