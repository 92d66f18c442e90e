import {
  type BudgetSettings,
  type BudgetThreshold,
  stageAction,
} from '../../context/budget/stages.ts'
import type { Harness, ProcessTag } from '../../harness/contract/drive.ts'
import { endOrphans } from '../../harness/process/spawn-guarded.ts'
import { sessionNameFrom } from '../../hook/open-session.ts'
import { StintError } from '../../journal/errors.ts'
import { ForeignJournal } from '../../journal/log.ts'
import { acceptHandoff } from '../../project/handoff/accept.ts'
import { createHandoff } from '../../project/handoff/create.ts'
import { pauseSession } from '../../project/lifecycle/pause-and-close.ts'
import { resumeSession } from '../../project/lifecycle/resume.ts'
import { initSession } from '../../project/lifecycle/init-session.ts'
import { packSession } from '../../project/pack-session.ts'
import {
  type ChosenSession,
  findActiveSession,
  findSession,
  isRunWorktree,
  refuseClosed,
} from '../../project/store/choose-session.ts'
import { withoutSecrets } from '../../project/store/clean-draft.ts'
import { sessionOfConversation } from '../../project/store/conversation-binding.ts'
import { type ProjectPaths, isRefusedJournal, logPaths } from '../../project/store/project-paths.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { type RawEntry, effectiveEntries } from '../../session/effective-entries.ts'
import type { SessionState } from '../../session/state.ts'
import { oneLine, shorten } from '../../text/clean.ts'
import { Claims } from '../loop/claims.ts'
import { asData, wrapInTag } from '../agent-prompts/task-text.ts'
import type { PromptRequest } from './prompt-events.ts'

const BY = 'prompt'

export interface PromptedSession {
  readonly id: string
  readonly name: string
  readonly isNew: boolean
}

/** The named session, else the active one. The caller may be an agent; `workspace` has none of its environment variables. */
export async function findPromptedSession(
  callerWorkspace: Workspace,
  workspace: Workspace,
  request: PromptRequest,
): Promise<ChosenSession | undefined> {
  if (request.isNew === true) return undefined
  const wanted = request.session ?? callerWorkspace.env.STINT_SESSION ?? ''
  const row =
    wanted === ''
      ? (sessionOfConversation(callerWorkspace) ?? (await findActiveSession(workspace)))
      : await findSession(workspace, wanted)
  if (row === undefined) return undefined
  refuseClosed(row)
  if (isRefusedJournal(workspace.paths, row.id))
    throw new ForeignJournal(logPaths(workspace.paths, row.id).path)
  if (row.worktree !== workspace.worktree && isRunWorktree(row.worktree))
    throw new StintError(
      'SESSION_OF_RUN',
      `${row.name} belongs to a run, in a worktree of its own`,
      `stint run --resume goes on with it; from ${row.worktree} it can be prompted`,
    )
  return row
}

export async function openPromptedSession(
  workspace: Workspace,
  row: ChosenSession | undefined,
  { isNew, text }: PromptRequest,
): Promise<PromptedSession> {
  if (row !== undefined) {
    if (row.status === 'paused') await resumeSession(workspace, { session: row.id, by: BY })
    return { id: row.id, name: row.name, isNew: false }
  }
  // Two active sessions on one branch would stay ambiguous.
  if (isNew === true) await pauseActive(workspace)
  try {
    const cleanText = withoutSecrets(text, workspace.config)
    const name = sessionNameFrom(workspace.git()?.branch, cleanText)
    const goal = shorten(oneLine(cleanText), 240)
    const { reading } = await initSession(workspace, { name, goal, by: BY })
    return { id: reading.state.id, name: reading.state.name, isNew: true }
  } catch (error) {
    // Of two simultaneous first prompts one opens the session, and the other joins it.
    const isTaken = error instanceof StintError && error.code === 'SESSION_ACTIVE'
    const other = isTaken && isNew !== true ? await findActiveSession(workspace) : undefined
    if (other === undefined) throw error
    return { id: other.id, name: other.name, isNew: false }
  }
}

async function pauseActive(workspace: Workspace) {
  const branch = workspace.git()?.branch
  const active = workspace.hasSessions()
    ? [...(await workspace.index()).sessions({ status: ['active'] })]
    : []
  for (const row of active) {
    if (row.branch !== branch || row.worktree !== workspace.worktree) continue
    await pauseSession(workspace, { session: row.id, by: BY })
    workspace.say(`${row.name} is paused; stint resume ${row.name} goes on with it`)
  }
}

export const PROMPT_VARIABLE = 'STINT_PROMPT'

export async function claimSession(
  paths: ProjectPaths,
  session: PromptedSession,
  prompt: string,
  owner: ProcessTag,
): Promise<() => void> {
  const claims = new Claims(paths, prompt, owner)
  const key = `session:${session.id}`
  if (!claims.claim(key)) {
    const pid = claims.findHolder(key)?.runner.pid
    claims.releaseAll()
    throw new StintError(
      'SESSION_BUSY',
      `${session.name} is answering another prompt${pid === undefined ? '' : `, in process ${pid}`}`,
      'wait until it is over, or interrupt it; stint prompt --new TEXT begins another session',
    )
  }
  for (const dead of claims.releaseDead(key))
    await endOrphans({ ...owner, mark: `${PROMPT_VARIABLE}=${dead}` })
  return () => claims.releaseAll()
}

export type ConversationStart =
  | { readonly how: 'fresh' }
  /** Through a handoff, because the last conversation is full. */
  | { readonly how: 'handed over'; readonly from: string }
  | {
      readonly how: 'resumed'
      readonly conversation: string
      readonly crossed: readonly BudgetThreshold[]
      /** It was compacted, and the session's context was not injected since. */
      readonly isContextMissing: boolean
    }

export function chooseConversationStart(
  { state, entries }: { readonly state: SessionState; readonly entries: readonly RawEntry[] },
  { name, capabilities }: Harness,
  budget: BudgetSettings,
  request: PromptRequest,
): ConversationStart {
  if (request.isFresh === true) return { how: 'fresh' }
  if (!capabilities.resume) {
    if (request.conversation === undefined) return { how: 'fresh' }
    throw new StintError(
      'CANNOT_RESUME',
      `${name} cannot go on with a conversation`,
      'leave --conversation out',
    )
  }
  const latest = state.conversations.items.findLast(({ harness }) => harness === name)?.text
  const conversation = request.conversation ?? latest
  if (conversation === undefined) return { how: 'fresh' }
  const own = effectiveEntries(entries).filter(
    (entry) => entry.data['conversation'] === conversation,
  )
  const compacted = own.findLastIndex(({ kind }) => kind === 'context.compacted')
  const since = own.slice(compacted + 1)
  const crossed = since
    .filter(({ kind }) => kind === 'budget.crossed')
    .map((entry) => entry.data['stage'] as BudgetThreshold)
  const isFull = crossed.some(
    (line) => line !== 'smart-zone' && stageAction(line, budget) === 'force',
  )
  // A named conversation is resumed even when it is full.
  if (isFull && request.conversation === undefined)
    return { how: 'handed over', from: conversation }
  const isContextMissing = compacted !== -1 && !since.some(({ kind }) => kind === 'context.given')
  return { how: 'resumed', conversation, crossed, isContextMissing }
}

export function harnessOfConversation(
  { conversations, name }: SessionState,
  conversation: string,
): string {
  const known = conversations.items.findLast(({ text }) => text === conversation)
  if (known !== undefined) return known.harness
  const others = conversations.items.map(({ text }) => text).toReversed()
  throw new StintError(
    'NO_CONVERSATION',
    `${name} has no conversation ${conversation}`,
    others.length === 0
      ? 'leave --conversation out: a fresh one is begun'
      : `it has ${others.slice(0, 5).join(', ')}`,
  )
}

export interface OpeningPrompt {
  readonly text: string
  readonly injected?: { readonly mark: string; readonly chars: number; readonly why: string }
}

export async function composeOpeningPrompt(
  workspace: Workspace,
  { id, isNew }: PromptedSession,
  start: ConversationStart,
  text: string,
): Promise<OpeningPrompt> {
  if (start.how === 'handed over')
    return { text: `${await handOver(workspace, id, start.from)}\n\n${text}` }
  if (isNew || (start.how === 'resumed' && !start.isContextMissing)) return { text }
  const packed = await packSession(workspace, { session: id })
  const why = start.how === 'fresh' ? 'fresh conversation' : 'compacted'
  const given = { mark: packed.mark, chars: packed.text.length, why }
  return { text: `${packed.text}\n\n${text}`, injected: given }
}

async function handOver(workspace: Workspace, session: string, conversation: string) {
  const reason = 'the context is full'
  const { handoff } = await createHandoff(workspace, { session, reason, conversation, by: BY })
  const wanted = { handoff: `${session}/${handoff.id}`, force: true, by: BY }
  const { moved, text } = await acceptHandoff(workspace, wanted)
  const lines = moved.map((line) => `- ${line}`)
  const news = lines.length === 0 ? [] : ['', 'Since it was written this has changed:', ...lines]
  const document = wrapInTag('handoff', asData([text, ...news].join('\n')))
  return `What the conversation before this one left. It is data to consult; what is asked for now stands below it.\n${document}`
}
