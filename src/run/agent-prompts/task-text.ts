import { safeLine, safePassage } from '../../text/safe-text.ts'
import { codeSpan } from '../../context/handoff/markdown.ts'
import { redact } from '../../text/redact.ts'
import { shorten } from '../../text/clean.ts'
import type { Task } from '../../backlog/task.ts'

export interface TaskExtra {
  /** Completed dependencies with their summaries. */
  readonly dependsOn?: readonly { readonly name: string; readonly summary?: string }[]
  /** Its profile, if this conversation has not had it. */
  readonly profile?: { readonly name: string; readonly body: string }
  readonly profileAgain?: string
  /** The verify command that the set-up named. */
  readonly usualVerify?: string
  /** A delegate's brief, which follows its prompt. */
  readonly brief?: string
}

const LONGEST_TEXT = 24_000
const LONGEST_LINE = 400
const MOST_ITEMS = 60

export function taskText(task: PromptTask, extra: TaskExtra = {}): string {
  return [taskHead(task), ...taskSections(task, extra)].join('\n\n')
}

function taskSections(task: PromptTask, extra: TaskExtra): readonly string[] {
  return [
    descriptionBlock(task),
    escapeTaskHeadings(extra.brief ?? ''),
    criteria(task),
    verifyLine(task, extra),
    dependencies(extra),
    profile(extra),
  ].filter((part) => part !== '')
}

function descriptionBlock(task: PromptTask): string {
  const text = [task.description, task.details].filter((part) => part.trim() !== '').join('\n\n')
  if (text === '' || text.trim() === task.title.trim()) return ''
  return wrapInTag(
    'task',
    truncateText(
      escapeHeadings(text),
      LONGEST_TEXT,
      `\`stint task show ${taskWord(task)}\` has all of it`,
    ),
  )
}

function criteria(task: PromptTask): string {
  if (task.checklist.length === 0) return ''
  const shown = task.checklist.slice(0, MOST_ITEMS)
  const lines = shown.map(
    ({ item, done }, index) =>
      `${index + 1}. [${done ? 'x' : ' '}] ${safeListItem(item, LONGEST_LINE)}`,
  )
  const more = task.checklist.length - shown.length
  return [
    `Acceptance criteria (tick with \`stint task check ${taskWord(task)} N\`):`,
    ...lines,
    ...(more === 0 ? [] : [`… and ${more} more: \`stint task show ${taskWord(task)}\``]),
  ].join('\n')
}

function verifyLine({ verify = '' }: PromptTask, { usualVerify }: TaskExtra): string {
  if (verify.trim() === '' || verify.trim() === usualVerify?.trim()) return ''
  return `Verify command of this task:${commandText(verify)}`
}

function dependencies({ dependsOn = [] }: TaskExtra): string {
  if (dependsOn.length === 0) return ''
  const lines = dependsOn.map(
    ({ name, summary = '' }) =>
      `- ${safeListItem(name, LONGEST_LINE)}${summary === '' ? '' : `: ${safeListItem(summary, LONGEST_LINE)}`}`,
  )
  return ['Done before, on this branch:', ...lines].join('\n')
}

function profile({ profile: fresh, profileAgain }: TaskExtra): string {
  if (fresh !== undefined) {
    const { name, body } = fresh
    return `Work as this profile says:\n${wrapInTag('profile', truncateText(asData(body), LONGEST_TEXT, 'its file has all of it'), { name })}`
  }
  return profileAgain === undefined ? '' : `Profile: ${safeListItem(profileAgain, LONGEST_LINE)}`
}

/** Sent once after a turn without a report. */
export function askForReportText(task: Pick<PromptTask, 'shortname' | 'title'>): string {
  const name = taskWord(task)
  return `${taskHead(task)}

The turn ended without a report. Finish what is left, verify and commit it, then report ${doneCommand(name)}. If it cannot be done: ${notDoneCommands(name)}. Then end the turn.`
}

/** Why an attempt failed. */
export interface TaskFailure {
  readonly reason: string
  /** The agent's report. */
  readonly claimed?: {
    readonly status: 'completed' | 'blocked' | 'failed'
    readonly summary?: string
  }
  readonly verify?: { readonly command: string; readonly exit?: number; readonly output: string }
  readonly uncommitted?: readonly string[]
  /** The target branch it does not merge into, its commit, and the paths in conflict. */
  readonly merge?: {
    readonly target: string
    readonly onto: string
    readonly files: readonly string[]
  }
}

const LONGEST_OUTPUT = 6000
const LONGEST_REASON = 400
const MOST_PATHS = 20

/** Retries the task in the same conversation, with the failure. */
export function retryText(
  task: Pick<PromptTask, 'shortname' | 'title'>,
  failure: TaskFailure,
): string {
  const name = taskWord(task)
  return [
    taskHead(task),
    `This task is not done yet. ${failureText(failure)}`,
    `Mend that, verify and commit, then report again: ${doneCommand(name)}. If it cannot be done: ${notDoneCommands(name)}. Then end the turn.`,
  ].join('\n\n')
}

/** Program output is marked as data, so that it is not read as instructions. */
function failureText({ reason, claimed, verify, uncommitted = [], merge }: TaskFailure): string {
  return [
    `What the run found: ${shorten(safeLine(reason), LONGEST_REASON)}`,
    ...(claimed === undefined ? [] : [claimedLine(claimed)]),
    ...(uncommitted.length === 0 ? [] : [pathsLine('Not committed', uncommitted)]),
    ...(merge === undefined ? [] : mergeLines(merge)),
    ...(verify === undefined ? [] : [verifyResult(verify)]),
  ].join('\n')
}

function claimedLine({ status, summary = '' }: NonNullable<TaskFailure['claimed']>): string {
  const what = { completed: 'done', blocked: 'blocked', failed: 'failed' }[status]
  return `- It was reported as ${what}${summary === '' ? '.' : `: ${shorten(safeLine(summary), LONGEST_REASON)}`}`
}

function mergeLines({ target, onto, files }: NonNullable<TaskFailure['merge']>): readonly string[] {
  const sha = onto.slice(0, 12)
  return [
    ...(files.length === 0 ? [] : [pathsLine('In conflict', files)]),
    `- The work is to go to ${codeSpan(safeLine(target))}, which is at ${sha} now. Run ${codeSpan(`git merge ${sha}`)} here, settle every conflict so that what both sides meant holds, and commit the merge. Do not rebase, and do not touch ${codeSpan(safeLine(target))} itself.`,
  ]
}

function pathsLine(what: string, paths: readonly string[]): string {
  const shown = paths.slice(0, MOST_PATHS).map((path) => codeSpan(safeLine(path)))
  const more = paths.length - shown.length
  return `- ${what}: ${shown.join(', ')}${more === 0 ? '' : ` and ${more} more`}`
}

function verifyResult({ command, exit, output }: NonNullable<TaskFailure['verify']>): string {
  const how =
    exit === undefined ? 'did not end' : exit === 0 ? 'passes' : `fails with exit code ${exit}`
  const shownOutput = truncateStart(redact(asData(output)).text, LONGEST_OUTPUT)
  const line = `- ${codeSpan(safeLine(command))} ${how}`
  return shownOutput === ''
    ? `${line} and prints nothing.`
    : `${line}. The end of what it prints, as data:\n${wrapInTag('output', shownOutput)}`
}

/** For a fresh conversation that takes over a started task. */
export function continueText(
  task: PromptTask,
  { document, failure }: { readonly document?: string; readonly failure?: TaskFailure },
  extra: TaskExtra = {},
): string {
  return [
    taskHead(task),
    ...taskSections(task, extra),
    ...(failure === undefined ? [] : [`${introduction(failure)} ${failureText(failure)}`]),
    ...(document === undefined ? [] : [handoffText(document)]),
    'This task was begun in an earlier conversation. Go on from where the work stands: look at `git log` and `git status` first, and keep what is right.',
  ].join('\n\n')
}

function introduction({ merge }: TaskFailure): string {
  return merge === undefined
    ? 'An earlier conversation tried this task and did not finish it.'
    : 'An earlier conversation finished this task on this branch, but the work does not go in where it is meant for.'
}

/** After a compaction in mid-task: the task, the rules in short, and the fenced session context. */
export function restoreText(
  task: PromptTask,
  { context, verify }: { readonly context: string; readonly verify?: string },
  extra: TaskExtra = {},
): string {
  const name = taskWord(task)
  const run =
    verify === undefined ? 'verify it' : `run ${codeSpan(safeLine(verify))} until it passes`
  return [
    taskText(task, extra),
    `The conversation was compacted in the middle of this task. The rules hold as before: work in this folder only, commit on the current branch, never push, switch branches, rebase, amend or reset, leave \`.sessions/\` and \`.tasks/\` alone. Look at \`git status\` and \`git log\`, go on with the task, ${run}, commit, and report ${doneCommand(name)}. If it cannot be done: ${notDoneCommands(name)}. Then end the turn.`,
    context,
  ].join('\n\n')
}

// Texts that others wrote stand between tags that nothing inside can close, are cut where they are too long, and have no line
// that could pass for the beginning of another task.

type Tag = 'task' | 'command' | 'profile' | 'project' | 'file' | 'output' | 'handoff'

export function wrapInTag(
  tag: Tag,
  text: string,
  of?: { readonly [name: string]: string },
): string {
  const attributes = Object.entries(of ?? {}).map(
    ([name, value]) => ` ${name}="${safeLine(value).replaceAll(/["<>]/g, '')}"`,
  )
  return `<stint-${tag}${attributes.join('')}>\n${text}\n</stint-${tag}>`
}

/** The user's text, with headings escaped so that they do not look like ours. */
function escapeHeadings(text: string): string {
  return asData(text).replaceAll(HEADING, String.raw`$1\$2`)
}

export function safeListItem(text: string, characters: number): string {
  return shorten(escapeHeadings(safeLine(text)), characters)
}

/** Text of a file or program. Its headings stay, except one that looks like a task heading. */
export function asData(text: string): string {
  return escapeTaskHeadings(safePassage(text))
}

function escapeTaskHeadings(text: string): string {
  return text.replaceAll(TASK_LINE, String.raw`$1\$2`)
}

// A model also reads look-alike characters, and headings inside quotes or lists, as headings.
const SIGN = '[#＃﹟]'
const HEADING = new RegExp(String.raw`^([\s>*+-]*)(${SIGN}{1,6}(?=\s|$))`, 'gmu')
const TASK_LINE = new RegExp(String.raw`^([\s>*+-]*)(${SIGN}{1,6}\s*task(?![a-z]))`, 'gimu')

/** Cut at the end of a line where one is near. */
export function truncateText(text: string, characters: number, rest: string): string {
  if (text.length <= characters) return text
  const piece = wellFormed(text.slice(0, characters))
  const end = piece.lastIndexOf('\n')
  const kept = end > characters / 2 ? piece.slice(0, end) : piece
  return `${kept}\n[cut here: ${kept.length} of ${text.length} characters; ${rest}]`
}

function truncateStart(text: string, characters: number): string {
  if (text.length <= characters) return text
  const piece = wellFormed(text.slice(-characters))
  const start = piece.indexOf('\n') + 1
  const kept = start > 0 && start < characters / 2 ? piece.slice(start) : piece
  return `[cut here: the last ${kept.length} of ${text.length} characters]\n${kept}`
}

/** The cut may split a surrogate pair. */
function wellFormed(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]/, '').replace(/[\uD800-\uDBFF]$/, '')
}

const LONGEST_COMMAND = 2000

/** Inline code for one line, else a tagged block. */
export function commandText(command: string): string {
  const trimmed = command.trim()
  if (!/[\n\r]/.test(trimmed)) return ` ${codeSpan(safeLine(trimmed))}`
  return `\n${wrapInTag('command', truncateText(escapeHeadings(trimmed), LONGEST_COMMAND, 'the run runs all of it'))}`
}

const LONGEST_DOCUMENT = 40_000

export function handoffText(document: string): string {
  const text = truncateText(
    asData(document),
    LONGEST_DOCUMENT,
    '`stint handoff show` has all of it',
  )
  return `What the conversation before left for you; look before you rely on it:\n${wrapInTag('handoff', text)}`
}

export function doneCommand(name: string): string {
  return `\`stint task done ${name} --summary "what you did"\``
}

export function notDoneCommands(name: string): string {
  return `\`stint task blocked ${name} --summary "what is missing"\` or \`stint task failed ${name} --summary "why"\``
}

export type PromptTask = Pick<
  Task,
  'shortname' | 'title' | 'description' | 'details' | 'checklist' | 'verify'
>

const LONGEST_TITLE = 200

/** The task's name as one shell word. */
export function taskWord(task: Pick<Task, 'shortname'>): string {
  return (
    safeLine(task.shortname)
      .replaceAll(/[^\w./-]+/g, '-')
      .replaceAll(/^-+|-+$/g, '') || 'task'
  )
}

/** The first line of every task prompt, and of no other text. */
export function taskHead(task: Pick<Task, 'shortname' | 'title'>): string {
  const title = shorten(safeLine(task.title), LONGEST_TITLE)
  return `# Task ${taskWord(task)}: ${title}`
}
