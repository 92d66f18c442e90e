// Texts that others wrote, as an agent in a run is given them: between tags that nothing inside can close, cut where they are
// too long and said so, and without a line that could pass for the beginning of another task.
import { safeLine, safePassage } from '../../text/safe-text.ts'
import { shorten } from '../../text/clean.ts'
import { code } from '../../context/handoff/markdown.ts'
import type { Task } from '../../backlog/task.ts'

type Tag = 'task' | 'command' | 'profile' | 'project' | 'file' | 'output' | 'handoff'

/** A text between tags. The attribute says which file or profile it is. */
export function quoted(tag: Tag, text: string, of?: { readonly [name: string]: string }): string {
  const attributes = Object.entries(of ?? {}).map(
    ([name, value]) => ` ${name}="${safeLine(value).replaceAll(/["<>]/g, '')}"`,
  )
  return `<stint-${tag}${attributes.join('')}>\n${text}\n</stint-${tag}>`
}

/** What somebody wants done. A heading in it is no heading of ours. */
export function wish(text: string): string {
  return data(text).replaceAll(HEADING, String.raw`$1\$2`)
}

/** One line of it, for a list. */
export function listed(text: string, characters: number): string {
  return shorten(wish(safeLine(text)), characters)
}

/** What a file or a program says. Its headings and comments stay, except one that would begin a task. */
export function data(text: string): string {
  return beginningNoTask(safePassage(text))
}

/** A text that was made safe where it was made, tags of ours included. */
export function beginningNoTask(text: string): string {
  return text.replaceAll(TASK_LINE, String.raw`$1\$2`)
}

// A reader takes the other signs that look so, and a quotation or a list around it, for the same.
const SIGN = '[#＃﹟]'
const HEADING = new RegExp(String.raw`^([\s>*+-]*)(${SIGN}{1,6}(?=\s|$))`, 'gmu')
const TASK_LINE = new RegExp(String.raw`^([\s>*+-]*)(${SIGN}{1,6}\s*task(?![a-z]))`, 'gimu')

/** The beginning of a text, up to the end of a line where one is near. */
export function beginningOf(text: string, characters: number, rest: string): string {
  if (text.length <= characters) return text
  const piece = wellFormed(text.slice(0, characters))
  const end = piece.lastIndexOf('\n')
  const kept = end > characters / 2 ? piece.slice(0, end) : piece
  return `${kept}\n[cut here: ${kept.length} of ${text.length} characters; ${rest}]`
}

/** The end of a text, from the beginning of a line where one is near. */
export function endOf(text: string, characters: number): string {
  if (text.length <= characters) return text
  const piece = wellFormed(text.slice(-characters))
  const start = piece.indexOf('\n') + 1
  const kept = start > 0 && start < characters / 2 ? piece.slice(start) : piece
  return `[cut here: the last ${kept.length} of ${text.length} characters]\n${kept}`
}

/** A cut may go through a character, and half of one is none. */
function wellFormed(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]/, '').replace(/[\uD800-\uDBFF]$/, '')
}

const LONGEST_COMMAND = 2000

/** A command behind the words that name it: as code where it is one line, else in lines of its own, which mean something. */
export function commandText(command: string): string {
  const trimmed = command.trim()
  if (!/[\n\r]/.test(trimmed)) return ` ${code(safeLine(trimmed))}`
  return `\n${quoted('command', beginningOf(wish(trimmed), LONGEST_COMMAND, 'the run runs all of it'))}`
}

/** More than a handoff ever is. */
const LONGEST_DOCUMENT = 40_000

/** What the conversation before left for the next one. */
export function handoffText(document: string): string {
  const text = beginningOf(data(document), LONGEST_DOCUMENT, '`stint handoff show` has all of it')
  return `What the conversation before left for you; look before you rely on it:\n${quoted('handoff', text)}`
}

/** The commands by which an agent reports on the task it calls so. */
export function doneCommand(name: string): string {
  return `\`stint task done ${name} --summary "what you did"\``
}

export function notDoneCommands(name: string): string {
  return `\`stint task blocked ${name} --summary "what is missing"\` or \`stint task failed ${name} --summary "why"\``
}

/** What the texts about a task need of it. */
export type PromptTask = Pick<
  Task,
  'shortname' | 'title' | 'description' | 'details' | 'checklist' | 'verify'
>

const LONGEST_TITLE = 200

/** What the agent calls the task: one word, that a shell takes for one. */
export function nameOf(task: Pick<Task, 'shortname'>): string {
  return (
    safeLine(task.shortname)
      .replaceAll(/[^\w./-]+/g, '-')
      .replaceAll(/^-+|-+$/g, '') || 'task'
  )
}

/** The line that every text about a task begins with, and no other. */
export function taskHead(task: Pick<Task, 'shortname' | 'title'>): string {
  const title = shorten(safeLine(task.title), LONGEST_TITLE)
  return `# Task ${nameOf(task)}: ${title}`
}
