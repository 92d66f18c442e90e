import type { ProcessMark } from '../../harness/contract/drive.ts'
import { endStrays } from '../../harness/process/strays.ts'
import { nameFrom } from '../../hook/open-session.ts'
import type { ChosenSession } from '../../project/store/choose.ts'
import { StintError } from '../../journal/errors.ts'
import { pauseSession } from '../../project/lifecycle/finish.ts'
import { resumeSession } from '../../project/lifecycle/resume.ts'
import { initSession } from '../../project/lifecycle/start.ts'
import { activeSession, findSession, isOfRun, refuseClosed } from '../../project/store/choose.ts'
import { withoutSecrets } from '../../project/store/clean-draft.ts'
import { sessionOfConversation } from '../../project/store/conversation-binding.ts'
import type { Place } from '../../project/store/place.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { oneLine, shorten } from '../../text/clean.ts'
import { Claims } from '../loop/claims.ts'
import type { PromptRequest } from './contract.ts'

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
