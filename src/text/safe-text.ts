// Injected text must not look like the end of the fence, our delivery marker or a harness message.
import { cleanText } from './clean.ts'
import { INVISIBLE } from './printable.ts'

const MAX_READ = 1000

export function safeLine(text: string): string {
  const start = text.trimStart()
  const line = neutralizeTags(
    removeInvisible(start.slice(0, MAX_READ)).replaceAll(/\s+/g, ' ').trim(),
  )
  return start.length > MAX_READ ? `${line}…` : line
}

/** Lines keep their indentation. */
export function safePassage(text: string): string {
  return neutralizeTags(removeInvisible(text))
}

function removeInvisible(text: string) {
  const clean = cleanText(text)
  return isAscii(clean) ? clean : clean.replaceAll(INVISIBLE, '')
}

/** Idempotent. */
export function neutralizeTags(line: string): string {
  const tagless = /[<＜﹤]/.test(line) ? line.replaceAll(TAG, '‹') : line
  return /[[［]/.test(tagless) ? tagless.replaceAll(MARKER_START, '(') : tagless
}

function isAscii(text: string) {
  return /^[\n\t -~]*$/.test(text)
}

// A model reads past joiners and combining marks, so a tag spelled with them counts as a tag.
const FILLER = String.raw`\s\u0300-\u036F\u1AB0-\u1AFF\u1DC0-\u1DFF\u200C\u200D\u20D0-\u20FF\uFE0F\uFE20-\uFE2F\uFFF9-\uFFFB`
const spelled = (word: string) => [...word].join(`[${FILLER}]*`)
const HARNESS = ['task-not', 'bash-not', 'agent-not', 'teammate', 'local-command', 'command-']
const NAMES = ['stint', 'system', 'function', 'antml', 'invoke', ...HARNESS].map(spelled).join('|')
const TAG = new RegExp(String.raw`[<＜﹤](?=[${FILLER}/\\]*(?:${NAMES}))`, 'gi')
const MARKER_START = new RegExp(
  String.raw`[[［](?=[${FILLER}]*${spelled('stint')}[${FILLER}]*[:：])`,
  'gi',
)
