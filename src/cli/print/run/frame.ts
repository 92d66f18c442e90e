// The block that is drawn in place while a run goes on.
import { isPercent, tokensAt } from '../../../core.ts'
import type { Gauge } from '../../../library.ts'
import {
  type Paint,
  type StyledText,
  type Style,
  truncate,
  wrapParts,
  padTo,
  painter,
  displayWidth,
} from '../terminal/layout.ts'
import type { FrameSize } from '../terminal/live.ts'
import {
  firstCharacters,
  localTime,
  shortLine,
  roughDuration,
  secondsBetween,
  durationText,
  shortTokens,
} from '../terminal/text.ts'
import { type ActiveDelegate, type RunViewState, countOutcome } from './view-state.ts'
import {
  gaugeText,
  limitParts,
  taskLabel,
  programText,
  runName,
  spendParts,
  stoppingText,
} from './event-text.ts'

const LABEL = 9
const WIDE = 64
const FEWEST = 24
const TAIL = 6

interface Draw {
  readonly state: RunViewState
  readonly width: number
  readonly now: string
  readonly paint: Paint
  readonly isWide: boolean
}

/** The lines of the block. None is as wide as the terminal, and all of them fit on it. */
export function renderFrame(
  state: RunViewState,
  { columns, rows, color, now }: FrameSize & { readonly color: boolean },
): string[] {
  // Some terminals begin a line by themselves after a character in the last column.
  const width = Math.max(1, columns - 1)
  if (width < FEWEST) return [truncate(inOneLine(state), width)]
  const draw = { state, width, now, paint: painter(color), isWide: width >= WIDE }
  const most = Math.max(1, rows - 1)
  // The least needed first, until the rest fits.
  const sections = [
    { lines: header(draw), need: 6 },
    { lines: tasks(draw), need: 4 },
    { lines: session(draw), need: 2 },
    {
      lines: state.activeDelegates === undefined ? task(draw) : atWork(draw, state.activeDelegates),
      need: 5,
    },
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

function inOneLine(state: RunViewState) {
  const all = state.activeDelegates ?? (state.current === undefined ? [] : [state.current])
  const counted = `${countOutcome(state, 'done')}/${Object.keys(state.outcomes).length}`
  return `${counted} ${all.map((one) => taskLabel(one.task)).join(' ')}`.trimEnd()
}

/** `── run 3f9c1a · claude, claude-sonnet-4-5 ──────── 12m 40s of about 45m ──` */
function header(draw: Draw) {
  const { state, width, now, paint } = draw
  const { run, harness, model, startedAt, expectedSeconds: expected } = state
  const left = [
    run === undefined ? 'stint run' : `run ${runName(run)}`,
    programText([harness, model]),
  ]
    .filter((part) => part !== '')
    .join(' · ')
  const rule = (end: string) => {
    const cut = truncate(left, Math.max(0, width - 6))
    const dashes = '─'.repeat(Math.max(0, width - 4 - displayWidth(cut) - displayWidth(end)))
    return `${paint('── ', 'dim')}${paint(cut, 'bold')}${paint(` ${dashes}${end}`, 'dim')}`
  }
  if (startedAt === undefined) return [rule('')]
  const elapsed = secondsBetween(startedAt, now)
  const about = expected === undefined ? '' : elapsed > expected ? ', expected ' : ' of about '
  const right = `${durationText(elapsed)}${expected === undefined ? '' : `${about}${roughDuration(expected)}`}`
  if (displayWidth(left) + displayWidth(right) + 10 <= width) return [rule(` ${right} ──`)]
  return [rule(''), ...labelled('time', [{ text: right }], draw)]
}

function tasks(draw: Draw) {
  const { state, width, paint, isWide } = draw
  const all = Object.keys(state.outcomes).length
  if (all === 0)
    return labelled('tasks', [{ text: 'finding out what there is to do', style: 'dim' }], draw)
  const [done, parked, blocked] = [
    countOutcome(state, 'done'),
    countOutcome(state, 'parked'),
    countOutcome(state, 'blocked'),
  ]
  const parts: readonly StyledText[] = [
    { text: `${done} of ${all} done`, style: 'bold' },
    { text: parked === 0 ? '' : `${parked} failed`, style: 'red' },
    { text: blocked === 0 ? '' : `${blocked} blocked`, style: 'yellow' },
    { text: `${countOutcome(state, 'open')} open` },
  ]
  const size = isWide ? 24 : Math.max(8, width - LABEL)
  const doneCells = Math.round((done / all) * size)
  const failedCells = Math.min(size - doneCells, Math.round(((parked + blocked) / all) * size))
  const rest = size - doneCells - failedCells
  const bar = `${paint('█'.repeat(doneCells), 'green')}${paint('▒'.repeat(failedCells), 'red')}${paint('░'.repeat(rest), 'dim')}`
  if (!isWide) return [ready('tasks', bar, draw), ...labelled('', parts, draw)]
  const [first = '', ...more] = wrapParts(parts, width - LABEL - size - 2, paint)
  return [
    ready('tasks', `${bar}  ${first}`, draw),
    ...more.map((each) => `${' '.repeat(LABEL + size + 2)}${each}`),
  ]
}

function session(draw: Draw) {
  const { session: opened, conversation, branch } = draw.state
  const id = conversation?.id === undefined ? '' : ` (${firstCharacters(conversation.id, 8)})`
  return labelled(
    'session',
    [
      { text: opened === undefined ? '' : `${opened.number} ${shortLine(opened.name, 40)}` },
      { text: conversation === undefined ? '' : `conversation ${conversation.number}${id}` },
      { text: branch === undefined ? '' : `branch ${shortLine(branch, 60)}` },
    ],
    draw,
  )
}

const PLACES = {
  'live conversation': '',
  'same conversation again': 'same conversation',
  'fresh conversation': 'fresh conversation',
} as const

function task(draw: Draw) {
  const { state, now, width } = draw
  if (state.current === undefined) return labelled('task', [betweenTasks(state)], draw)
  const { task: of, attempt, place, startedAt, doing = '' } = state.current
  const title = shortLine(of.title)
  // The title takes what the name leaves of the line, unless that is next to nothing.
  const room = width - LABEL - displayWidth(taskLabel(of)) - 3
  const isBeside =
    title !== '' && title !== taskLabel(of) && room >= Math.min(12, displayWidth(title))
  const again: readonly StyledText[] =
    attempt === 1 ? [] : [{ text: `attempt ${attempt}`, style: 'yellow' }, { text: PLACES[place] }]
  return [
    ...labelled(
      'task',
      [{ text: taskLabel(of), style: 'cyan' }, { text: isBeside ? truncate(title, room) : '' }],
      draw,
    ),
    ...labelled(
      '',
      [{ text: durationText(secondsBetween(startedAt, now)) }, ...again, { text: doing }],
      draw,
    ),
  ]
}

const LONGEST_NAME = 24
const LEAST_DOING = 8

function atWork(draw: Draw, all: readonly ActiveDelegate[]) {
  const { now, paint } = draw
  if (all.length === 0) return labelled('at work', [betweenTasks(draw.state)], draw)
  const width = draw.width - LABEL
  const most = Math.min(LONGEST_NAME, Math.max(8, Math.floor(width * 0.35)))
  const names = all.map((one) => truncate(taskLabel(one.task), most))
  const longest = Math.max(...names.map(displayWidth))
  return all.map(({ startedAt, doing = '', percent }, index) => {
    const full = percent === undefined ? '' : `${Math.round(percent)}%`
    const figures = ` ${durationText(secondsBetween(startedAt, now)).padStart(7)} ${full.padStart(4)}`
    const room = width - longest - displayWidth(figures) - 2
    const more = room < LEAST_DOING ? '' : `  ${truncate(doing, room)}`
    const text =
      room < 0
        ? paint(truncate(names[index]!, width), 'cyan')
        : `${paint(padTo(names[index]!, longest), 'cyan')}${figures}${more}`.trimEnd()
    return ready(index === 0 ? 'at work' : '', text, draw)
  })
}

function betweenTasks({ ended, startedAt }: RunViewState): StyledText {
  const waiting = startedAt === undefined ? 'none yet' : 'choosing the next one'
  return { text: ended === undefined ? waiting : 'none any more', style: 'dim' }
}

function gauge(draw: Draw) {
  const { state, width, paint, isWide } = draw
  if (state.gauge === undefined) return []
  const figures = gaugeText(state.gauge)
  const columns = width - LABEL - (isWide ? displayWidth(figures) + 2 : 0)
  const bar = gaugeLines(state.gauge, columns, paint)
  if (bar === undefined)
    return labelled(
      'context',
      [{ text: `${figures} tokens` }, { text: 'where it compacts is unknown', style: 'dim' }],
      draw,
    )
  const [cells, legend] = bar
  return [
    ...(isWide
      ? [ready('context', `${cells}  ${figures}`, draw)]
      : [...labelled('context', [{ text: figures }], draw), ready('', cells, draw)]),
    ...(legend === '' ? [] : [ready('', legend, draw)]),
  ]
}

function spent(draw: Draw) {
  const { spend } = draw.state
  const parts = spend === undefined ? [] : spendParts(spend)
  return labelled(
    'spent',
    parts.map((text) => ({ text })),
    draw,
  )
}

function status(draw: Draw) {
  const { stopping, limit, current } = draw.state
  const yellow = (text: string): StyledText => ({ text, style: 'yellow' })
  const [what = '', ...why] = limit === undefined ? [] : limitParts(limit)
  const stops =
    stopping === undefined ? '' : stoppingText(stopping, current && taskLabel(current.task))
  return [
    ...labelled('limit', [yellow(what), ...why.map((text) => ({ text }))], draw),
    ...labelled('stop', stops.split('; ').map(yellow), draw),
  ]
}

function tail({ state, width, paint }: Draw, most: number) {
  const last = state.tail.slice(-most)
  if (last.length === 0) return []
  const lines = last.map(({ at, words }) => {
    const time = `${width < 50 ? localTime(at).slice(0, 5) : localTime(at)} `
    const isBad = words.startsWith('✗') || /\bFAILED\b| failed: /.test(words)
    const style: Style | undefined = words.startsWith('✓') ? 'green' : isBad ? 'red' : undefined
    const room = Math.max(0, width - displayWidth(time))
    return `${paint(truncate(time, width), 'dim')}${paint(truncate(words, room), style)}`
  })
  return [paint('─'.repeat(width), 'dim'), ...lines]
}

function labelled(label: string, parts: readonly StyledText[], draw: Draw) {
  return wrapParts(parts, draw.width - LABEL, draw.paint).map((text, index) =>
    ready(index === 0 ? label : '', text, draw),
  )
}

function ready(label: string, text: string, { paint }: Draw) {
  return `${paint(padTo(label, LABEL), 'dim')}${text}`
}

interface Mark {
  readonly column: number
  readonly sign: string
  readonly label: string
}

/** How full the conversation is: the way to the compaction point as a bar, and below it its marks. No bar where the point is unknown. */
function gaugeLines(
  { context, point, smartZone, stages }: Gauge,
  columns: number,
  paint: Paint,
): readonly [bar: string, legend: string] | undefined {
  if (point === undefined || point <= 0 || columns < 8) return undefined
  const column = (at: number) => Math.min(columns, Math.floor((at / point) * columns))
  const found = stages.flatMap((stage): readonly Mark[] => {
    const at = tokensAt(stage, point)
    if (at === undefined || at >= point) return []
    return [
      {
        column: column(at),
        sign: '┃',
        label: isPercent(stage) ? String(stage) : shortTokens(stage),
      },
    ]
  })
  const zone = {
    column: column(smartZone),
    sign: '╎',
    label: `smart zone ${shortTokens(smartZone)}`,
  }
  const isShown = smartZone < point && !found.some((mark) => mark.column === zone.column)
  const marks = [...(isShown ? [zone] : []), ...found]
    .filter((mark) => mark.column < columns)
    .toSorted((a, b) => a.column - b.column)

  const reached = stages.filter((stage) => context >= (tokensAt(stage, point) ?? Infinity)).length
  const isCalm = reached === 0 && context < smartZone
  const style = reached > 1 ? 'red' : isCalm ? 'green' : 'yellow'
  const filled = column(context)
  const cells = (from: number, to: number) =>
    paint('█'.repeat(Math.max(0, Math.min(to, filled) - from)), style) +
    paint('░'.repeat(Math.max(0, to - Math.max(from, filled))), 'dim')
  let bar = ''
  let drawn = 0
  for (const mark of marks.filter((one, index) => one.column !== marks[index - 1]?.column)) {
    bar += `${cells(drawn, mark.column)}${mark.sign}`
    drawn = mark.column + 1
  }
  return [`${bar}${cells(drawn, columns)}`, paint(legendOf(marks, columns), 'dim')]
}

/** So far beside its mark a label still reads as its. */
const ASIDE = 2

/** The labels below their marks. That of the smart zone is before its mark where there is no room behind it. */
function legendOf(marks: readonly Mark[], columns: number) {
  let text = ''
  for (const [index, { column, sign, label }] of marks.entries()) {
    const next = marks[index + 1]?.column ?? columns
    const before = `${label} ╎`
    const isBefore = sign === '╎' && column + 2 + label.length >= next
    const [ideal, said] = isBefore
      ? [column + 1 - before.length, before]
      : [column, sign === '╎' ? `╎ ${label}` : label]
    const from = Math.max(ideal, text === '' ? 0 : displayWidth(text) + 1)
    if (from - ideal > ASIDE || from + displayWidth(said) > columns) continue
    text = `${text}${' '.repeat(from - displayWidth(text))}${said}`
  }
  return text
}
