// How full the conversation is, as a bar on the way to the point at which it is compacted, with the lines on that way.
import { isPercent, tokensAt } from '../../../core.ts'
import type { Gauge } from '../../../library.ts'
import { tokens } from '../terminal/amounts.ts'
import type { Paint, Style } from '../terminal/paint.ts'
import { widthOf } from '../terminal/width.ts'

interface Mark {
  readonly column: number
  readonly sign: string
  readonly label: string
}

/** The bar and, below it, what its marks are. Where it compacts is unknown, so is the way, and there is no bar. */
export function gaugeLines(gauge: Gauge, columns: number, paint: Paint): readonly string[] {
  const { context, point, smartZone, stages } = gauge
  if (point === undefined || point <= 0 || columns < 8) return []
  const column = (at: number) => Math.min(columns, Math.floor((at / point) * columns))
  const marks = marksOf(gauge, point, columns, column)
  const filled = column(context)
  const cells = Array.from({ length: columns }, (_, index) => {
    const mark = marks.find((each) => each.column === index)
    return {
      sign: mark?.sign ?? (index < filled ? '█' : '░'),
      isFilled: index < filled,
      isMark: mark !== undefined,
    }
  })
  const style = styleOf(context, point, smartZone, stages)
  const bar = runs(cells, ({ isMark, isFilled }) => (isMark ? undefined : isFilled ? style : 'dim'))
  return [
    bar.map((run) => paint(run.text, run.style)).join(''),
    paint(legend(marks, columns), 'dim'),
  ]
}

function marksOf(
  { smartZone, stages }: Gauge,
  point: number,
  columns: number,
  column: (at: number) => number,
): readonly Mark[] {
  const found: Mark[] = stages.flatMap((stage) => {
    const at = tokensAt(stage, point)
    if (at === undefined || at >= point) return []
    return [
      { column: column(at), sign: '┃', label: isPercent(stage) ? String(stage) : tokens(stage) },
    ]
  })
  const zone = { column: column(smartZone), sign: '╎', label: `smart zone ${tokens(smartZone)}` }
  const isShown = smartZone < point && !found.some((mark) => mark.column === zone.column)
  return [...(isShown ? [zone] : []), ...found]
    .filter((mark) => mark.column < columns)
    .toSorted((a, b) => a.column - b.column)
}

/** A label may stand so far beside its mark and is still read as its. */
const ASIDE = 2

/** The labels below their marks. The end of the smart zone is said before its mark where there is no room behind it. */
function legend(marks: readonly Mark[], columns: number): string {
  let text = ''
  marks.forEach(({ column, sign, label }, index) => {
    const next = marks[index + 1]?.column ?? columns
    const before = `${label} ╎`
    const isBefore = sign === '╎' && column + 2 + label.length >= next
    const [ideal, said] = isBefore
      ? [column + 1 - before.length, before]
      : [column, sign === '╎' ? `╎ ${label}` : label]
    const from = Math.max(ideal, text === '' ? 0 : widthOf(text) + 1)
    if (from - ideal > ASIDE || from + widthOf(said) > columns) return
    text = `${text}${' '.repeat(from - widthOf(text))}${said}`
  })
  return text
}

function styleOf(
  context: number,
  point: number,
  smartZone: number,
  stages: readonly number[],
): Style {
  const reached = stages.filter((stage) => context >= (tokensAt(stage, point) ?? Infinity)).length
  if (reached > 1) return 'red'
  return reached === 1 || context >= smartZone ? 'yellow' : 'green'
}

interface Cell {
  readonly sign: string
  readonly isFilled: boolean
  readonly isMark: boolean
}

/** Cells of one colour as one text, so that a frame is not mostly colours. */
function runs(
  cells: readonly Cell[],
  styleFor: (cell: Cell) => Style | undefined,
): readonly { text: string; style: Style | undefined }[] {
  const found: { text: string; style: Style | undefined }[] = []
  for (const cell of cells) {
    const style = styleFor(cell)
    const last = found.at(-1)
    if (last !== undefined && last.style === style) last.text += cell.sign
    else found.push({ text: cell.sign, style })
  }
  return found
}
