import type { Region } from '../session/kinds/kind.ts'
import { parseYaml, yamlMistake } from '../text/parse-yaml.ts'
import {
  HEADINGS,
  type HeadingKey,
  MARKER_PATTERN,
  type DocumentMarker,
  fencedLines,
  trimBlank,
} from './grammar.ts'
import {
  type DocumentBlock,
  type DocumentModel,
  type DocumentSection,
  emptyRegions,
} from './model.ts'
import { parseContext, parseProgress, parseRegion, parseTldr } from './parse-regions.ts'

export interface ParsedDocument extends DocumentModel {
  readonly marker?: DocumentMarker
  /** A region whose heading is gone: its items do not count as removed. */
  readonly missing: ReadonlySet<Region>
}

export type ParseResult =
  | { readonly ok: true; readonly document: ParsedDocument }
  | { readonly ok: false; readonly problem: string }

/** A document that cannot be trusted is refused with the reason, never read in part. */
export function parseDocument(raw: string): ParseResult {
  const text = raw.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n')
  if (text.trim() === '') return { ok: false, problem: 'it is empty' }
  const lines = text.split('\n').map((line) => line.trimEnd())
  const conflict = lines.findIndex((line) => /^<{7}(?: |$)/.test(line))
  if (conflict !== -1 && lines.some((line) => /^>{7}(?: |$)/.test(line))) {
    return { ok: false, problem: `it has conflict markers (line ${conflict + 1})` }
  }
  const end = lines.indexOf('---', 1)
  if (lines[0] !== '---' || end === -1) return { ok: false, problem: 'its frontmatter is missing' }
  const front = lines.slice(1, end)
  const broken = yamlProblem(front)
  if (broken !== undefined)
    return { ok: false, problem: `its frontmatter is not valid YAML (${broken})` }
  return { ok: true, document: parseBody(parseFields(front), lines.slice(end + 1)) }
}

function yamlProblem(front: readonly string[]) {
  const parsed = parseYaml(front.join('\n'))
  if (!parsed.isValid) return yamlMistake(parsed)
  const { value } = parsed
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? undefined
    : 'not a list of fields'
}

/** Values stay raw lines, so that a person's text comes back byte for byte. */
function parseFields(front: readonly string[]) {
  const fields: [string, string][] = []
  for (const line of front) {
    const key = /^([^\s#:][^:]*):(?= |$)/.exec(line)
    if (key !== null) fields.push([key[1]!, line.slice(key[0].length)])
    else if (fields.length > 0) fields.at(-1)![1] += `\n${line}`
  }
  return fields
}

interface Chunk {
  readonly key: HeadingKey | 'head' | undefined
  readonly title: string
  readonly lines: readonly string[]
}

function parseBody(fields: ParsedDocument['fields'], lines: readonly string[]) {
  const markerAt = lines.findLastIndex((line) => MARKER_PATTERN.test(line))
  const marker = markerAt === -1 ? undefined : MARKER_PATTERN.exec(lines[markerAt]!)!
  const chunks = splitBySections(lines.filter((_, index) => index !== markerAt))

  const regions = emptyRegions()
  const sections: DocumentSection[] = []
  const seen = new Set<Region>()
  let title = ''
  let tldr = { tldr: '', progressLine: '', currentLine: '', blockerLine: '', workflowLine: '' }
  let objective = ''
  let above = 'title'
  const fill = (found: Partial<Record<Region, readonly DocumentBlock[]>>) => {
    for (const [region, blocks] of Object.entries(found) as [Region, readonly DocumentBlock[]][]) {
      regions[region].push(...blocks)
      seen.add(region)
    }
  }

  for (const chunk of chunks) {
    if (chunk.key === undefined) {
      const id = `section:${sections.length}`
      const body = chunk.lines.join('\n').trimEnd()
      sections.push({ title: chunk.title, body, after: above, id })
      above = id
      continue
    }
    if (chunk.key === 'head') {
      title = chunk.title
      fill({ head: parseRegion('head', chunk.lines) })
      continue
    }
    above = chunk.key
    if (chunk.key === 'tldr') {
      const { blocks, ...parts } = parseTldr(chunk.lines)
      tldr = parts
      fill({ tldr: blocks })
    } else if (chunk.key === 'context') {
      const { objective: found, ...rest } = parseContext(chunk.lines)
      objective = found
      fill(rest)
    } else if (chunk.key === 'progress') {
      fill(parseProgress(chunk.lines))
    } else {
      fill({ [chunk.key]: parseRegion(chunk.key, chunk.lines) })
    }
  }
  const missing = new Set((Object.keys(regions) as Region[]).filter((region) => !seen.has(region)))
  return {
    fields,
    title,
    ...tldr,
    objective,
    regions,
    sections,
    missing,
    ...(marker === undefined ? {} : { marker: { offset: Number(marker[1]), sum: marker[2]! } }),
  }
}

function splitBySections(lines: readonly string[]) {
  const fenced = fencedLines(lines)
  const starts = lines.flatMap((line, index) =>
    line.startsWith('## ') && !fenced[index] ? [index] : [],
  )
  const headLines = lines.slice(0, starts[0] ?? lines.length)
  const titleAt = headLines.findIndex((line) => line.startsWith('# '))
  const title = titleAt === -1 ? '' : headLines[titleAt]!.slice(2).replace(/^Session: ?/, '')
  const head: Chunk = {
    key: 'head',
    title,
    lines: trimBlank(headLines.filter((_, index) => index !== titleAt)),
  }
  const sections = starts.map((start, index): Chunk => {
    const heading = lines[start]!.slice(3).trim()
    return {
      key: headingKey(heading),
      title: heading,
      lines: lines.slice(start + 1, starts[index + 1] ?? lines.length),
    }
  })
  return [head, ...sections]
}

function headingKey(heading: string) {
  const plain = (text: string) => text.toLowerCase().replace(/ \(.*\)$| this session$/, '')
  return HEADINGS.find(({ title }) => plain(title) === plain(heading))?.key
}
