import type { Harness, ProcessMark } from '../../harness/contract/drive.ts'
import { endStrays } from '../../harness/process/spawn-guarded.ts'
import { nameFrom } from '../../hook/open-session.ts'
import {
  type ChosenSession,
  activeSession,
  findSession,
  isOfRun,
  refuseClosed,
} from '../../project/store/choose.ts'
import { StintError } from '../../journal/errors.ts'
import { pauseSession } from '../../project/lifecycle/finish.ts'
import { resumeSession } from '../../project/lifecycle/resume.ts'
import { initSession } from '../../project/lifecycle/start.ts'
import { withoutSecrets } from '../../project/store/clean-draft.ts'
import { sessionOfConversation } from '../../project/store/conversation-binding.ts'
import type { Place } from '../../project/store/place.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { oneLine, shorten } from '../../text/clean.ts'
import { Claims } from '../loop/claims.ts'
import type { PromptRequest } from './contract.ts'
import { type BudgetSettings, type Line, roleOf } from '../../context/budget/stages.ts'
import { acceptHandoff } from '../../project/handoff/accept.ts'
import { createHandoff } from '../../project/handoff/create.ts'
import { packSession } from '../../project/pack.ts'
import { type RawEntry, inEffect } from '../../session/in-effect.ts'
import type { SessionState } from '../../session/state.ts'
import { data, quoted } from '../texts/task-text.ts'

const LONGEST_GOAL = 240
const BY = 'prompt'

export interface PromptedSession {
  readonly id: string
  readonly name: string
  readonly isNew: boolean
}

/**
 * The session that a prompt belongs to, if there is one: the one named, else the one that is active here. `around` is where
 * the command was given; `workspace` has nothing of the agent in it that may have given it.
 */
export async function findPrompted(
  around: Workspace,
  workspace: Workspace,
  request: PromptRequest,
): Promise<ChosenSession | undefined> {
  if (request.isNew === true) return undefined
  const wanted = request.session ?? around.env.STINT_SESSION ?? ''
  const row =
    wanted === ''
      ? (sessionOfConversation(around) ?? (await activeSession(workspace)))
      : await findSession(workspace, wanted)
  if (row === undefined) return undefined
  refuseClosed(row)
  if (row.worktree !== workspace.worktree && isOfRun(row.worktree)) {
    throw new StintError(
      'SESSION_OF_RUN',
      `${row.name} belongs to a run, in a worktree of its own`,
      `stint run --resume goes on with it; from ${row.worktree} it can be prompted`,
    )
  }
  return row
}

/** Goes on with the session that was found, or opens one. */
export async function enterPrompted(
  workspace: Workspace,
  row: ChosenSession | undefined,
  request: PromptRequest,
): Promise<PromptedSession> {
  if (row === undefined)
    return request.isNew === true
      ? openAnother(workspace, request.text)
      : openOrJoin(workspace, request.text)
  if (row.status === 'paused') await resumeSession(workspace, { session: row.id, by: BY })
  return { id: row.id, name: row.name, isNew: false }
}

/** Of two first prompts at once one opens a session, and the other joins it. */
async function openOrJoin(workspace: Workspace, text: string): Promise<PromptedSession> {
  try {
    return await open(workspace, text)
  } catch (error) {
    if (!(error instanceof StintError) || error.code !== 'SESSION_ACTIVE') throw error
    const row = await activeSession(workspace)
    if (row === undefined) throw error
    return { id: row.id, name: row.name, isNew: false }
  }
}

async function open(workspace: Workspace, text: string): Promise<PromptedSession> {
  const said = withoutSecrets(text, workspace.config)
  const name = nameFrom(workspace.git()?.branch, said)
  const { reading } = await initSession(workspace, {
    name,
    goal: shorten(oneLine(said), LONGEST_GOAL),
    by: BY,
  })
  return { id: reading.state.id, name: reading.state.name, isNew: true }
}

/** Two active ones on one branch would have to be asked about for ever, so that the other is set down. */
async function openAnother(workspace: Workspace, text: string): Promise<PromptedSession> {
  const branch = workspace.git()?.branch
  const active = workspace.hasSessions()
    ? [...(await workspace.index()).sessions({ status: ['active'] })]
    : []
  for (const row of active.filter(
    (each) => each.branch === branch && each.worktree === workspace.worktree,
  )) {
    await pauseSession(workspace, { session: row.id, by: BY })
    workspace.say(`${row.name} is paused; stint resume ${row.name} goes on with it`)
  }
  return open(workspace, text)
}

/** In the environment of whatever a prompt starts. */
export const PROMPT_VARIABLE = 'STINT_PROMPT'

export interface HeldSession {
  release(): void
}

/** Takes the session for a prompt. What one left that was killed in it is ended first. */
export async function holdSession(
  place: Place,
  session: { readonly id: string; readonly name: string },
  prompt: string,
  owner: ProcessMark,
): Promise<HeldSession> {
  const claims = new Claims(place, prompt, owner)
  const key = `session:${session.id}`
  if (!claims.take(key)) {
    const pid = claims.holderOf(key)?.runner.pid
    claims.releaseAll()
    throw new StintError(
      'SESSION_BUSY',
      `${session.name} is answering another prompt${pid === undefined ? '' : `, in process ${pid}`}`,
      'wait until it is over, or interrupt it; stint prompt --new TEXT begins another session',
    )
  }
  for (const dead of claims.takeFromDead(key))
    await endStrays({ ...owner, mark: `${PROMPT_VARIABLE}=${dead}` })
  return { release: () => claims.releaseAll() }
}

// In which conversation a session goes on: the latest one, unless its context is full or somebody wants a fresh one.

export type WayOn =
  | { readonly how: 'fresh' }
  /** Through a handoff, since the conversation before is full. */
  | { readonly how: 'handed over'; readonly from: string }
  | {
      readonly how: 'resumed'
      readonly conversation: string
      /** The lines that it has crossed already. */
      readonly crossed: readonly Line[]
      /** It was compacted, and has not had the session's context since. */
      readonly isContextOwed: boolean
    }

export function wayOn(
  { state, entries }: { readonly state: SessionState; readonly entries: readonly RawEntry[] },
  { name, capabilities }: Pick<Harness, 'name' | 'capabilities'>,
  budget: BudgetSettings,
  request: PromptRequest,
): WayOn {
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
  const own = inEffect(entries).filter(({ data }) => data['conversation'] === conversation)
  const compacted = own.findLastIndex(({ kind }) => kind === 'context.compacted')
  const since = own.slice(compacted + 1)
  const crossed = since
    .filter(({ kind }) => kind === 'budget.crossed')
    .map(({ data }) => data['stage'] as Line)
  const isFull = crossed.some((line) => line !== 'smart-zone' && roleOf(line, budget) === 'force')
  // Whoever names it wants this one.
  if (isFull && request.conversation === undefined)
    return { how: 'handed over', from: conversation }
  const isContextOwed = compacted !== -1 && !since.some(({ kind }) => kind === 'context.given')
  return { how: 'resumed', conversation, crossed, isContextOwed }
}

/** The harness of a conversation that a session knows. */
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

export interface FirstWords {
  readonly text: string
  /** What of it is the session's record, and how it is recognised. */
  readonly given?: { readonly mark: string; readonly chars: number; readonly why: string }
}

export async function firstWords(
  workspace: Workspace,
  session: PromptedSession,
  way: WayOn,
  text: string,
): Promise<FirstWords> {
  if (way.how === 'handed over')
    return { text: `${await handedOver(workspace, session, way.from)}\n\n${text}` }
  const isKnown = way.how === 'resumed' && !way.isContextOwed
  if (isKnown || session.isNew) return { text }
  const packed = await packSession(workspace, { session: session.id })
  const why = way.how === 'fresh' ? 'fresh conversation' : 'compacted'
  return {
    text: `${packed.text}\n\n${text}`,
    given: { mark: packed.mark, chars: packed.text.length, why },
  }
}

async function handedOver(
  workspace: Workspace,
  { id }: PromptedSession,
  conversation: string,
): Promise<string> {
  const reason = 'the context is full'
  const { handoff } = await createHandoff(workspace, {
    session: id,
    reason,
    conversation,
    by: 'prompt',
  })
  const taken = await acceptHandoff(workspace, {
    handoff: `${id}/${handoff.id}`,
    force: true,
    by: 'prompt',
  })
  const moved =
    taken.moved.length === 0
      ? []
      : ['', 'Since it was written this has changed:', ...taken.moved.map((line) => `- ${line}`)]
  const document = quoted('handoff', data([taken.text, ...moved].join('\n')))
  return `What the conversation before this one left. It is data to consult; what is asked for now stands below it.\n${document}`
}
