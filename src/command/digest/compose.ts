import { duration, number, size } from '../../text/amounts.ts'
import { safeLine } from '../../text/safe-text.ts'
import { MARGIN, estimateLine } from '../../text/tokens.ts'
import { shorten } from '../../text/clean.ts'
import { type Finding, LEVELS, type Level } from './finding.ts'
import type { KeptLine, Reading } from './read-output.ts'

/** What is known of a run besides its output. */
export interface Ended {
  readonly command: string
  readonly label?: string
  readonly exitCode: number
  readonly signal?: string
  readonly seconds: number
  readonly bytes: number
}

/** Where the rest of the output is. */
export interface Pointer {
  readonly id: string
  readonly path: string
  /** The session that has a record of it. */
  readonly recordedIn?: string
}

export interface Composed {
  readonly text: string
  readonly findings: readonly Finding[]
  /** How many of each were not shown, for want of room. */
  readonly leftOut: Readonly<Record<Level, number>>
}

export const DEFAULT_TOKENS = 400
/** Less has no room for the first line and the pointer. */
export const FEWEST_TOKENS = 120

const LONGEST_TITLE = 240
const LONGEST_DETAIL = 200
const LONGEST_TAIL = 160
/** Of a run that went well and said how. */
const GOOD_WARNINGS = 5
const TAIL_WITH_FINDINGS = 3
const TAIL_ALONE = 15
/** What the line costs that counts what was left out. */
const COUNTING = 30

/** The few lines that matter of an output, never more than the tokens allowed, with the pointer to the rest. */
export function compose(
  ended: Ended,
  reading: Reading,
  pointer: Pointer | undefined,
  tokens: number,
): Composed {
  const page = new Page(tokens)
  const first = page.mustFit((room) => headline(ended, reading, room))
  const last = page.mustFit((room) => pointerLine(reading, pointer, room))
  const isGood =
    ended.exitCode === 0 && reading.totals.tests?.isFailed === false && reading.counts.failure === 0
  const whole = isGood ? undefined : wholeOutput(page.room, reading)
  page.reserve(COUNTING)
  const totals = [reading.totals.tests?.text ?? [], ...reading.totals.others]
    .flat()
    .filter((line) => page.takes(shown(line)))
  const { lines, findings } = told(page, reading, isGood)
  const rest = isGood ? [] : restOf(page, reading, ended)
  const leftOut = countLeftOut(reading, findings)
  page.release(COUNTING)
  const missing = describeLeftOut(leftOut)
  const body = [
    ...totals.map((line) => shown(line)),
    ...lines,
    ...(missing !== undefined && page.takes(missing) ? [missing] : []),
    ...rest,
  ]
  // What is no longer than the digest of it is shown as it is.
  const isShorter =
    whole !== undefined && (reading.findings.length === 0 || cost(whole) <= cost(body))
  if (isShorter)
    return { text: joined([first, ...whole, last]), findings: reading.findings, leftOut: none() }
  return { text: joined([first, ...body, last]), findings, leftOut }
}

function cost(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + estimateLine(line), 0)
}

/** Keeps account of the room. */
class Page {
  #room: number
  /** Of the first line and of the last. */
  readonly #share: number

  constructor(tokens: number) {
    // A line end behind the last line, and what a rate may miss.
    this.#room = tokens - MARGIN - 1
    this.#share = this.#room * 0.36
  }

  takes(line: string): boolean {
    return this.takesAll([line])
  }

  /** Takes all of these lines or none. */
  takesAll(lines: readonly string[]): boolean {
    const wanted = cost(lines)
    if (wanted > this.#room) return false
    this.#room -= wanted
    return true
  }

  get room(): number {
    return this.#room
  }

  /** A line that gets shorter until it takes no more than its share. */
  mustFit(line: (room: number) => string): string {
    const most = this.#share
    let text = ''
    for (let room = 200; room >= 0; room -= 20) {
      text = line(room)
      if (estimateLine(text) <= most) break
    }
    this.#room -= estimateLine(text)
    return text
  }

  reserve(tokens: number): void {
    this.#room -= tokens
  }

  release(tokens: number): void {
    this.#room += tokens
  }
}

function headline(
  { command, label, exitCode, signal, seconds, bytes }: Ended,
  { lines }: Reading,
  room: number,
): string {
  const ran =
    label === undefined
      ? shown(command, room)
      : `${shown(label, room)} (${shown(command, room / 2)})`
  const end = signal === undefined ? `exit ${exitCode}` : `ended by ${signal} (exit ${exitCode})`
  return `${ran === '' ? '' : `${ran}: `}${end} after ${duration(seconds)}; ${number(lines)} line${lines === 1 ? '' : 's'}, ${size(bytes)}`
}

function pointerLine({ findings }: Reading, pointer: Pointer | undefined, room: number): string {
  if (pointer === undefined) return 'the output was not kept'
  const { id, path, recordedIn } = pointer
  const line = worst(findings)?.line
  const part =
    line === undefined || room < 60 ? '' : ` --lines ${Math.max(1, line - 2)}-${line + 20}`
  const recorded =
    recordedIn === undefined ? '' : `; recorded in ${recordedIn.slice(0, Math.max(8, room / 4))}`
  return `all of it: ${room < 100 ? '' : `${path}; `}stint digest show ${id}${part}${recorded}`
}

function worst(findings: readonly Finding[]): Finding | undefined {
  return LEVELS.map((level) => findings.find((finding) => finding.level === level)).find(
    (found) => found !== undefined,
  )
}

/** All of a short output. */
function wholeOutput(room: number, { whole }: Reading): readonly string[] | undefined {
  const lines = whole?.map((line) => counted(line, Infinity))
  return lines !== undefined && cost(lines) <= room ? lines : undefined
}

interface Told {
  readonly lines: readonly string[]
  readonly findings: readonly Finding[]
}

/** The findings that there is room for: first what each is, the worst first, and then what it says. */
function told(page: Page, { findings }: Reading, isGood: boolean): Told {
  const sorted = LEVELS.flatMap((level) => findings.filter((finding) => finding.level === level))
  const wanted = isGood ? sorted.slice(0, GOOD_WARNINGS) : sorted
  const shownOnes: { finding: Finding; lines: string[]; detail: readonly string[] }[] = []
  const detailOf = ({ detail }: Finding) =>
    detail.map((line) => `  ${shown(line, LONGEST_DETAIL)}`).filter((line) => line.trim() !== '')
  // The first one is told whole, since it is often the cause of the others.
  for (const finding of wanted) {
    const line = titleOf(finding)
    if (!page.takes(line)) break
    const detail = detailOf(finding)
    const isFirst = shownOnes.length === 0 && page.takesAll(detail)
    shownOnes.push({
      finding,
      lines: isFirst ? [line, ...detail] : [line],
      detail: isFirst ? [] : detail,
    })
  }
  for (const one of shownOnes) {
    for (const line of one.detail) {
      if (!page.takes(line)) break
      one.lines.push(line)
    }
  }
  return {
    lines: shownOnes.flatMap(({ lines }) => lines),
    findings: shownOnes.map(({ finding }) => finding),
  }
}

const NAMES: Readonly<Record<Level, string>> = {
  failure: 'FAIL',
  error: 'error',
  warning: 'warning',
}

function titleOf({ level, title, where, times }: Finding): string {
  const place = where === undefined ? '' : shown(where, LONGEST_DETAIL)
  const said = shown(title, LONGEST_TITLE)
  const often = times > 1 ? ` (×${times})` : ''
  // A test is known by its name, a mistake by its place.
  if (level === 'failure')
    return `FAIL ${said}${place === '' || said.includes(place) ? '' : ` (${place})`}${often}`
  return `${NAMES[level]} ${place === '' ? '' : `${place}: `}${said}${often}`
}

/** What else there is: the last lines, and where nothing was recognised also what sounds like trouble. */
function restOf(page: Page, reading: Reading, { exitCode }: Ended): readonly string[] {
  const { findings, counts, totals } = reading
  const isTold = counts.failure + counts.error > 0
  const isSummedUp = totals.tests !== undefined || totals.others.length > 0
  if (isTold && isSummedUp) return []
  const tail = fitting(
    page,
    END,
    lastLines(reading, isTold || (isSummedUp && exitCode === 0)).toReversed(),
  ).toReversed()
  const from = tail[0]?.number ?? Infinity
  const hasTrouble = exitCode !== 0 && findings.length === 0
  const trouble = hasTrouble
    ? fitting(
        page,
        TROUBLE,
        reading.suspects.filter(({ number }) => number < from),
      )
    : []
  const part = (heading: string, lines: readonly KeptLine[]) =>
    lines.length === 0 ? [] : [heading, ...lines.map(ofRest)]
  return [...part(TROUBLE, trouble), ...part(END, tail)]
}

const TROUBLE = 'looks like trouble:'
const END = 'the end:'
/** What says nothing by itself: a stack, a piece of source and what points into it, and where npm keeps its log. */
const NO_ENDING =
  /^\s*(?:at |[|^~]|\d+ \||npm (?:ERR!|error)(?: \w+)?$|npm (?:ERR!|error) A complete log|Node\.js v\d)|^[\s^~|-]*$/

function lastLines({ tail, findings }: Reading, isShort: boolean): readonly KeptLine[] {
  const behind = isShort ? Math.max(0, ...findings.map(({ lastLine }) => lastLine)) : 0
  const isSaid = (text: string) =>
    isShort &&
    findings.some(({ title, detail }) => [title, ...detail].some((said) => text.includes(said)))
  const lines = tail.filter(
    ({ number, text }) => number > behind && !(isShort && NO_ENDING.test(text)) && !isSaid(text),
  )
  return lines.slice(isShort ? -TAIL_WITH_FINDINGS : -TAIL_ALONE)
}

/** The first of these lines that fit under their heading. */
function fitting(page: Page, heading: string, lines: readonly KeptLine[]): readonly KeptLine[] {
  if (lines.length === 0 || !page.takes(heading)) return []
  const end = lines.findIndex((line) => !page.takes(ofRest(line)))
  return end === -1 ? lines : lines.slice(0, end)
}

function ofRest(line: KeptLine): string {
  return `  ${counted(line, LONGEST_TAIL)}`
}

function counted({ text, times }: KeptLine, most: number): string {
  const indent = /^\s{0,8}/.exec(text.replaceAll('\t', '  '))![0]
  return `${indent}${shown(text, most)}${times > 1 ? ` (×${times})` : ''}`
}

function none(): Record<Level, number> {
  return { failure: 0, error: 0, warning: 0 }
}

function countLeftOut(
  { counts }: Reading,
  findings: readonly Finding[],
): Readonly<Record<Level, number>> {
  const left = { ...counts }
  for (const { level, times } of findings) left[level] -= times
  return left
}

function describeLeftOut(left: Readonly<Record<Level, number>>): string | undefined {
  const parts = LEVELS.filter((level) => left[level] > 0).map((level) => {
    return `${number(left[level])} ${level}${left[level] === 1 ? '' : 's'}`
  })
  return parts.length === 0 ? undefined : `not shown: ${parts.join(', ')}`
}

/** A piece of the output as it may be put before a model: on one line, and nothing but text. */
function shown(text: string, most = LONGEST_TITLE): string {
  const line = safeLine(text)
  return most === Infinity ? line : shorten(line, Math.floor(most))
}

function joined(lines: readonly string[]): string {
  return lines.join('\n')
}
