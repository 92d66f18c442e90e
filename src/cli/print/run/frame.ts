// The block that is drawn in place while a run goes on.
import { line } from '../terminal/text.ts'
import { clock, roughly, span } from '../terminal/amounts.ts'
import { type AtWork, type ViewState, atWorkLines, countOf } from './state.ts'
import { gaugeLines } from './gauge.ts'
import { type Paint, type Part, type Style, flow, painter } from '../terminal/paint.ts'
import { cutTo, padTo, widthOf } from '../terminal/width.ts'
import {
  conversationName,
  gaugeWords,
  limitParts,
  name,
  runName,
  spendParts,
  stoppingWords,
} from './words.ts'

export interface FrameOptions {
  readonly columns: number
  readonly rows: number
  readonly color: boolean
  /** ISO. */
  readonly now: string
}

const LABEL = 9
/** Narrower than this, a bar and its figures do not stand on one line. */
const WIDE = 64
/** Narrower than this, only where it stands is said. */
const FEWEST = 24
const TAIL = 6

/** The lines of the block. None is as wide as the terminal, and all of them fit on it. */
export function frame(state: ViewState, { columns, rows, color, now }: FrameOptions): string[] {
  // What is written into the last column makes some terminals begin a line by themselves.
  const width = Math.max(1, columns - 1)
  if (width < FEWEST) return [cutTo(inOneLine(state), width)]
  const paint = painter(color)
  const draw = { state, width, now, paint, isWide: width >= WIDE }
  const most = Math.max(1, rows - 1)
  // The least needed first, until the rest fits.
  const sections = [
    { lines: header(draw), need: 6 },
    { lines: tasks(draw), need: 4 },
    { lines: session(draw), need: 2 },
    { lines: state.atWork === undefined ? task(draw) : atWork(draw, state.atWork), need: 5 },
    { lines: gauge(draw), need: 3 },
    { lines: spent(draw), need: 1 },
    { lines: status(draw), need: 7 },
  ]
  const kept = new Set(sections)
  const height = () => [...kept].reduce((sum, { lines }) => sum + lines.length, 0)
  for (const section of sections.toSorted((a, b) => a.need - b.need)) {
    if (height() > most) kept.delete(section)
  }
  const block = [...kept].flatMap(({ lines }) => lines)
  const room = Math.min(TAIL, most - block.length - 1)
  return [...block, ...(room < 1 ? [] : tail(draw, room))]
}

function inOneLine(state: ViewState): string {
  const at = state.atWork?.map(({ task: of }) => name(of)).join(' ')
  const current = at ?? (state.current === undefined ? '' : name(state.current.task))
  return `${countOf(state, 'done')}/${Object.keys(state.outcomes).length}${current === '' ? '' : ` ${current}`}`
}

interface Draw {
  readonly state: ViewState
  readonly width: number
  readonly now: string
  readonly paint: Paint
  readonly isWide: boolean
}

/** `── run 3f9c1a · claude, claude-sonnet-4-5 ──────── 12m 40s of about 45m ──` */
function header({ state, width, now, paint }: Draw): readonly string[] {
  const { run, harness, model, startedAt, expectedSeconds } = state
  const who = [harness, model].filter((part) => part !== undefined).map((part) => line(part, 60))
  const left = [run === undefined ? 'stint run' : `run ${runName(run)}`, who.join(', ')]
    .filter((part) => part !== '')
    .join(' · ')
  const elapsed = startedAt === undefined ? undefined : secondsBetween(startedAt, now)
  const right = elapsed === undefined ? '' : clockWords(elapsed, expectedSeconds)
  const isTogether = widthOf(left) + widthOf(right) + 10 <= width
  if (right === '' || isTogether) return [rule(left, right, width, paint)]
  return [rule(left, '', width, paint), ...labelled('time', [{ text: right }], { width, paint })]
}

/** A line across, with a text at its beginning and one at its end. */
function rule(left: string, right: string, width: number, paint: Paint): string {
  const cut = cutTo(left, Math.max(0, width - 6))
  const end = right === '' ? '' : ` ${right} ──`
  const dashes = '─'.repeat(Math.max(0, width - 4 - widthOf(cut) - widthOf(end)))
  return `${paint('── ', 'dim')}${paint(cut, 'bold')}${paint(` ${dashes}${end}`, 'dim')}`
}

function clockWords(elapsed: number, expected: number | undefined): string {
  if (expected === undefined) return span(elapsed)
  return elapsed > expected
    ? `${span(elapsed)}, expected ${roughly(expected)}`
    : `${span(elapsed)} of about ${roughly(expected)}`
}

function tasks(draw: Draw): readonly string[] {
  const { state, width, paint, isWide } = draw
  const all = Object.keys(state.outcomes).length
  if (all === 0)
    return labelled('tasks', [{ text: 'finding out what there is to do', style: 'dim' }], draw)
  const [done, parked, blocked, open] = (['done', 'parked', 'blocked', 'open'] as const).map(
    (each) => countOf(state, each),
  ) as [number, number, number, number]
  const parts: Part[] = [
    { text: `${done} of ${all} done`, style: 'bold' },
    ...(parked === 0 ? [] : [{ text: `${parked} failed`, style: 'red' as const }]),
    ...(blocked === 0 ? [] : [{ text: `${blocked} blocked`, style: 'yellow' as const }]),
    { text: `${open} open` },
  ]
  const size = isWide ? 24 : Math.max(8, width - LABEL)
  const doneCells = Math.round((done / all) * size)
  const failedCells = Math.min(size - doneCells, Math.round(((parked + blocked) / all) * size))
  const rest = size - doneCells - failedCells
  const bar = `${paint('█'.repeat(doneCells), 'green')}${paint('▒'.repeat(failedCells), 'red')}${paint('░'.repeat(rest), 'dim')}`
  if (!isWide) return [labelled('tasks', [], draw, bar), labelled('', parts, draw)].flat()
  const [first = '', ...more] = flow(parts, width - LABEL - size - 2, paint)
  return [
    ...labelled('tasks', [], draw, `${bar}  ${first}`),
    ...more.map((each) => `${' '.repeat(LABEL + size + 2)}${each}`),
  ]
}

function session(draw: Draw): readonly string[] {
  const { session: opened, conversation, branch } = draw.state
  const id = conversation?.id === undefined ? '' : ` (${conversationName(conversation.id)})`
  return labelled(
    'session',
    [
      { text: opened === undefined ? '' : `${opened.number} ${line(opened.name, 40)}` },
      { text: conversation === undefined ? '' : `conversation ${conversation.number}${id}` },
      { text: branch === undefined ? '' : `branch ${line(branch, 60)}` },
    ],
    draw,
  )
}

function task(draw: Draw): readonly string[] {
  const { state, now, width } = draw
  const { current } = state
  if (current === undefined)
    return labelled('task', [{ text: betweenTasks(state), style: 'dim' }], draw)
  const { task: of, attempt, place, startedAt, doing } = current
  const title = line(of.title)
  // The title takes what the name leaves of the line, and a line of its own only when that is next to nothing.
  const room = width - LABEL - widthOf(name(of)) - 3
  const isBeside = title !== '' && title !== name(of) && room >= Math.min(12, widthOf(title))
  return [
    ...labelled(
      'task',
      [{ text: name(of), style: 'cyan' }, { text: isBeside ? cutTo(title, room) : '' }],
      draw,
    ),
    ...labelled(
      '',
      [
        { text: span(secondsBetween(startedAt, now)) },
        { text: attempt === 1 ? '' : `attempt ${attempt}`, style: 'yellow' },
        { text: attempt === 1 ? '' : PLACES[place] },
        { text: doing ?? '' },
      ],
      draw,
    ),
  ]
}

/** Of several at once, a line each. */
function atWork(draw: Draw, all: readonly AtWork[]): readonly string[] {
  if (all.length === 0)
    return labelled('at work', [{ text: betweenTasks(draw.state), style: 'dim' }], draw)
  const lines = atWorkLines(all, draw.width - LABEL, draw.now, draw.paint)
  return lines.flatMap((text, index) => labelled(index === 0 ? 'at work' : '', [], draw, text))
}

const PLACES = {
  'live conversation': '',
  'same conversation again': 'same conversation',
  'fresh conversation': 'fresh conversation',
} as const

function betweenTasks({ ended, startedAt }: ViewState): string {
  if (ended !== undefined) return 'none any more'
  return startedAt === undefined ? 'none yet' : 'choosing the next one'
}

function gauge(draw: Draw): readonly string[] {
  const { state, width, paint, isWide } = draw
  if (state.gauge === undefined) return []
  const figures = gaugeWords(state.gauge)
  const bar = gaugeLines(state.gauge, width - LABEL - (isWide ? widthOf(figures) + 2 : 0), paint)
  if (bar.length === 0)
    return labelled(
      'context',
      [{ text: `${figures} tokens` }, { text: 'where it compacts is unknown', style: 'dim' }],
      draw,
    )
  const [cells = '', legend = ''] = bar
  const below = legend === '' ? [] : labelled('', [], draw, legend)
  if (isWide) return [...labelled('context', [], draw, `${cells}  ${figures}`), ...below]
  return [
    ...labelled('context', [{ text: figures }], draw),
    ...labelled('', [], draw, cells),
    ...below,
  ]
}

function spent(draw: Draw): readonly string[] {
  const { spend } = draw.state
  if (spend === undefined) return []
  return labelled(
    'spent',
    spendParts(spend).map((text) => ({ text })),
    draw,
  )
}

/** What holds the run up, when something does. */
function status(draw: Draw): readonly string[] {
  const { stopping, limit, current } = draw.state
  const [what = '', ...why] = limit === undefined ? [] : limitParts(limit)
  return [
    ...(limit === undefined
      ? []
      : labelled(
          'limit',
          [{ text: what, style: 'yellow' }, ...why.map((text) => ({ text }))],
          draw,
        )),
    ...(stopping === undefined
      ? []
      : labelled(
          'stop',
          stoppingWords(stopping, current && name(current.task))
            .split('; ')
            .map((text) => ({ text, style: 'yellow' })),
          draw,
        )),
  ]
}

function tail({ state, width, paint }: Draw, most: number): readonly string[] {
  const last = state.tail.slice(-most)
  if (last.length === 0) return []
  const isShort = width < 50
  return [
    paint('─'.repeat(width), 'dim'),
    ...last.map(({ at, words }) => {
      const time = isShort ? clock(at).slice(0, 5) : clock(at)
      return cutPainted(`${time} `, words, width, paint)
    }),
  ]
}

function cutPainted(time: string, words: string, width: number, paint: Paint): string {
  const room = Math.max(0, width - widthOf(time))
  const style: Style | undefined = words.startsWith('✓')
    ? 'green'
    : words.startsWith('✗') || /\bFAILED\b| failed: /.test(words)
      ? 'red'
      : undefined
  return `${paint(cutTo(time, width), 'dim')}${paint(cutTo(words, room), style)}`
}

/** A line under its label; what does not fit goes on below, as far in. A ready text is taken as it is. */
function labelled(
  label: string,
  parts: readonly Part[],
  { width, paint }: Pick<Draw, 'width' | 'paint'>,
  ready?: string,
): readonly string[] {
  const lines = ready === undefined ? flow(parts, width - LABEL, paint) : [ready]
  return lines.map(
    (text, index) => `${paint(padTo(index === 0 ? label : '', LABEL), 'dim')}${text}`,
  )
}

function secondsBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 1000
}
