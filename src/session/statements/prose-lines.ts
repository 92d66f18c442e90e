// A prompt often contains pasted output. None of it is something the user or the agent states.
import { lazily } from '../../text/lazily.ts'
import { isLogLine } from '../../text/log-line.ts'

const MAX_LENGTH = 16_000
const MAX_TAIL = 4000

/** A paragraph or a list item. */
export interface ProseLine {
  readonly text: string
  readonly isItem: boolean
}

/** The lines of prose in a message, with soft line breaks removed. */
export function proseLines(message: string): readonly ProseLine[] {
  const lines: ProseLine[] = []
  let fence = ''
  let last: { text: string; isItem: boolean } | undefined
  for (const raw of bounded(message).split('\n')) {
    const line = raw.replaceAll('\t', '    ').trimEnd()
    const text = line.trimStart()
    const mark = /^(?:`{3,}|~{3,})/.exec(text)?.[0] ?? ''
    if (fence !== '' || mark !== '') {
      if (fence === '') fence = mark
      else if (mark.startsWith(fence) && text === mark) fence = ''
      last = undefined
      continue
    }
    if (text === '' || isPasted(line)) {
      last = undefined
      continue
    }
    const item = LIST_MARK().exec(text)
    const body = (item === null ? text : text.slice(item[0].length)).trim()
    if (last !== undefined && item === null && continues(last.text, body)) {
      last.text += ` ${body}`
      continue
    }
    last = { text: body, isItem: item !== null }
    lines.push(last)
  }
  return lines
}

/** Both ends: an order often follows a long pasted text. */
function bounded(message: string) {
  const text = message.replaceAll('\r', '')
  if (text.length <= MAX_LENGTH) return text
  return `${text.slice(0, MAX_LENGTH - MAX_TAIL)}\n${text.slice(-MAX_TAIL)}`
}

/** A line broken by an editor: the line before is long and its sentence is not over. */
function continues(before: string, text: string) {
  return (
    before.length >= 50 && !/[.!?:;。！？…]["'”’)\]]?$/.test(before) && !/^[A-Z]\w*:/.test(text)
  )
}

const LIST_MARK = lazily(
  () => /^(?:[-*•‣◦–]\s+(?:\[[ xX]\]\s+)?|\(?\d{1,2}[.)]\s+|\(?[a-hA-H]\)\s+)/,
)

function isPasted(line: string) {
  const text = line.trimStart()
  if (isLogLine(line) || OUTPUT_LINE().test(text) || /\S{200}/.test(text)) return true
  if (isRow(text) || CODE_LINE().test(text)) return true
  const isIndented = line.length - text.length >= 4
  if (isIndented && !LIST_MARK().test(text) && /[(){}[\];=<>|]/.test(text)) return true
  return symbolShare(text) > 0.3
}

const OUTPUT_LINE = lazily(
  () =>
    /^(?:[✖✗✘✓✔×●○▶❯»│├└╭╰╮╯┌┐┘─━═]|(?:PASS|FAIL|ok|not ok)\s+\S*[/\d]|\w*(?:Error|Exception|Warning)(?:\s*\[\w+\])?:|(?:panic|fatal|error|warning):|[A-Z]:\\\S+>|[\w.-]+@[\w.-]+[:~]|>{1,3}\s|<\/?[a-zA-Z!][^>]{0,200}>|#{1,6}\s|\|)/,
)

const CODE_LINE = lazily(
  () =>
    /^(?:(?:const|let|var|function|import|export|class|def|fn|func|public|private|return|if|for|while|#include|package|select|insert|update|create table)\b[^.!?]*[;{}()=]$|["'][\w-]+["']\s*:|[\w.$]+\([^)]*\)[;{]?$|[\w.$[\]]+\s*[+-]?=\s*\S+;?$|[+-](?![\s\d.])[^\n]*[(){};=])/i,
)

/** A row of a table or of a file with separated values. */
function isRow(text: string) {
  const bars = text.split('|').length - 1
  if (bars >= 2 && (text.endsWith('|') || bars >= 3)) return true
  const cells = text.split(/[;,|\t]/)
  return cells.length >= 3 && !/\s/.test(text.replace(/[;,|\t] /g, ';'))
    ? cells.every((cell) => cell.length < 40) && !/[.!?]$/.test(text)
    : / {3,}\S/.test(text) && text.split(/ {2,}/).length >= 3
}

function symbolShare(text: string) {
  const symbols = text.replaceAll(/[\p{L}\p{N}\s.,'"`’?!:-]/gu, '').length
  return text.length < 12 ? 0 : symbols / text.length
}
