import { defined } from '../../text/defined.ts'
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
  /** The lines of the output it begins and ends at, from 1. */
  readonly line: number
  readonly lastLine: number
  readonly times: number
}

const MOST_OF_A_LEVEL = 200

class Findings {
  readonly kept = new Map<string, Finding>()
  readonly counts: Record<FindingLevel, number> = { failure: 0, error: 0, warning: 0 }
  readonly #keptOf: Record<FindingLevel, number> = { failure: 0, error: 0, warning: 0 }

  add(finding: Finding): void {
    const { level, title, where, times } = finding
    const key = `${level}\0${title}\0${where ?? ''}`
    const known = this.kept.get(key)
    // A runner that prints a failure again at its end has not failed twice.
    if (known !== undefined && level === 'failure') return
    this.counts[level] += times
    if (known !== undefined) this.kept.set(key, { ...known, times: known.times + times })
    else if (this.#keptOf[level] < MOST_OF_A_LEVEL) {
      this.#keptOf[level] += 1
      this.kept.set(key, finding)
    }
  }
}

const LONGEST = 300

/** Other words belong to a finding and begin none. */
function levelOf(word: string) {
  if (/^(?:(?:fatal )?error|fatal|e|×|x)$/i.test(word)) return 'error'
  return /^(?:warn(?:ing)?|w|⚠|!)$/i.test(word) ? 'warning' : undefined
}

const FOREIGN =
  /node_modules|(?:^|[/(])node:|\/rustc\/|\/(?:site|dist)-packages\/|\/lib\/python\d|\.cargo\/registry|\/usr\/(?:lib|local\/go|share)\/|\/go\/pkg\/mod\/|\bat (?:\S+\/\/)?(?:org\.junit|org\.opentest4j|org\.hamcrest|org\.assertj|java|jdk|sun|kotlin)\./

const ONLY_A_PATH = /^[^\s:'"]+\.[A-Za-z]\w{0,5}$/

interface Open {
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
  /** Failures that a runner only names; used when it never tells more of them. */
  readonly #echoes = new Findings()
  readonly #base: string | undefined
  #open: Open | undefined
  /** A linter's heading. */
  #path: string | undefined
  #numbered: 'mocha' | 'other' | undefined
  #lineBefore = ''

  constructor(base?: string) {
    this.#base = base === undefined || base === '/' ? undefined : `${base}/`
  }

  line(written: string, number: number, mayBegin: boolean): void {
    // BuildKit writes before each line which step it is from, and when.
    const text = written.startsWith('#') ? written.replace(/^#\d+ [\d.]+ /, '') : written
    if (!mayBegin || !(this.#sumsUp(text, number) || this.#begins(text, number)))
      this.#follow(text, number)
    if (NUMBERED_FAILURES.test(text)) this.#numbered = text.endsWith('failing') ? 'mocha' : 'other'
    if (ONLY_A_PATH.test(text)) this.#path = text
    if (text !== '') this.#lineBefore = text
  }

  finish(): { findings: readonly Finding[]; counts: Readonly<Record<FindingLevel, number>> } {
    this.#close()
    const { kept, counts } = this.#findings
    const all = [...kept.values()]
    // A test whose parts failed says nothing that they do not.
    for (const [key, { level, title, detail, times }] of kept) {
      if (level !== 'failure' || detail.length > 0) continue
      if (!all.some((other) => other.title.startsWith(`${title}/`))) continue
      kept.delete(key)
      counts.failure -= times
    }
    if (counts.failure === 0)
      for (const echo of this.#echoes.kept.values()) this.#findings.add(echo)
    return { findings: [...kept.values()], counts }
  }

  #sumsUp(text: string, number: number) {
    const groups = (PYTEST_NODE.exec(text) ?? RSPEC_EXAMPLE.exec(text))?.groups as
      | Groups
      | undefined
    if (groups?.title === undefined) return false
    this.#close()
    const { title, message, where } = groups
    const name = title.includes('::') ? title.split('::').slice(1).join('.') : title
    const { kept } = this.#findings
    const known = [...kept].find(
      ([, each]) => each.level === 'failure' && (each.title === name || each.title === title),
    )
    const place = defined({ where })
    if (known !== undefined) kept.set(known[0], { ...known[1], title, ...place })
    else {
      const detail = message === undefined ? [] : [message]
      const at = { line: number, lastLine: number, times: 1 }
      this.#findings.add({ level: 'failure', title, detail, ...at, ...place })
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
    // What belongs to another finding is not taken from it.
    const before =
      this.#open === undefined ? rule.before?.exec(this.#lineBefore)?.groups : undefined
    this.#close()
    const level = groups.level === undefined ? rule.level : levelOf(groups.level)
    // A note belongs to what stood before it.
    if (level === undefined) return
    this.#open = {
      rule,
      line: number,
      lastLine: number,
      level,
      title: groups.title,
      where: placeIn(rule.needs === 'path' ? { ...groups, file: this.#path } : (before ?? groups)),
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
    this.#take(open, text)
    const isNamedAtEnd = !wasNamed && open.title !== undefined && detail === undefined
    if (open.left <= 0 || isNamedAtEnd) this.#close()
  }

  #take(open: Open, text: string) {
    const { title, detail, where, isLastPlace, needs, most = 1 } = open.rule
    const place = where?.exec(text)?.groups
    if (place !== undefined && (open.where === undefined || isLastPlace === true)) {
      const found = placeIn(place)
      if (found !== undefined && !FOREIGN.test(text)) open.where = found
    }
    if (title !== undefined && open.title === undefined) {
      open.title = title.exec(text)?.groups?.title
      return
    }
    // Mocha writes each part of a name on a line of its own, the last with a colon.
    const isMocha = needs === 'numbered' && this.#numbered === 'mocha' && open.detail.length === 0
    if (isMocha && open.title?.endsWith(':') === false && text.trim() !== '') {
      open.title = `${open.title} > ${text.trim()}`
      return
    }
    const said = detail === undefined || open.detail.length >= most ? null : detail.exec(text)
    if (said !== null) open.detail.push((said.groups?.d ?? said[0]).trim())
  }

  #close() {
    const open = this.#open
    this.#open = undefined
    if (open?.title === undefined) return
    const { rule, line, lastLine, where } = open
    if (rule.needsPlace === true && where === undefined) return
    const level = where === undefined ? undefined : rule.located
    const findings = rule.isEcho === true && level === undefined ? this.#echoes : this.#findings
    findings.add({
      level: level ?? open.level,
      title: this.#shown(open.title.replace(/:$/, '')),
      detail: open.detail.map((text) => this.#shown(text)),
      line,
      lastLine,
      times: 1,
      ...defined({ where: where === undefined ? undefined : this.#shown(where) }),
    })
  }

  #shown(text: string) {
    const local = text.replaceAll('file:///', '/')
    return (this.#base === undefined ? local : local.replaceAll(this.#base, '')).slice(0, LONGEST)
  }
}

function placeIn({ where, file, line, col }: Groups) {
  if (where !== undefined) return where
  if (file === undefined || line === undefined) return undefined
  return col === undefined ? `${file}:${line}` : `${file}:${line}:${col}`
}
