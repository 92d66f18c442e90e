// The live block of a run.
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
import type { FrameSize } from '../terminal/live-block.ts'
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

const LABEL_WIDTH = 9
const WIDE_WIDTH = 64
const MIN_WIDTH = 24
const MAX_TAIL_LINES = 6

interface DrawOptions {
  readonly state: RunViewState
  readonly width: number
  readonly now: string
  readonly paint: Paint
  readonly isWide: boolean
}

/** Every line is narrower than the terminal, and the block fits its height. */
export function renderFrame(
  state: RunViewState,
  { columns, rows, color, now }: FrameSize & { readonly color: boolean },
): string[] {
  // Some terminals wrap after a character in the last column.
  const width = Math.max(1, columns - 1)
  if (width < MIN_WIDTH) return [truncate(oneLineSummary(state), width)]
  const options = { state, width, now, paint: painter(color), isWide: width >= WIDE_WIDTH }
  const maxHeight = Math.max(1, rows - 1)
  // The least important sections are dropped first.
  const sections = [
    { lines: header(options), priority: 6 },
    { lines: tasks(options), priority: 4 },
    { lines: session(options), priority: 2 },
    {
      lines:
        state.activeDelegates === undefined
          ? task(options)
          : activeTasks(options, state.activeDelegates),
      priority: 5,
    },
    { lines: gauge(options), priority: 3 },
    { lines: spent(options), priority: 1 },
    { lines: status(options), priority: 7 },
  ]
  const shown = new Set(sections)
  const height = () => [...shown].reduce((sum, { lines }) => sum + lines.length, 0)
  for (const section of sections.toSorted((a, b) => a.priority - b.priority)) {
    if (height() > maxHeight) shown.delete(section)
  }
  const block = [...shown].flatMap(({ lines }) => lines)
  const room = Math.min(MAX_TAIL_LINES, maxHeight - block.length - 1)
  return [...block, ...(room < 1 ? [] : tail(options, room))]
}

function oneLineSummary(state: RunViewState) {
  const active = state.activeDelegates ?? (state.current === undefined ? [] : [state.current])
  const counted = `${countOutcome(state, 'done')}/${Object.keys(state.outcomes).length}`
  return `${counted} ${active.map(({ task }) => taskLabel(task)).join(' ')}`.trimEnd()
}

/** `── run 3f9c1a · claude, claude-sonnet-4-5 ──────── 12m 40s of about 45m ──` */
function header(options: DrawOptions) {
  const { state, width, now, paint } = options
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
  return [rule(''), ...wrapLabelled('time', [{ text: right }], options)]
}

function tasks(options: DrawOptions) {
  const { state, width, paint, isWide } = options
  const total = Object.keys(state.outcomes).length
  if (total === 0)
    return wrapLabelled(
      'tasks',
      [{ text: 'finding out what there is to do', style: 'dim' }],
      options,
    )
  const [done, parked, blocked] = [
    countOutcome(state, 'done'),
    countOutcome(state, 'parked'),
    countOutcome(state, 'blocked'),
  ]
  const parts: readonly StyledText[] = [
    { text: `${done} of ${total} done`, style: 'bold' },
    { text: parked === 0 ? '' : `${parked} failed`, style: 'red' },
    { text: blocked === 0 ? '' : `${blocked} blocked`, style: 'yellow' },
    { text: `${countOutcome(state, 'open')} open` },
  ]
  const size = isWide ? 24 : Math.max(8, width - LABEL_WIDTH)
  const doneCells = Math.round((done / total) * size)
  const failedCells = Math.min(size - doneCells, Math.round(((parked + blocked) / total) * size))
  const rest = size - doneCells - failedCells
  const bar = `${paint('█'.repeat(doneCells), 'green')}${paint('▒'.repeat(failedCells), 'red')}${paint('░'.repeat(rest), 'dim')}`
  if (!isWide) return [labelledLine('tasks', bar, options), ...wrapLabelled('', parts, options)]
  const [first = '', ...more] = wrapParts(parts, width - LABEL_WIDTH - size - 2, paint)
  return [
    labelledLine('tasks', `${bar}  ${first}`, options),
    ...more.map((each) => `${' '.repeat(LABEL_WIDTH + size + 2)}${each}`),
  ]
}

function session(options: DrawOptions) {
  const { session: opened, conversation, branch } = options.state
  const id = conversation?.id === undefined ? '' : ` (${firstCharacters(conversation.id, 8)})`
  return wrapLabelled(
    'session',
    [
      { text: opened === undefined ? '' : `${opened.number} ${shortLine(opened.name, 40)}` },
      { text: conversation === undefined ? '' : `conversation ${conversation.number}${id}` },
      { text: branch === undefined ? '' : `branch ${shortLine(branch, 60)}` },
    ],
    options,
  )
}

const ATTEMPT_TEXTS = {
  'live conversation': '',
  'same conversation again': 'same conversation',
  'fresh conversation': 'fresh conversation',
} as const

function task(options: DrawOptions) {
  const { state, now, width } = options
  if (state.current === undefined) return wrapLabelled('task', [betweenTasks(state)], options)
  const { task: currentTask, attempt, place, startedAt, activity = '' } = state.current
  const title = shortLine(currentTask.title)
  // The title takes the rest of the line unless that is too short.
  const room = width - LABEL_WIDTH - displayWidth(taskLabel(currentTask)) - 3
  const hasTitle =
    title !== '' && title !== taskLabel(currentTask) && room >= Math.min(12, displayWidth(title))
  const again: readonly StyledText[] =
    attempt === 1
      ? []
      : [{ text: `attempt ${attempt}`, style: 'yellow' }, { text: ATTEMPT_TEXTS[place] }]
  return [
    ...wrapLabelled(
      'task',
      [
        { text: taskLabel(currentTask), style: 'cyan' },
        { text: hasTitle ? truncate(title, room) : '' },
      ],
      options,
    ),
    ...wrapLabelled(
      '',
      [{ text: durationText(secondsBetween(startedAt, now)) }, ...again, { text: activity }],
      options,
    ),
  ]
}

const MAX_NAME_WIDTH = 24
const MIN_ACTIVITY_WIDTH = 8

function activeTasks(options: DrawOptions, delegates: readonly ActiveDelegate[]) {
  const { now, paint } = options
  if (delegates.length === 0) return wrapLabelled('at work', [betweenTasks(options.state)], options)
  const width = options.width - LABEL_WIDTH
  const maxNameWidth = Math.min(MAX_NAME_WIDTH, Math.max(8, Math.floor(width * 0.35)))
  const names = delegates.map(({ task }) => truncate(taskLabel(task), maxNameWidth))
  const longest = Math.max(...names.map(displayWidth))
  return delegates.map(({ startedAt, activity = '', percent }, index) => {
    const full = percent === undefined ? '' : `${Math.round(percent)}%`
    const figures = ` ${durationText(secondsBetween(startedAt, now)).padStart(7)} ${full.padStart(4)}`
    const room = width - longest - displayWidth(figures) - 2
    const more = room < MIN_ACTIVITY_WIDTH ? '' : `  ${truncate(activity, room)}`
    const text =
      room < 0
        ? paint(truncate(names[index]!, width), 'cyan')
        : `${paint(padTo(names[index]!, longest), 'cyan')}${figures}${more}`.trimEnd()
    return labelledLine(index === 0 ? 'at work' : '', text, options)
  })
}

function betweenTasks({ ended, startedAt }: RunViewState): StyledText {
  const waiting = startedAt === undefined ? 'none yet' : 'choosing the next one'
  return { text: ended === undefined ? waiting : 'none any more', style: 'dim' }
}

function gauge(options: DrawOptions) {
  const { state, width, paint, isWide } = options
  if (state.gauge === undefined) return []
  const figures = gaugeText(state.gauge)
  const columns = width - LABEL_WIDTH - (isWide ? displayWidth(figures) + 2 : 0)
  const bar = drawGaugeBar(state.gauge, columns, paint)
  if (bar === undefined)
    return wrapLabelled(
      'context',
      [{ text: `${figures} tokens` }, { text: 'where it compacts is unknown', style: 'dim' }],
      options,
    )
  const [cells, legend] = bar
  return [
    ...(isWide
      ? [labelledLine('context', `${cells}  ${figures}`, options)]
      : [
          ...wrapLabelled('context', [{ text: figures }], options),
          labelledLine('', cells, options),
        ]),
    ...(legend === '' ? [] : [labelledLine('', legend, options)]),
  ]
}

function spent(options: DrawOptions) {
  const { spend } = options.state
  const parts = spend === undefined ? [] : spendParts(spend)
  return wrapLabelled(
    'spent',
    parts.map((text) => ({ text })),
    options,
  )
}

function status(options: DrawOptions) {
  const { stopping, limit, current } = options.state
  const yellow = (text: string): StyledText => ({ text, style: 'yellow' })
  const [what = '', ...why] = limit === undefined ? [] : limitParts(limit)
  const stops =
    stopping === undefined ? '' : stoppingText(stopping, current && taskLabel(current.task))
  return [
    ...wrapLabelled('limit', [yellow(what), ...why.map((text) => ({ text }))], options),
    ...wrapLabelled('stop', stops.split('; ').map(yellow), options),
  ]
}

function tail({ state, width, paint }: DrawOptions, most: number) {
  const last = state.tail.slice(-most)
  if (last.length === 0) return []
  const lines = last.map(({ at, text }) => {
    const time = `${width < 50 ? localTime(at).slice(0, 5) : localTime(at)} `
    const isBad = text.startsWith('✗') || /\bFAILED\b| failed: /.test(text)
    const style: Style | undefined = text.startsWith('✓') ? 'green' : isBad ? 'red' : undefined
    const room = Math.max(0, width - displayWidth(time))
    return `${paint(truncate(time, width), 'dim')}${paint(truncate(text, room), style)}`
  })
  return [paint('─'.repeat(width), 'dim'), ...lines]
}

function wrapLabelled(label: string, parts: readonly StyledText[], options: DrawOptions) {
  return wrapParts(parts, options.width - LABEL_WIDTH, options.paint).map((text, index) =>
    labelledLine(index === 0 ? label : '', text, options),
  )
}

function labelledLine(label: string, text: string, { paint }: DrawOptions) {
  return `${paint(padTo(label, LABEL_WIDTH), 'dim')}${text}`
}

interface GaugeMark {
  readonly column: number
  readonly symbol: string
  readonly label: string
}

/** The context as a bar up to the compaction point, with its marks below. Undefined where the point is unknown. */
function drawGaugeBar(
  { context, point, smartZone, stages }: Gauge,
  columns: number,
  paint: Paint,
): readonly [bar: string, legend: string] | undefined {
  if (point === undefined || point <= 0 || columns < 8) return undefined
  const column = (at: number) => Math.min(columns, Math.floor((at / point) * columns))
  const stageMarks = stages.flatMap((stage): readonly GaugeMark[] => {
    const at = tokensAt(stage, point)
    if (at === undefined || at >= point) return []
    return [
      {
        column: column(at),
        symbol: '┃',
        label: isPercent(stage) ? String(stage) : shortTokens(stage),
      },
    ]
  })
  const zoneMark = {
    column: column(smartZone),
    symbol: '╎',
    label: `smart zone ${shortTokens(smartZone)}`,
  }
  const isShown = smartZone < point && !stageMarks.some((mark) => mark.column === zoneMark.column)
  const marks = [...(isShown ? [zoneMark] : []), ...stageMarks]
    .filter((mark) => mark.column < columns)
    .toSorted((a, b) => a.column - b.column)

  const reached = stages.filter((stage) => context >= (tokensAt(stage, point) ?? Infinity)).length
  const isLow = reached === 0 && context < smartZone
  const style = reached > 1 ? 'red' : isLow ? 'green' : 'yellow'
  const filled = column(context)
  const cells = (from: number, to: number) =>
    paint('█'.repeat(Math.max(0, Math.min(to, filled) - from)), style) +
    paint('░'.repeat(Math.max(0, to - Math.max(from, filled))), 'dim')
  let bar = ''
  let drawn = 0
  for (const mark of marks.filter((mark, index) => mark.column !== marks[index - 1]?.column)) {
    bar += `${cells(drawn, mark.column)}${mark.symbol}`
    drawn = mark.column + 1
  }
  return [`${bar}${cells(drawn, columns)}`, paint(drawLegend(marks, columns), 'dim')]
}

/** A label this far from its mark still reads as belonging to it. */
const MAX_LABEL_OFFSET = 2

/** The labels below their marks. The smart zone's label moves left of its mark where there is no room on the right. */
function drawLegend(marks: readonly GaugeMark[], columns: number) {
  let text = ''
  for (const [index, { column, symbol, label }] of marks.entries()) {
    const next = marks[index + 1]?.column ?? columns
    const before = `${label} ╎`
    const isBefore = symbol === '╎' && column + 2 + label.length >= next
    const [idealColumn, labelText] = isBefore
      ? [column + 1 - before.length, before]
      : [column, symbol === '╎' ? `╎ ${label}` : label]
    const from = Math.max(idealColumn, text === '' ? 0 : displayWidth(text) + 1)
    if (from - idealColumn > MAX_LABEL_OFFSET || from + displayWidth(labelText) > columns) continue
    text = `${text}${' '.repeat(from - displayWidth(text))}${labelText}`
  }
  return text
}
