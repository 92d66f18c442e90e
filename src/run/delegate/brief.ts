// What a delegate is given besides its order: what its parent knows, in few words, and what it has to bring forth.
import { costOfAll, shortenToCost } from '../../context/cost.ts'
import { SHOW, from } from '../../context/commands.ts'
import { fenceLines, fenced } from '../../context/fence.ts'
import { LEFT_OUT_ROOM, leftOutLines, leftOutOf } from '../../context/left-out.ts'
import { bullets } from '../../context/lists.ts'
import { safeLine, safePassage } from '../../text/safe-text.ts'
import type { Section } from '../../context/section.ts'
import { settledSections } from '../../context/settled.ts'
import { share } from '../../context/share.ts'
import { standingSections } from '../../context/standing.ts'
import { MARGIN } from '../../text/tokens.ts'
import { redaction } from '../../project/store/clean-draft.ts'
import { nameForFiles } from '../../project/store/live-session.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { SessionState } from '../../session/state.ts'
import { currentPlace } from '../../session/kinds/phases.ts'
import type { Task } from '../../backlog/task.ts'
import { redactDeep } from '../../text/redact.ts'
import { withJournal } from './parent-journal.ts'

export interface BriefRequest {
  readonly name: string
  readonly what: string
  readonly as?: string
  readonly files?: readonly string[]
  readonly output?: string
  readonly isReadOnly: boolean
  readonly task?: Task
}

export interface Brief {
  /** What goes behind the order in a prompt. */
  readonly brief: string
  /** The whole task file, for people and for whoever has only a file to go by. */
  readonly file: string
}

/** The most tokens a brief takes. */
export const BRIEF_TOKENS = 1200

/** Where one that only reads leaves its report, unless it was told otherwise. */
export const REPORT_FILE = 'REPORT.md'

/** Builds the task file of a delegate from its order and from what its parent's journal says, which is given as a record and not as orders. */
export async function briefFor(
  workspace: Workspace,
  request: BriefRequest,
  parent: string | undefined,
): Promise<Brief> {
  const { value } = redactDeep({ ...request }, redaction(workspace.config))
  const asked = value as BriefRequest
  const state = await withJournal(
    workspace,
    parent,
    async (session) => (await workspace.refreshIfPossible(session)).state,
  )
  const output = ['## Output', ...outputLines(asked)]
  const context = contextLines(
    asked,
    state === undefined ? undefined : redactDeep(state, redaction(workspace.config)).value,
    BRIEF_TOKENS - MARGIN - costOfAll(['', ...output]),
  )
  const before = context.length === 0 ? [] : [...context, '']
  return {
    brief: [...before, ...output].join('\n'),
    file: [
      `# Background Task: ${titleOf(asked)}`,
      '',
      ...before,
      '## Task',
      ...taskLines(asked),
      '',
      ...output,
      '',
    ].join('\n'),
  }
}

function contextLines(
  { files }: BriefRequest,
  state: SessionState | undefined,
  room: number,
): readonly string[] {
  const head = [
    ...(state === undefined
      ? []
      : [`- Feature: ${shortenToCost(safeLine(state.title || state.name), 40)}`]),
    ...phaseLines(state),
    ...(files === undefined || files.length === 0 ? [] : [filesLine(files)]),
  ]
  if (head.length === 0) return []
  const heading = ['## Context', ...head]
  return state === undefined
    ? heading
    : [...heading, '', ...recordLines(state, room - costOfAll([...heading, '']))]
}

/** `5a (RED)`. */
function phaseLines(state: SessionState | undefined): readonly string[] {
  if (state?.workflow === undefined) return []
  const { id, name } = currentPlace(state.workflow).place
  return [`- Phase: ${shortenToCost(safeLine(`${id} (${name})`), 30)}`]
}

const FILES_ROOM = 150

function filesLine(files: readonly string[]): string {
  const safe = files.map(safeLine)
  for (let shown = safe.length; shown > 1; shown -= 1) {
    const more = safe.length - shown
    const line = `- Files: ${safe.slice(0, shown).join(', ')}${more === 0 ? '' : ` and ${more} more`}`
    if (costOfAll([line]) <= FILES_ROOM) return line
  }
  return shortenToCost(`- Files: ${safe.join(', ')}`, FILES_ROOM)
}

/** The parent's journal as data, between fences, with what is vital first and what is left out named. */
function recordLines(state: SessionState, room: number): readonly string[] {
  const fence = costOfAll(fenceLines(state.name))
  const fitted = share(sectionsOf(state), room - fence - LEFT_OUT_ROOM)
  const leftOut = leftOutOf(fitted).map((what) => inSession(state, what))
  const lines = [...fitted.flatMap(({ lines: told }) => told), ...leftOutLines(leftOut)]
  return fenced(state.name, lines).text.split('\n')
}

/** What somebody needs who has to work in the same spirit and was not there. */
function sectionsOf(state: SessionState): readonly Section[] {
  const settled = settledSections(state).filter(({ things }) => SETTLED.has(things))
  const standing = standingSections(state).filter(({ things }) => STANDING.has(things))
  return [...settled, ...standing, gotchas(state)]
}

const SETTLED: ReadonlySet<string> = new Set([
  'objective',
  'lines of key context',
  'decisions',
  'rulings',
  'lines drawn at checkpoints',
  'key files',
])
const STANDING: ReadonlySet<string> = new Set(['TL;DR', 'progress', 'open blockers'])

function gotchas(state: SessionState): Section {
  const texts = state.discoveries.items.filter(({ gotcha }) => gotcha).map(({ text }) => text)
  return bullets(texts, {
    ...from(SHOW.discoveries, 'gotchas'),
    rank: 4,
    reserve: 60,
    fair: 200,
    heading: 'Gotchas:',
    keep: 'last',
  })
}

/** The delegate has a session of its own: the command has to name this one. */
function inSession(state: SessionState, command: string): string {
  return command.replace(/^stint view/, `stint view ${nameForFiles(state)}`)
}

function titleOf({ name, what }: BriefRequest): string {
  return shortenToCost(safeLine(what), 30) || name
}

function taskLines({ task, what }: BriefRequest): readonly string[] {
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

function outputLines({ isReadOnly, output }: BriefRequest): readonly string[] {
  if (isReadOnly)
    return [
      `Write to: ${safeLine(output ?? REPORT_FILE)}`,
      'This is the report, a path from the root of the worktree. Do not commit it, and change nothing else.',
    ]
  if (output !== undefined)
    return [
      `Write to: ${safeLine(output)}`,
      'A path from the root of the worktree. It has to be committed.',
    ]
  return ['What the task asks for, committed on this branch.']
}
