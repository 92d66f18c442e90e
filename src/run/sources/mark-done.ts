// Sets one field of an object in its own text, so that everything else on the line stays byte for byte.

interface Value {
  readonly key: string
  readonly start: number
  readonly end: number
}

/** The line of a task, saying that it is done. The line must hold one JSON object with at least one field. */
export function withStatusDone(line: string): string {
  const values = valuesOf(line)
  // Of a key given twice the last one counts.
  const status = values.findLast(({ key }) => key === 'status')
  if (status !== undefined) return `${line.slice(0, status.start)}"done"${line.slice(status.end)}`
  const end = values.at(-1)!.end
  const field = /^\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s/.test(line.replace(/^\uFEFF/, ''))
    ? ', "status": "done"'
    : ',"status":"done"'
  return `${line.slice(0, end)}${field}${line.slice(end)}`
}

const STRING = /"(?:[^"\\]|\\.)*"/y
const LITERAL = /[^\s,}\]]+/y
const BETWEEN = /[\s,:]*/y

/** Where the values of the outermost object stand. */
function valuesOf(line: string): readonly Value[] {
  const values: Value[] = []
  let at = line.indexOf('{') + 1
  for (;;) {
    at = after(BETWEEN, line, at)
    if (line[at] !== '"') return values
    const keyEnd = after(STRING, line, at)
    const key = JSON.parse(line.slice(at, keyEnd)) as string
    const start = after(BETWEEN, line, keyEnd)
    at = endOfValue(line, start)
    values.push({ key, start, end: at })
  }
}

function endOfValue(line: string, start: number): number {
  let at = start
  let depth = 0
  do {
    const character = line[at]
    if (character === '"') at = after(STRING, line, at)
    else if (character === '{' || character === '[') {
      depth += 1
      at += 1
    } else if (character === '}' || character === ']') {
      depth -= 1
      at += 1
    } else at = after(LITERAL, line, at)
    if (depth > 0) at = after(BETWEEN, line, at)
  } while (depth > 0)
  return at
}

function after(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return at + (pattern.exec(text)?.[0].length ?? 0)
}
