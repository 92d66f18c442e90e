// Injected text must not pass for the end of the record, for our marker or for the harness speaking.
import { cleanText } from './clean.ts'

/** More than is ever shown of one text. */
const READ = 1000

export function safeLine(text: string): string {
  const start = text.trimStart()
  const line = neutralizeTags(visible(start.slice(0, READ)).replaceAll(/\s+/g, ' ').trim())
  return start.length > READ ? `${line}…` : line
}

/** Lines keep their indentation. */
export function safePassage(text: string): string {
  return neutralizeTags(visible(text))
}

function visible(text: string) {
  const clean = cleanText(text)
  // A pattern over all of Unicode takes milliseconds to compile, and most texts do not need it.
  return isPlain(clean) ? clean : clean.replaceAll(UNSEEN, '')
}

/** Idempotent. */
export function neutralizeTags(line: string): string {
  const tagless = /[<＜﹤]/.test(line) ? line.replaceAll(TAG, '‹') : line
  return /[[［]/.test(tagless) ? tagless.replaceAll(MARK, '(') : tagless
}

function isPlain(text: string) {
  return /^[\n\t -~]*$/.test(text)
}

// Zero-width characters can hide in a word; scripts and emoji need joiners and the emoji style.
const UNSEEN = /(?!\u200C|\u200D|\uFE0F)[\p{Default_Ignorable_Code_Point}\p{Co}]/gu

// A reader sees past joiners and marks, so a tag spelled with them is a tag.
const FILLER = String.raw`\s\u0300-\u036F\u1AB0-\u1AFF\u1DC0-\u1DFF\u200C\u200D\u20D0-\u20FF\uFE0F\uFE20-\uFE2F\uFFF9-\uFFFB`
const spelled = (word: string) => [...word].join(`[${FILLER}]*`)
const HARNESS = ['task-not', 'bash-not', 'agent-not', 'teammate', 'local-command', 'command-']
const NAMES = ['stint', 'system', 'function', 'antml', 'invoke', ...HARNESS].map(spelled).join('|')
const TAG = new RegExp(String.raw`[<＜﹤](?=[${FILLER}/\\]*(?:${NAMES}))`, 'gi')
const MARK = new RegExp(String.raw`[[［](?=[${FILLER}]*${spelled('stint')}[${FILLER}]*[:：])`, 'gi')
