const AROUND = 3

interface Line {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
}

export function unifiedDiff(before: string, after: string): readonly string[] {
  const lines = compare(linesOf(before), linesOf(after))
  const near = lines.map((_, index) =>
    lines.slice(Math.max(0, index - AROUND), index + AROUND + 1).some(({ sign }) => sign !== ' '),
  )
  const out: string[] = []
  let [old, fresh] = [1, 1]
  for (let index = 0; index < lines.length; index += 1) {
    if (near[index] === true && near[index - 1] !== true) {
      const last = near.indexOf(false, index)
      const hunk = lines.slice(index, last === -1 ? lines.length : last)
      out.push(
        `@@ -${range(old, hunk, '+')} +${range(fresh, hunk, '-')} @@`,
        ...hunk.map(({ sign, text }) => `${sign}${text}`),
      )
    }
    if (lines[index]!.sign !== '+') old += 1
    if (lines[index]!.sign !== '-') fresh += 1
  }
  return out
}

function range(start: number, hunk: readonly Line[], other: Line['sign']): string {
  const length = hunk.filter(({ sign }) => sign !== other).length
  return `${length === 0 ? start - 1 : start}${length === 1 ? '' : `,${length}`}`
}

/** Line ends are part of a line, so that a change of them shows. */
function linesOf(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.replaceAll('\r', '␍'))
  if (lines.at(-1) === '') return lines.slice(0, -1)
  return [...lines.slice(0, -1), `${lines.at(-1)!}\n\\ No newline at end of file`]
}

function compare(a: readonly string[], b: readonly string[]): readonly Line[] {
  const shorter = Math.min(a.length, b.length)
  let head = 0
  while (head < shorter && a[head] === b[head]) head += 1
  let tail = 0
  while (tail < shorter - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1
  const same = (lines: readonly string[]) => lines.map((text): Line => ({ sign: ' ', text }))
  return [
    ...same(a.slice(0, head)),
    ...compareMiddle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...same(a.slice(a.length - tail)),
  ]
}

function compareMiddle(a: readonly string[], b: readonly string[]): readonly Line[] {
  const common = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1))
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i]![j] =
        a[i] === b[j]
          ? common[i + 1]![j + 1]! + 1
          : Math.max(common[i + 1]![j]!, common[i]![j + 1]!)
    }
  }
  const lines: Line[] = []
  for (let [i, j] = [0, 0]; i < a.length || j < b.length;) {
    const isSame = i < a.length && j < b.length && a[i] === b[j]
    const isOld = i < a.length && (j === b.length || common[i + 1]![j]! >= common[i]![j + 1]!)
    const sign = isSame ? ' ' : isOld ? '-' : '+'
    lines.push({ sign, text: sign === '+' ? b[j]! : a[i]! })
    if (sign !== '+') i += 1
    if (sign !== '-') j += 1
  }
  return lines
}
