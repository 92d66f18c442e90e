// What is put before a model was written by people, agents and programs. Whatever in it could pass for the end of the
// record, for another record, for our mark or for the harness speaking is made to look like what it is: text.
import { cleanText } from './clean.ts'

/** More than is ever shown of one text, so that a huge one is not cleaned whole. */
const READ = 1000

/** A text on one line, of what can be seen alone, that cannot be taken for anything but text. */
export function safeLine(text: string): string {
  const start = text.trimStart()
  const line = harmless(visible(start.slice(0, READ)).replaceAll(/\s+/g, ' ').trim())
  return start.length > READ ? `${line}…` : line
}

/** The same for a text of several lines, which keep their beginnings. How long it may be is for the caller to say. */
export function safePassage(text: string): string {
  return harmless(visible(text))
}

function visible(text: string): string {
  const clean = cleanText(text)
  // A pattern over all of Unicode takes milliseconds to prepare, and most texts do not need it.
  return isPlain(clean) ? clean : clean.replaceAll(UNSEEN, '')
}

/** The same characters with those replaced that would make a tag or a mark of it. Doing it twice changes nothing. */
export function harmless(line: string): string {
  const tagless = /[<＜﹤]/.test(line) ? line.replaceAll(TAG, '‹') : line
  return /[[［]/.test(tagless) ? tagless.replaceAll(MARK, '(') : tagless
}

function isPlain(text: string): boolean {
  return /^[\n\t -~]*$/.test(text)
}

// All that takes no room can hide in a word; joiners and the emoji style are left, which scripts and emoji need.
const UNSEEN = /(?!\u200C|\u200D|\uFE0F)[\p{Default_Ignorable_Code_Point}\p{Co}]/gu

// A reader looks past joiners and marks, so a tag spelled with them between its letters is a tag.
const FILLER = String.raw`\s\u0300-\u036F\u1AB0-\u1AFF\u1DC0-\u1DFF\u200C\u200D\u20D0-\u20FF\uFE0F\uFE20-\uFE2F\uFFF9-\uFFFB`
const spelled = (word: string) => [...word].join(`[${FILLER}]*`)
/** How our fence begins, and the tags in which harnesses speak to a model. */
const HARNESS = ['task-not', 'bash-not', 'agent-not', 'teammate', 'local-command', 'command-']
const NAMES = ['stint', 'system', 'function', 'antml', 'invoke', ...HARNESS].map(spelled).join('|')
const TAG = new RegExp(String.raw`[<＜﹤](?=[${FILLER}/\\]*(?:${NAMES}))`, 'gi')
const MARK = new RegExp(String.raw`[[［](?=[${FILLER}]*${spelled('stint')}[${FILLER}]*[:：])`, 'gi')
