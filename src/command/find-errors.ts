import { shorten } from '../text/clean.ts'
import { frameIn, oneLineOf } from './failure-detail.ts'
import { findingsIn, placeOf } from './find-failures.ts'
import { withholdInstructions } from './withhold-instructions.ts'

export interface LocatedError {
  /** `file:line` */
  readonly at: string
  readonly message: string
}

const MAX_ERRORS = 6
const MAX_MESSAGE_LENGTH = 200

/**
 * Errors of compilers, linters and run-time traces, with file and line. `isCertain` says that the
 * command failed, so a line such as `path:7: text` is an error even without that word.
 */
export function findErrors(
  lines: readonly string[],
  isCertain: boolean,
  pathOf: (path: string) => string,
): readonly LocatedError[] {
  const found = [
    ...recognised(lines),
    ...SUPPLEMENTS.flatMap((supplement) => supplement(lines)),
    ...(isCertain ? lines.flatMap(plainLine) : []),
  ].toSorted((a, b) => a.line - b.line)
  const errors = new Map<string, LocatedError>()
  for (const { where, message } of found) {
    const at = placed(where, pathOf)
    const text = shorten(oneLineOf(message), MAX_MESSAGE_LENGTH)
    if (at === undefined || text === '' || errors.has(at)) continue
    errors.set(at, { at, message: withholdInstructions(text) })
    if (errors.size === MAX_ERRORS) break
  }
  return [...errors.values()]
}

interface Found {
  readonly line: number
  readonly where: string
  readonly message: string
}

function placed(where: string, pathOf: (path: string) => string) {
  const place = placeOf(where)
  if (place === undefined) return undefined
  const colon = place.lastIndexOf(':')
  return `${pathOf(place.slice(0, colon))}${place.slice(colon)}`
}

function recognised(lines: readonly string[]): Found[] {
  return findingsIn(lines).flatMap(({ level, title, where, line }) => {
    if (level !== 'error') return []
    // A message of several lines has a blank line before its frames.
    const known =
      where ??
      (/^\w*Error\b/.test(title) ? frameIn(lines.slice(line, line + 30)) : undefined) ??
      nodeHeader(lines, title, line)
    return known === undefined ? [] : [{ line, where: known, message: title }]
  })
}

/** A syntax error has no frame of the project; Node prints the place above the source line. */
function nodeHeader(lines: readonly string[], title: string, line: number) {
  if (!/^\w*Error\b/.test(title)) return undefined
  const header = lines
    .slice(Math.max(0, line - 9), line - 1)
    .findLast((each) => /^(?:file:\/\/)?\/[^\s:]+:\d+$/.test(each))
  return header === undefined || header.includes('node_modules') ? undefined : header
}

/** Python prints no traceback for a file that it cannot parse. */
const pythonSyntax = (lines: readonly string[]): Found[] =>
  lines.flatMap((text, index) => {
    if (!/^(?:SyntaxError|IndentationError|TabError): /.test(text)) return []
    const before = lines.slice(Math.max(0, index - 6), index)
    const place = before.map((each) => PYTHON_PLACE.exec(each)).findLast((match) => match !== null)
    if (place === undefined || place === null) return []
    return [{ line: index + 1, where: `${place[1]!}:${place[2]!}`, message: text }]
  })
const PYTHON_PLACE = /^\s+File "([^"<]+)", line (\d+)$/

const SUPPLEMENTS = [
  pythonSyntax,
  oneLiner(/^psql:([^\s:]+):(\d+): ((?:ERROR|FATAL|PANIC):.*)$/),
  oneLiner(
    /^(?:PHP )?((?:Fatal|Parse) error: .{1,300}?) in (\S+\.php)(?: on line |:)(\d+)/,
    [2, 3, 1],
  ),
  oneLiner(/^([^\s:]+\.rb):(\d+):in [`'][^']{0,80}': (.+)$/),
  oneLiner(/^(.{1,200}?) at (\S+\.p[lm]) line (\d+)\.$/, [2, 3, 1]),
  oneLiner(/^[^\s:]+: ([^\s:]+):(\d+): [^:]{1,120}: (Assertion .{1,200} failed)\.$/),
  // bash, and dash, which leaves out the word
  oneLiner(/^([^\s:]+): line (\d+): (\S.*)$/),
  oneLiner(/^([^\s:]+\.(?:sh|bash|zsh)): (\d+): (\S.*)$/),
]

function oneLiner(pattern: RegExp, groups: readonly [number, number, number] = [1, 2, 3]) {
  return (lines: readonly string[]): Found[] =>
    lines.flatMap((text, index) => {
      const match = pattern.exec(text)
      if (match === null) return []
      const [path, line, message] = groups.map((group) => match[group]!)
      return [{ line: index + 1, where: `${path!}:${line!}`, message: message! }]
    })
}

const PLAIN =
  /^([\w@.+/-]*[\w@+-]\.[A-Za-z]\w{0,9}|[\w@.+-]*\/[\w@.+/-]+):(\d{1,6})(?::\d{1,5})?(?::| -)? +(\S.*)$/
const HOST = /^[^/]+\.(?:com|org|net|io|dev|local|invalid|example|test)$/
const NO_ERROR = /^(?:warning|warn|note|info|hint|remark|debug|help|at)\b/i

function plainLine(text: string, index: number): Found[] {
  const [, path, line, message] = PLAIN.exec(text) ?? []
  if (path === undefined || message === undefined) return []
  if (HOST.test(path) || path.includes('node_modules/') || path.includes('//')) return []
  if (NO_ERROR.test(message)) return []
  return [
    { line: index + 1, where: `${path}:${line!}`, message: message.replace(/^error:? /i, '') },
  ]
}
