import { lazily } from './lazily.ts'

/** A line of a log, a stack trace, a diff or a shell session. */
export function isLogLine(line: string): boolean {
  // Avoids the pattern for almost every line of prose.
  const first = line.trimStart().slice(0, 9).toLowerCase()
  const mayBe = first < 'a' || first >= '{' || line.includes(':') || line.includes(']')
  return (
    first !== '' &&
    (mayBe || LOG_PREFIXES.some((word) => first.startsWith(word))) &&
    LOG_LINE().test(line)
  )
}

const LOG_PREFIXES = ['at ', 'file "', 'traceback', 'npm ']
const LOG_LINE = lazily(
  () =>
    /^\s*(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|\[?(?:info|warn|warning|error|debug|trace|fatal)\b[\]:]|at \S+ ?\(|File "|Traceback|npm (?:err|warn)|[$>#%] |[+-]{3} |@@|[{}[\]]|\w+Error:|\S+:\d+:\d+)/i,
)
