import type { Task } from '../../backlog/task.ts'
import {
  LEFT_OUT_ROOM,
  VIEW_COMMANDS,
  bullets,
  describeLeftOut,
  leftOutLines,
  sectionFrame,
  shareRoom,
} from '../../context/section.ts'
import { costOfAll, shortenToCost } from '../../context/text-size.ts'
import { fenceLines, fenced } from '../../context/fence.ts'
import { sectionGroups } from '../../context/session-sections.ts'
import { redaction } from '../../project/store/clean-draft.ts'
import { nameForFiles } from '../../project/store/live-session.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { currentLeaf } from '../../session/kinds/phases.ts'
import type { SessionState } from '../../session/state.ts'
import { redactDeep } from '../../text/redact.ts'
import { safeLine, safePassage } from '../../text/safe-text.ts'
import { TOKEN_MARGIN } from '../../text/tokens.ts'
import { withJournal } from './parent-journal.ts'

interface BriefRequest {
  readonly name: string
  readonly what: string
  readonly as?: string
  readonly files?: readonly string[]
  readonly output?: string
  readonly isReadOnly: boolean
  readonly task?: Task
}

export const BRIEF_TOKENS = 1200

export const REPORT_FILE = 'REPORT.md'

export async function briefFor(
  workspace: Workspace,
  request: BriefRequest,
  parent: string | undefined,
) {
  const secrets = redaction(workspace.config)
  const asked = redactDeep(request, secrets).value
  const state = await withJournal(workspace, parent, async (session) => {
    const { state: known } = await workspace.refreshIfPossible(session)
    return redactDeep(known, secrets).value
  })
  const output = ['## Output', ...outputLines(asked)]
  const room = BRIEF_TOKENS - TOKEN_MARGIN - costOfAll(['', ...output])
  const context = contextLines(asked.files ?? [], state, room)
  const before = context.length === 0 ? [] : [...context, '']
  const title = `# Background Task: ${shortenToCost(safeLine(asked.what), 30) || asked.name}`
  const task = ['## Task', ...taskLines(asked), '']
  return {
    brief: [...before, ...output].join('\n'),
    file: [title, '', ...before, ...task, ...output, ''].join('\n'),
  }
}

function contextLines(files: readonly string[], state: SessionState | undefined, room: number) {
  const heading = ['## Context']
  if (state !== undefined)
    heading.push(`- Feature: ${shortenToCost(safeLine(state.title || state.name), 40)}`)
  if (state?.workflow !== undefined) {
    const { id, name } = currentLeaf(state.workflow).leaf
    heading.push(`- Phase: ${shortenToCost(safeLine(`${id} (${name})`), 30)}`)
  }
  if (files.length > 0) heading.push(filesLine(files))
  if (heading.length === 1) return []
  if (state === undefined) return heading
  return [...heading, '', ...recordLines(state, room - costOfAll([...heading, '']))]
}

const FILES_ROOM = 150

function filesLine(files: readonly string[]) {
  const safe = files.map(safeLine)
  for (let shown = safe.length; shown > 1; shown -= 1) {
    const more = safe.length - shown
    const line = `- Files: ${safe.slice(0, shown).join(', ')}${more === 0 ? '' : ` and ${more} more`}`
    if (costOfAll([line]) <= FILES_ROOM) return line
  }
  return shortenToCost(`- Files: ${safe.join(', ')}`, FILES_ROOM)
}

const SECTIONS: ReadonlySet<string> = new Set([
  'objective',
  'lines of key context',
  'decisions',
  'rulings',
  'lines drawn at checkpoints',
  'key files',
  'TL;DR',
  'progress',
  'open blockers',
])

function recordLines(state: SessionState, room: number) {
  const gotchas = state.discoveries.items.filter(({ gotcha }) => gotcha).map(({ text }) => text)
  const { intro, head, status, openWork, recorded } = sectionGroups(state)
  const sections = [
    ...[...intro, ...head, ...status, ...openWork, ...recorded].filter(({ things }) =>
      SECTIONS.has(things),
    ),
    bullets(gotchas, sectionFrame('Gotchas:', 'gotchas', VIEW_COMMANDS.discoveries, [4, 60, 200])),
  ]
  const fitted = shareRoom(sections, room - costOfAll(fenceLines(state)) - LEFT_OUT_ROOM)
  // The delegate has a session of its own, so the command has to name this one.
  const leftOut = describeLeftOut(fitted).map((command) =>
    command.replace(/^stint view/, `stint view ${nameForFiles(state)}`),
  )
  const lines = [...fitted.flatMap((section) => section.lines), ...leftOutLines(leftOut)]
  return fenced(state, lines).text.split('\n')
}

function taskLines({ task, what }: BriefRequest) {
  const order = safePassage(what).trim()
  if (task === undefined) return [order]
  const description = safePassage(task.description).trim()
  return [
    order,
    '',
    `Task of the backlog: ${safeLine(task.shortname)}, ${safeLine(task.title)}`,
    ...(description === '' || description === order ? [] : ['', description]),
    ...task.checklist.map(({ item, done }) => `- [${done ? 'x' : ' '}] ${safeLine(item)}`),
  ]
}

function outputLines({ isReadOnly, output }: BriefRequest) {
  if (!isReadOnly && output === undefined)
    return ['What the task asks for, committed on this branch.']
  return [
    `Write to: ${safeLine(output ?? REPORT_FILE)}`,
    isReadOnly
      ? 'This is the report, a path from the root of the worktree. Do not commit it, and change nothing else.'
      : 'A path from the root of the worktree. It has to be committed.',
  ]
}
