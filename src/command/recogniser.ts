import { defined } from '../text/defined.ts'
import {
  RSPEC_EXAMPLE,
  type FindingLevel,
  PYTEST_NODE,
  NUMBERED_FAILURES,
  OUTPUT_RULES,
  type OutputRule,
} from './output-rules.ts'

export interface Finding {
  readonly level: FindingLevel
  readonly title: string
  readonly where?: string
  readonly detail: readonly string[]
  /** First and last line in the output, from 1. */
  readonly line: number
  readonly lastLine: number
  readonly times: number
}

const MAX_PER_LEVEL = 200

class Findings {
  readonly findings = new Map<string, Finding>()
  readonly counts: Record<FindingLevel, number> = { failure: 0, error: 0, warning: 0 }
  readonly #countOf: Record<FindingLevel, number> = { failure: 0, error: 0, warning: 0 }

  add(finding: Finding): void {
    const { level, title, where, times } = finding
    const key = `${level}\0${title}\0${where ?? ''}`
    const known = this.findings.get(key)
    // Runners repeat failures in their final summary.
    if (known !== undefined && level === 'failure') return
    this.counts[level] += times
    if (known !== undefined) this.findings.set(key, { ...known, times: known.times + times })
    else if (this.#countOf[level] < MAX_PER_LEVEL) {
      this.#countOf[level] += 1
      this.findings.set(key, finding)
    }
  }
}

const MAX_LENGTH = 300

/** Other words continue a finding. */
function levelOf(word: string) {
  if (/^(?:(?:fatal )?error|fatal|e|×|x)$/i.test(word)) return 'error'
  return /^(?:warn(?:ing)?|w|⚠|!)$/i.test(word) ? 'warning' : undefined
}

const LIBRARY_FRAME =
  /node_modules|(?:^|[/(])node:|\/rustc\/|\/(?:site|dist)-packages\/|\/lib\/python\d|\.cargo\/registry|\/usr\/(?:lib|local\/go|share)\/|\/go\/pkg\/mod\/|\bat (?:\S+\/\/)?(?:org\.junit|org\.opentest4j|org\.hamcrest|org\.assertj|java|jdk|sun|kotlin)\./

const ONLY_A_PATH = /^[^\s:'"]+\.[A-Za-z]\w{0,5}$/

interface OpenFinding {
  readonly rule: OutputRule
  readonly line: number
  lastLine: number
  readonly level: FindingLevel
  title: string | undefined
  where: string | undefined
  readonly detail: string[]
  left: number
}

type Groups = Readonly<Record<string, string | undefined>>

export class Recogniser {
  readonly #findings = new Findings()
  /** Failures that a runner only names; used if it never gives details. */
  readonly #echoes = new Findings()
  readonly #base: string | undefined
  #open: OpenFinding | undefined
  /** The path in the heading of a linter. */
  #path: string | undefined
  #numbered: 'mocha' | 'other' | undefined
  #lineBefore = ''

  constructor(base?: string) {
    this.#base = base === undefined || base === '/' ? undefined : `${base}/`
  }

  line(written: string, number: number, mayBegin: boolean): void {
    // BuildKit prefixes each line with its step and time.
    const text = written.startsWith('#') ? written.replace(/^#\d+ [\d.]+ /, '') : written
    if (!mayBegin || !(this.#sumsUp(text, number) || this.#begins(text, number)))
      this.#follow(text, number)
    if (NUMBERED_FAILURES.test(text)) this.#numbered = text.endsWith('failing') ? 'mocha' : 'other'
    if (ONLY_A_PATH.test(text)) this.#path = text
    if (text !== '') this.#lineBefore = text
  }

  finish(): { findings: readonly Finding[]; counts: Readonly<Record<FindingLevel, number>> } {
    this.#close()
    const { findings, counts } = this.#findings
    const all = [...findings.values()]
    // A suite that failed only through its tests adds nothing.
    for (const [key, { level, title, detail, times }] of findings) {
      if (level !== 'failure' || detail.length > 0) continue
      if (!all.some((other) => other.title.startsWith(`${title}/`))) continue
      findings.delete(key)
      counts.failure -= times
    }
    if (counts.failure === 0)
      for (const echo of this.#echoes.findings.values()) this.#findings.add(echo)
    return { findings: [...findings.values()], counts }
  }

  #sumsUp(text: string, number: number) {
    const groups = (PYTEST_NODE.exec(text) ?? RSPEC_EXAMPLE.exec(text))?.groups as
      | Groups
      | undefined
    if (groups?.title === undefined) return false
    this.#close()
    const { title, message, where } = groups
    const name = title.includes('::') ? title.split('::').slice(1).join('.') : title
    const { findings } = this.#findings
    const known = [...findings].find(
      ([, each]) => each.level === 'failure' && (each.title === name || each.title === title),
    )
    const location = defined({ where })
    if (known !== undefined) findings.set(known[0], { ...known[1], title, ...location })
    else {
      const detail = message === undefined ? [] : [message]
      const at = { line: number, lastLine: number, times: 1 }
      this.#findings.add({ level: 'failure', title, detail, ...at, ...location })
    }
    return true
  }

  #begins(text: string, number: number) {
    const open = this.#open?.rule
    for (const rule of OUTPUT_RULES) {
      const isInside = rule.isWeak === true || (rule.isEcho === true && open?.isEcho !== true)
      if (open !== undefined && isInside) continue
      const match = rule.pattern.exec(text)
      if (match === null) continue
      if (rule.needs === 'numbered' && this.#numbered === undefined) continue
      if (rule.needs === 'path' && this.#path === undefined) continue
      if (rule.isContinued === true && open === rule) return false
      this.#openWith(rule, match.groups ?? {}, number)
      return true
    }
    return false
  }

  #openWith(rule: OutputRule, groups: Groups, number: number) {
    // Must not take a line that belongs to another finding.
    const before =
      this.#open === undefined ? rule.before?.exec(this.#lineBefore)?.groups : undefined
    this.#close()
    const level = groups.level === undefined ? rule.level : levelOf(groups.level)
    // A note belongs to the finding before it.
    if (level === undefined) return
    this.#open = {
      rule,
      line: number,
      lastLine: number,
      level,
      title: groups.title,
      where: locationIn(
        rule.needs === 'path' ? { ...groups, file: this.#path } : (before ?? groups),
      ),
      detail: [groups.message ?? before?.d ?? []].flat(),
      left: rule.lines ?? 0,
    }
    if (this.#open.left === 0) this.#close()
  }

  #follow(text: string, number: number) {
    const open = this.#open
    if (open === undefined) return
    const { drop, until, detail } = open.rule
    if (drop?.test(text) === true) {
      this.#open = undefined
      return
    }
    if (until?.test(text) === true) return this.#close()
    open.left -= 1
    open.lastLine = number
    const wasNamed = open.title !== undefined
    this.#readLine(open, text)
    const isNamedAtEnd = !wasNamed && open.title !== undefined && detail === undefined
    if (open.left <= 0 || isNamedAtEnd) this.#close()
  }

  #readLine(open: OpenFinding, text: string) {
    const { title, detail, where, usesLastLocation, needs, most = 1 } = open.rule
    const location = where?.exec(text)?.groups
    if (location !== undefined && (open.where === undefined || usesLastLocation === true)) {
      const found = locationIn(location)
      if (found !== undefined && !LIBRARY_FRAME.test(text)) open.where = found
    }
    if (title !== undefined && open.title === undefined) {
      open.title = title.exec(text)?.groups?.title
      return
    }
    // Mocha prints each part of a test name on its own line, the last with a colon.
    const isMocha = needs === 'numbered' && this.#numbered === 'mocha' && open.detail.length === 0
    if (isMocha && open.title?.endsWith(':') === false && text.trim() !== '') {
      open.title = `${open.title} > ${text.trim()}`
      return
    }
    const match = detail === undefined || open.detail.length >= most ? null : detail.exec(text)
    if (match !== null) open.detail.push((match.groups?.d ?? match[0]).trim())
  }

  #close() {
    const open = this.#open
    this.#open = undefined
    if (open?.title === undefined) return
    const { rule, line, lastLine, where } = open
    if (rule.needsLocation === true && where === undefined) return
    const level = where === undefined ? undefined : rule.located
    const findings = rule.isEcho === true && level === undefined ? this.#echoes : this.#findings
    findings.add({
      level: level ?? open.level,
      title: this.#shorten(open.title.replace(/:$/, '')),
      detail: open.detail.map((text) => this.#shorten(text)),
      line,
      lastLine,
      times: 1,
      ...defined({ where: where === undefined ? undefined : this.#shorten(where) }),
    })
  }

  #shorten(text: string) {
    const local = text.replaceAll('file:///', '/')
    return (this.#base === undefined ? local : local.replaceAll(this.#base, '')).slice(
      0,
      MAX_LENGTH,
    )
  }
}

function locationIn({ where, file, line, col }: Groups) {
  if (where !== undefined) return where
  if (file === undefined || line === undefined) return undefined
  return col === undefined ? `${file}:${line}` : `${file}:${line}:${col}`
}
