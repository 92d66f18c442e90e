import { formatSeconds, formatInteger, formatSize } from '../../text/format-amounts.ts'
import { shorten } from '../../text/clean.ts'
import { safeLine } from '../../text/safe-text.ts'
import { TOKEN_MARGIN, estimateLine } from '../../text/tokens.ts'
import type { OutputLine, OutputAnalysis } from './output-reader.ts'
import type { Finding } from '../recogniser.ts'
import { FINDING_LEVELS, type FindingLevel } from '../output-rules.ts'

interface CommandResult {
  readonly command: string
  readonly label?: string
  readonly exitCode: number
  readonly signal?: string
  readonly seconds: number
  readonly bytes: number
}

interface ArtifactPointer {
  readonly id: string
  readonly path: string
  readonly recordedIn?: string
}

export interface ComposedDigest {
  readonly text: string
  readonly findings: readonly Finding[]
  /** Findings that had no room, by level. */
  readonly leftOut: Readonly<Record<FindingLevel, number>>
}

export const DIGEST_DEFAULT_TOKENS = 400
/** Below this, the first line and the pointer do not fit. */
export const DIGEST_MIN_TOKENS = 120

const MAX_TITLE_LENGTH = 240
const MAX_DETAIL_LENGTH = 200
const MAX_TAIL_LENGTH = 160
const MAX_WARNINGS_IF_PASSED = 5
const TAIL_WITH_FINDINGS = 3
const TAIL_ALONE = 15
const NOTE_ROOM = 30

export function composeDigest(
  result: CommandResult,
  analysis: OutputAnalysis,
  pointer: ArtifactPointer | undefined,
  tokens: number,
): ComposedDigest {
  const { totals, counts, findings: all } = analysis
  const page = new Page(tokens)
  const first = page.mustFit((room) => headline(result, analysis, room))
  const last = page.mustFit((room) => pointerLine(all, pointer, room))
  const hasPassed =
    result.exitCode === 0 && totals.tests?.isFailed === false && counts.failure === 0
  const allLines = hasPassed
    ? undefined
    : analysis.allLines?.map((line) => lineWithCount(line, Infinity))
  const fits = allLines !== undefined && cost(allLines) <= page.room
  page.room -= NOTE_ROOM
  const sums = [totals.tests?.text ?? [], ...totals.others]
    .flat()
    .map((line) => safeText(line))
    .filter((line) => page.takes(line))
  const { lines, findings } = findingLines(page, all, hasPassed)
  const rest = hasPassed ? [] : remainingLines(page, analysis, result.exitCode)
  page.room += NOTE_ROOM
  const leftOut = { ...counts }
  for (const { level, times } of findings) leftOut[level] -= times
  const missing = FINDING_LEVELS.filter((level) => leftOut[level] > 0)
    .map((level) => `${formatInteger(leftOut[level])} ${level}${leftOut[level] === 1 ? '' : 's'}`)
    .join(', ')
  const note = `not shown: ${missing}`
  const body = [...sums, ...lines, ...(missing !== '' && page.takes(note) ? [note] : []), ...rest]
  // An output that is no longer than its digest is shown as it is.
  if (fits && (all.length === 0 || cost(allLines) <= cost(body))) {
    const none = { failure: 0, error: 0, warning: 0 }
    return { text: [first, ...allLines, last].join('\n'), findings: all, leftOut: none }
  }
  return { text: [first, ...body, last].join('\n'), findings, leftOut }
}

function cost(lines: readonly string[]) {
  return lines.reduce((sum, line) => sum + estimateLine(line), 0)
}

class Page {
  room: number
  readonly #share: number

  constructor(tokens: number) {
    // Leaves room for the last line break and for estimation errors.
    this.room = tokens - TOKEN_MARGIN - 1
    this.#share = this.room * 0.36
  }

  takes(...lines: readonly string[]): boolean {
    const wanted = cost(lines)
    if (wanted > this.room) return false
    this.room -= wanted
    return true
  }

  mustFit(line: (room: number) => string): string {
    let text = ''
    for (let room = 200; room >= 0; room -= 20) {
      text = line(room)
      if (estimateLine(text) <= this.#share) break
    }
    this.room -= estimateLine(text)
    return text
  }
}

function headline(result: CommandResult, { lines }: OutputAnalysis, room: number) {
  const { label, exitCode, signal, seconds, bytes } = result
  const command = safeText(result.command, label === undefined ? room : room / 2)
  const ran = label === undefined ? command : `${safeText(label, room)} (${command})`
  const end = signal === undefined ? `exit ${exitCode}` : `ended by ${signal} (exit ${exitCode})`
  return `${ran === '' ? '' : `${ran}: `}${end} after ${formatSeconds(seconds)}; ${formatInteger(lines)} line${lines === 1 ? '' : 's'}, ${formatSize(bytes)}`
}

function pointerLine(
  findings: readonly Finding[],
  pointer: ArtifactPointer | undefined,
  room: number,
) {
  if (pointer === undefined) return 'the output was not kept'
  const { id, path, recordedIn } = pointer
  const line = worstFirst(findings)[0]?.line
  const part =
    line === undefined || room < 60 ? '' : ` --lines ${Math.max(1, line - 2)}-${line + 20}`
  const recorded =
    recordedIn === undefined ? '' : `; recorded in ${recordedIn.slice(0, Math.max(8, room / 4))}`
  return `all of it: ${room < 100 ? '' : `${path}; `}stint digest show ${id}${part}${recorded}`
}

function worstFirst(findings: readonly Finding[]) {
  return FINDING_LEVELS.flatMap((level) => findings.filter((finding) => finding.level === level))
}

function findingLines(page: Page, all: readonly Finding[], hasPassed: boolean) {
  const wanted = worstFirst(all).slice(0, hasPassed ? MAX_WARNINGS_IF_PASSED : undefined)
  const entries: { finding: Finding; lines: string[]; detail: readonly string[] }[] = []
  for (const finding of wanted) {
    const title = titleOf(finding)
    if (!page.takes(title)) break
    const detail = finding.detail
      .map((line) => `  ${safeText(line, MAX_DETAIL_LENGTH)}`)
      .filter((line) => line.trim() !== '')
    // The first finding keeps its detail, because it often causes the others.
    const isComplete = entries.length === 0 && page.takes(...detail)
    entries.push({
      finding,
      lines: isComplete ? [title, ...detail] : [title],
      detail: isComplete ? [] : detail,
    })
  }
  for (const { lines, detail } of entries) {
    for (const line of detail) {
      if (!page.takes(line)) break
      lines.push(line)
    }
  }
  return {
    lines: entries.flatMap(({ lines }) => lines),
    findings: entries.map(({ finding }) => finding),
  }
}

function titleOf({ level, title, where, times }: Finding) {
  const location = where === undefined ? '' : safeText(where, MAX_DETAIL_LENGTH)
  const name = safeText(title)
  const often = times > 1 ? ` (×${times})` : ''
  // A test is identified by its name, an error by its location.
  if (level === 'failure')
    return `FAIL ${name}${location === '' || name.includes(location) ? '' : ` (${location})`}${often}`
  return `${level} ${location === '' ? '' : `${location}: `}${name}${often}`
}

function remainingLines(page: Page, analysis: OutputAnalysis, exitCode: number) {
  const { findings, counts, totals, suspects } = analysis
  const hasErrors = counts.failure + counts.error > 0
  const hasTotals = totals.tests !== undefined || totals.others.length > 0
  if (hasErrors && hasTotals) return []
  const lines = lastLines(analysis, hasErrors || (hasTotals && exitCode === 0))
  const tail = fitting(page, END_HEADING, lines.toReversed()).toReversed()
  const from = tail[0]?.number ?? Infinity
  const suspectLines =
    exitCode !== 0 && findings.length === 0
      ? fitting(
          page,
          SUSPECTS_HEADING,
          suspects.filter(({ number }) => number < from),
        )
      : []
  const block = (heading: string, shown: readonly OutputLine[]) =>
    shown.length === 0 ? [] : [heading, ...shown.map(indented)]
  return [...block(SUSPECTS_HEADING, suspectLines), ...block(END_HEADING, tail)]
}

const SUSPECTS_HEADING = 'looks like trouble:'
const END_HEADING = 'the end:'
/** Lines without information of their own: stack frames, source excerpts, npm's log path. */
const UNINFORMATIVE =
  /^\s*(?:at |[|^~]|\d+ \||npm (?:ERR!|error)(?: \w+)?$|npm (?:ERR!|error) A complete log|Node\.js v\d)|^[\s^~|-]*$/

function lastLines({ tail, findings }: OutputAnalysis, isShort: boolean) {
  if (!isShort) return tail.slice(-TAIL_ALONE)
  const behind = Math.max(0, ...findings.map(({ lastLine }) => lastLine))
  const name = findings.flatMap(({ title, detail }) => [title, ...detail])
  return tail
    .filter(({ number, text }) => number > behind && !UNINFORMATIVE.test(text))
    .filter(({ text }) => !name.some((line) => text.includes(line)))
    .slice(-TAIL_WITH_FINDINGS)
}

function fitting(page: Page, heading: string, lines: readonly OutputLine[]) {
  if (lines.length === 0 || !page.takes(heading)) return []
  const end = lines.findIndex((line) => !page.takes(indented(line)))
  return end === -1 ? lines : lines.slice(0, end)
}

function indented(line: OutputLine) {
  return `  ${lineWithCount(line, MAX_TAIL_LENGTH)}`
}

function lineWithCount({ text, times }: OutputLine, most: number) {
  const indent = /^\s{0,8}/.exec(text.replaceAll('\t', '  '))![0]
  return `${indent}${safeText(text, most)}${times > 1 ? ` (×${times})` : ''}`
}

function safeText(text: string, most = MAX_TITLE_LENGTH) {
  const line = safeLine(text)
  return most === Infinity ? line : shorten(line, Math.floor(most))
}
