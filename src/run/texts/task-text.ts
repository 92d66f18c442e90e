// A task as it is put to the agent: its own text and nothing that the conversation has had already.
import { commandText } from './command-text.ts'
import { beginningNoTask, beginningOf, data, listed, quoted, wish } from './quoted.ts'
import { type PromptTask, nameOf, taskHead } from './task-head.ts'

export interface TaskExtra {
  /** The tasks it depends on, which are done, with what was said of them. */
  readonly dependsOn?: readonly { readonly name: string; readonly summary?: string }[]
  /** The profile it is to be done by, if this conversation has not had it. */
  readonly profile?: { readonly name: string; readonly body: string }
  /** The profile it is to be done by, which this conversation has had. */
  readonly profileAgain?: string
  /** The verify command that the set-up named. */
  readonly usualVerify?: string
  /** What goes behind an order that somebody else gave: what they know, and what is to be brought forth. */
  readonly brief?: string
}

const LONGEST_TEXT = 24_000
const LONGEST_LINE = 400
const MOST_ITEMS = 60

export function taskText(task: PromptTask, extra: TaskExtra = {}): string {
  return [taskHead(task), ...taskParts(task, extra)].join('\n\n')
}

/** What stands under the first line. */
export function taskParts(task: PromptTask, extra: TaskExtra): readonly string[] {
  return [
    wanted(task),
    beginningNoTask(extra.brief ?? ''),
    criteria(task),
    verifying(task, extra),
    dependencies(extra),
    profile(extra),
  ].filter((part) => part !== '')
}

function wanted(task: PromptTask): string {
  const text = [task.description, task.details].filter((part) => part.trim() !== '').join('\n\n')
  if (text === '' || text.trim() === task.title.trim()) return ''
  return quoted(
    'task',
    beginningOf(wish(text), LONGEST_TEXT, `\`stint task show ${nameOf(task)}\` has all of it`),
  )
}

function criteria(task: PromptTask): string {
  if (task.checklist.length === 0) return ''
  const shown = task.checklist.slice(0, MOST_ITEMS)
  const lines = shown.map(
    ({ item, done }, index) => `${index + 1}. [${done ? 'x' : ' '}] ${listed(item, LONGEST_LINE)}`,
  )
  const more = task.checklist.length - shown.length
  return [
    `Acceptance criteria (tick with \`stint task check ${nameOf(task)} N\`):`,
    ...lines,
    ...(more === 0 ? [] : [`… and ${more} more: \`stint task show ${nameOf(task)}\``]),
  ].join('\n')
}

function verifying({ verify = '' }: PromptTask, { usualVerify }: TaskExtra): string {
  if (verify.trim() === '' || verify.trim() === usualVerify?.trim()) return ''
  return `Verify command of this task:${commandText(verify)}`
}

function dependencies({ dependsOn = [] }: TaskExtra): string {
  if (dependsOn.length === 0) return ''
  const lines = dependsOn.map(
    ({ name, summary = '' }) =>
      `- ${listed(name, LONGEST_LINE)}${summary === '' ? '' : `: ${listed(summary, LONGEST_LINE)}`}`,
  )
  return ['Done before, on this branch:', ...lines].join('\n')
}

function profile({ profile: fresh, profileAgain }: TaskExtra): string {
  if (fresh !== undefined) {
    const { name, body } = fresh
    return `Work as this profile says:\n${quoted('profile', beginningOf(data(body), LONGEST_TEXT, 'its file has all of it'), { name })}`
  }
  return profileAgain === undefined ? '' : `Profile: ${listed(profileAgain, LONGEST_LINE)}`
}
