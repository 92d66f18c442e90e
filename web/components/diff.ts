// Parses a unified diff. A line inside a hunk that looks like a heading is content: hunks state their length.
export interface DiffFile {
  readonly path: string
  readonly previousPath?: string
  readonly change: 'changed' | 'added' | 'deleted' | 'renamed'
  readonly isBinary: boolean
  readonly added: number
  readonly removed: number
  readonly lines: readonly DiffLine[]
}

export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed' | 'hunk' | 'note'
  readonly text: string
  /** Line numbers before and after. */
  readonly old?: number
  readonly new?: number
}

type MutableDiffFile = { -readonly [Key in keyof DiffFile]: DiffFile[Key] } & { lines: DiffLine[] }

export function readDiff(diff: string): readonly DiffFile[] {
  const files: MutableDiffFile[] = []
  let file: MutableDiffFile | undefined
  let oldRemaining = 0
  let newRemaining = 0
  let oldAt = 0
  let newAt = 0
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    if (file !== undefined && (oldRemaining > 0 || newRemaining > 0 || line.startsWith('\\'))) {
      const sign = line[0]
      const text = line.slice(1)
      if (sign === '+') {
        file.lines.push({ kind: 'added', text, new: newAt })
        file.added += 1
        newAt += 1
        newRemaining -= 1
      } else if (sign === '-') {
        file.lines.push({ kind: 'removed', text, old: oldAt })
        file.removed += 1
        oldAt += 1
        oldRemaining -= 1
      } else if (sign === '\\') file.lines.push({ kind: 'note', text: text.trim() })
      else {
        file.lines.push({ kind: 'same', text, old: oldAt, new: newAt })
        oldAt += 1
        newAt += 1
        oldRemaining -= 1
        newRemaining -= 1
      }
      continue
    }
    if (line.startsWith('diff --git ')) {
      file = {
        path: pathOfHeading(line),
        change: 'changed',
        isBinary: false,
        added: 0,
        removed: 0,
        lines: [],
      }
      files.push(file)
      continue
    }
    if (file === undefined) continue
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/.exec(line)
    if (hunk !== null) {
      oldAt = Number(hunk[1])
      oldRemaining = Number(hunk[2] ?? 1)
      newAt = Number(hunk[3])
      newRemaining = Number(hunk[4] ?? 1)
      file.lines.push({ kind: 'hunk', text: `line ${newAt}${hunk[5] ?? ''}` })
    } else readHeading(file, line)
  }
  return files
}

function readHeading(file: MutableDiffFile, line: string): void {
  const rest = (start: string): string | undefined =>
    line.startsWith(start) ? unquoted(line.slice(start.length)) : undefined
  const after = rest('+++ ')
  const renamedFrom = rest('rename from ')
  const renamedTo = rest('rename to ')
  if (after !== undefined && after !== '/dev/null') file.path = after.replace(/^b\//, '')
  else if (renamedFrom !== undefined) {
    file.previousPath = renamedFrom
    file.change = 'renamed'
  } else if (renamedTo !== undefined) file.path = renamedTo
  else if (line.startsWith('new file')) file.change = 'added'
  else if (line.startsWith('deleted file')) file.change = 'deleted'
  else if (line.startsWith('Binary files') || line.startsWith('GIT binary')) file.isBinary = true
}

function pathOfHeading(line: string): string {
  const names = line.slice('diff --git '.length)
  // Both halves are equal except for a/ and b/, unless it was renamed, which a later line states.
  const half = names.slice(names.length - (names.length - 1) / 2)
  return unquoted(half).replace(/^b\//, '')
}

/** git quotes unusual file names. */
function unquoted(name: string): string {
  const text = name.replace(/\t$/, '')
  if (!text.startsWith('"') || !text.endsWith('"')) return text
  const bytes: number[] = []
  const named: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, a: 7, b: 8, f: 12, v: 11 }
  for (const [, octal, letter, plain] of text
    .slice(1, -1)
    .matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/g)) {
    if (octal !== undefined) bytes.push(Number.parseInt(octal, 8))
    else if (letter !== undefined) bytes.push(named[letter] ?? letter.charCodeAt(0))
    else bytes.push(...new TextEncoder().encode(plain))
  }
  return new TextDecoder().decode(new Uint8Array(bytes))
}
