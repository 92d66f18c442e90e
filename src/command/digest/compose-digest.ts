import { formatSeconds, formatInteger, formatSize } from '../../text/format-amounts.ts'
import { shorten } from '../../text/clean.ts'
import { safeLine } from '../../text/safe-text.ts'
import { TOKEN_MARGIN, estimateLine } from '../../text/tokens.ts'
import type { OutputLine, OutputAnalysis } from './output-reader.ts'
import type { Finding } from './recogniser.ts'
import { FINDING_LEVELS, type FindingLevel } from './output-rules.ts'

interface Ended {
  readonly command: string
  readonly label?: string
  readonly exitCode: number
  readonly signal?: string
  readonly seconds: number
  readonly bytes: number
}

interface Pointer {
  readonly id: string
  readonly path: string
  readonly recordedIn?: string
}

export interface ComposedDigest {
  readonly text: string
  readonly findings: readonly Finding[]
  /** How many of each were not shown, for want of room. */
  readonly leftOut: Readonly<Record<FindingLevel, number>>
}

export const DIGEST_DEFAULT_TOKENS = 400
/** Less has no room for the first line and the pointer. */
export const DIGEST_MIN_TOKENS = 120

const LONGEST_TITLE = 240
const LONGEST_DETAIL = 200
const LONGEST_TAIL = 160
const GOOD_WARNINGS = 5
const TAIL_WITH_FINDINGS = 3
const TAIL_ALONE = 15
const COUNTING = 30

/** The few lines of an output that matter, within the tokens allowed. */
export function composeDigest(
  ended: Ended,
  reading: OutputAnalysis,
  pointer: Pointer | undefined,
  tokens: number,
): ComposedDigest {
  const { totals, counts, findings: all } = reading
  const page = new Page(tokens)
  const first = page.mustFit((room) => headline(ended, reading, room))
  const last = page.mustFit((room) => pointerLine(all, pointer, room))
  const isGood = ended.exitCode === 0 && totals.tests?.isFailed === false && counts.failure === 0
  const whole = isGood ? undefined : reading.whole?.map((line) => counted(line, Infinity))
  const fitsWhole = whole !== undefined && cost(whole) <= page.room
  page.room -= COUNTING
  const sums = [totals.tests?.text ?? [], ...totals.others]
    .flat()
    .map((line) => shown(line))
    .filter((line) => page.takes(line))
  const { lines, findings } = findingLines(page, all, isGood)
  const rest = isGood ? [] : restOf(page, reading, ended.exitCode)
  page.room += COUNTING
  const leftOut = { ...counts }
  for (const { level, times } of findings) leftOut[level] -= times
  const missing = FINDING_LEVELS.filter((level) => leftOut[level] > 0)
    .map((level) => `${formatInteger(leftOut[level])} ${level}${leftOut[level] === 1 ? '' : 's'}`)
    .join(', ')
  const note = `not shown: ${missing}`
  const body = [...sums, ...lines, ...(missing !== '' && page.takes(note) ? [note] : []), ...rest]
  // What is no longer than the digest of it is shown as it is.
  if (fitsWhole && (all.length === 0 || cost(whole) <= cost(body))) {
    const none = { failure: 0, error: 0, warning: 0 }
    return { text: [first, ...whole, last].join('\n'), findings: all, leftOut: none }
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
    // A line end behind the last line, and what a rate may miss.
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

function headline(ended: Ended, { lines }: OutputAnalysis, room: number) {
  const { label, exitCode, signal, seconds, bytes } = ended
  const command = shown(ended.command, label === undefined ? room : room / 2)
  const ran = label === undefined ? command : `${shown(label, room)} (${command})`
  const end = signal === undefined ? `exit ${exitCode}` : `ended by ${signal} (exit ${exitCode})`
  return `${ran === '' ? '' : `${ran}: `}${end} after ${formatSeconds(seconds)}; ${formatInteger(lines)} line${lines === 1 ? '' : 's'}, ${formatSize(bytes)}`
}

function pointerLine(findings: readonly Finding[], pointer: Pointer | undefined, room: number) {
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

function findingLines(page: Page, all: readonly Finding[], isGood: boolean) {
  const wanted = worstFirst(all).slice(0, isGood ? GOOD_WARNINGS : undefined)
  const told: { finding: Finding; lines: string[]; detail: readonly string[] }[] = []
  for (const finding of wanted) {
    const title = titleOf(finding)
    if (!page.takes(title)) break
    const detail = finding.detail
      .map((line) => `  ${shown(line, LONGEST_DETAIL)}`)
      .filter((line) => line.trim() !== '')
    // The first one is shown whole, since it is often the cause of the others.
    const isWhole = told.length === 0 && page.takes(...detail)
    told.push({
      finding,
      lines: isWhole ? [title, ...detail] : [title],
      detail: isWhole ? [] : detail,
    })
  }
  for (const { lines, detail } of told) {
    for (const line of detail) {
      if (!page.takes(line)) break
      lines.push(line)
    }
  }
  return {
    lines: told.flatMap(({ lines }) => lines),
    findings: told.map(({ finding }) => finding),
  }
}

function titleOf({ level, title, where, times }: Finding) {
  const place = where === undefined ? '' : shown(where, LONGEST_DETAIL)
  const said = shown(title)
  const often = times > 1 ? ` (×${times})` : ''
  // A test is known by its name, a mistake by its place.
  if (level === 'failure')
    return `FAIL ${said}${place === '' || said.includes(place) ? '' : ` (${place})`}${often}`
  return `${level} ${place === '' ? '' : `${place}: `}${said}${often}`
}

function restOf(page: Page, reading: OutputAnalysis, exitCode: number) {
  const { findings, counts, totals, suspects } = reading
  const isTold = counts.failure + counts.error > 0
  const isSummedUp = totals.tests !== undefined || totals.others.length > 0
  if (isTold && isSummedUp) return []
  const lines = lastLines(reading, isTold || (isSummedUp && exitCode === 0))
  const tail = fitting(page, END, lines.toReversed()).toReversed()
  const from = tail[0]?.number ?? Infinity
  const trouble =
    exitCode !== 0 && findings.length === 0
      ? fitting(
          page,
          TROUBLE,
          suspects.filter(({ number }) => number < from),
        )
      : []
  const part = (heading: string, kept: readonly OutputLine[]) =>
    kept.length === 0 ? [] : [heading, ...kept.map(indented)]
  return [...part(TROUBLE, trouble), ...part(END, tail)]
}

const TROUBLE = 'looks like trouble:'
const END = 'the end:'
/** Lines that say nothing by themselves: stacks, pieces of source, where npm keeps its log. */
const NO_ENDING =
  /^\s*(?:at |[|^~]|\d+ \||npm (?:ERR!|error)(?: \w+)?$|npm (?:ERR!|error) A complete log|Node\.js v\d)|^[\s^~|-]*$/

function lastLines({ tail, findings }: OutputAnalysis, isShort: boolean) {
  if (!isShort) return tail.slice(-TAIL_ALONE)
  const behind = Math.max(0, ...findings.map(({ lastLine }) => lastLine))
  const said = findings.flatMap(({ title, detail }) => [title, ...detail])
  return tail
    .filter(({ number, text }) => number > behind && !NO_ENDING.test(text))
    .filter(({ text }) => !said.some((line) => text.includes(line)))
    .slice(-TAIL_WITH_FINDINGS)
}

function fitting(page: Page, heading: string, lines: readonly OutputLine[]) {
  if (lines.length === 0 || !page.takes(heading)) return []
  const end = lines.findIndex((line) => !page.takes(indented(line)))
  return end === -1 ? lines : lines.slice(0, end)
}

function indented(line: OutputLine) {
  return `  ${counted(line, LONGEST_TAIL)}`
}

function counted({ text, times }: OutputLine, most: number) {
  const indent = /^\s{0,8}/.exec(text.replaceAll('\t', '  '))![0]
  return `${indent}${shown(text, most)}${times > 1 ? ` (×${times})` : ''}`
}

function shown(text: string, most = LONGEST_TITLE) {
  const line = safeLine(text)
  return most === Infinity ? line : shorten(line, Math.floor(most))
}
