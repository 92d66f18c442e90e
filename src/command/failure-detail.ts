import { withoutInvisible } from './withhold-instructions.ts'

/**
 * What the assertion expected and got, in one line. `block` is the part of the output about one
 * failed test.
 */
export function assertionIn(block: readonly string[]): string | undefined {
  const lines = block.map((line) => line.trim())
  return fromFields(lines) ?? fromComparison(lines) ?? fromSentence(lines) ?? fromLegend(lines)
}

const EXPECTED = /^(?:expected|wanted|want|expected value)\s*:\s*(\S.*)$/i
const ACTUAL = /^(?:actual|received|got|found|received value)\s*:\s*(\S.*)$/i
const OTHER_OPERATOR = /^operator: '(?!(?:strictEqual|deepStrictEqual|equal|deepEqual|==|===)')/

function fromFields(lines: readonly string[]) {
  if (lines.some((line) => OTHER_OPERATOR.test(line))) return undefined
  const expected = firstValue(lines, EXPECTED)
  const actual = firstValue(lines, ACTUAL)
  if (expected !== undefined && actual !== undefined) return sentence(expected, actual)
  const left = firstValue(lines, /^left: (\S.*)$/)
  const right = firstValue(lines, /^right: (\S.*)$/)
  return left === undefined || right === undefined ? undefined : `left ${left}, right ${right}`
}

function firstValue(lines: readonly string[], pattern: RegExp) {
  for (const line of lines) {
    const value = pattern.exec(line)?.[1]?.replace(/,$/, '').trim()
    if (value === undefined) continue
    // The start of a value that goes on over several lines is not the value.
    return /^(?:[|>][-+]?|[[{(`]|\w+ [[{])$/.test(value) ? undefined : value
  }
  return undefined
}

function fromComparison(lines: readonly string[]) {
  for (const line of lines) {
    const [actual, expected, ...more] = line.split(' !== ')
    if (actual === undefined || expected === undefined || more.length > 0) continue
    // A line of source has a number or a call in front.
    if (actual.length < 120 && !/^(?:>?\s*\d+ ?\||.*\bif ?\()/.test(actual))
      return sentence(expected, actual)
  }
  return undefined
}

/** Runners disagree on which sign is which, and say so above the difference. */
function fromLegend(lines: readonly string[]) {
  const legend = lines.findIndex((line) =>
    /^(?:\+ actual - expected|\+ expected - actual|- Expected\b.*|--- Expected)/.test(line),
  )
  if (legend === -1) return undefined
  const isSwapped = lines[legend]!.startsWith('+ expected')
  const after = lines.slice(legend + 1, legend + 30)
  const signed = (sign: string) =>
    after
      .find((line) => line.startsWith(sign) && line.length > 1 && !LEGEND.test(line))
      ?.slice(1)
      .trim()
      .replace(/,$/, '')
  const plus = signed('+')
  const minus = signed('-')
  if (plus === undefined || minus === undefined) return undefined
  return isSwapped ? sentence(plus, minus) : sentence(minus, plus)
}

const LEGEND = /^[+-] (?:expected|received|actual)\b|^[+-]{3}/i

function fromSentence(lines: readonly string[]) {
  for (const line of lines) {
    const chai =
      /^(?:\w*Error: )?expected (.{1,120}?) to (?:strictly |deeply |deep |strict |loosely )?(?:be|equal|eql) (.{1,160})$/.exec(
        line,
      )
    if (
      chai !== null &&
      // Long values are cut in the sentence, and whole in the difference below it.
      !/…|\.\.\.|Object \(|Array\(/.test(line) &&
      !/^(?:a|an|true|false|undefined|null|NaN|one of|close|above|below|at|greater|less)\b/.test(
        chai[2]!,
      )
    )
      return sentence(chai[2]!.replace(/ \/\/ Object\.is equality$/, ''), chai[1]!)
    const junit = /expected:\s?<(.{0,100}?)> but was:\s?<(.{0,100}?)>/.exec(line)
    if (junit !== null) return sentence(junit[1]!, junit[2]!)
  }
  return undefined
}

function sentence(expected: string, actual: string) {
  return `expected ${bare(expected)}, got ${bare(actual)}`
}

function bare(value: string) {
  return oneLineOf(value).slice(0, 110)
}

const LIBRARY = /node_modules|node:|\/(?:site|dist)-packages\/|\(<anonymous>\)/

/** The first frame of a JavaScript trace that is in the project. */
export function frameIn(lines: readonly string[]): string | undefined {
  for (const line of lines) {
    const place = /^\s+at (?:.{0,200}[( ])?((?:file:\/\/)?[^()\s]{1,300}:\d+:\d+)\)?(?: \{)?$/.exec(
      line,
    )?.[1]
    if (place !== undefined && !LIBRARY.test(line)) return place
  }
  return undefined
}

export function oneLineOf(text: string): string {
  return withoutInvisible(text).replace(/\s+/g, ' ').trim()
}
