import { readdirSync } from 'node:fs'
import { type Tracking, readTracking, trackingPath } from './conversation/tracking.ts'
import { windowPath } from './conversation/window.ts'
import { isConversationId } from '../history/conversation-id.ts'
import type { ChosenSession } from './store/choose.ts'
import { StintError, errnoOf } from '../journal/errors.ts'
import { statOrUndefined } from '../journal/look.ts'
import { NoSession, chooseSession } from './store/choose.ts'
import { conversationOf, trackingFolderOf } from './store/conversation-binding.ts'
import type { Workspace } from './store/workspace.ts'

export interface ChosenConversation {
  readonly tracking: Tracking
  /** The session that it works on. */
  readonly session?: { readonly id: string; readonly name: string }
}

/** No conversation is followed that could be meant. */
class NoConversation extends StintError {
  override readonly name = 'NoConversation'
  constructor(message: string) {
    super(
      'NO_CONVERSATION',
      message,
      'stint setup claude lets Stint follow conversations, from the next one you start',
    )
  }
}

/**
 * The conversation that is meant: the one of this name, or the last one of the session of this name; without a name the
 * one around the command, else the last one of the session here, else the last one of all.
 */
export async function chooseConversation(
  workspace: Workspace,
  name?: string,
): Promise<ChosenConversation> {
  const folder = trackingFolderOf(workspace.place)
  const id = name ?? conversationOf(workspace.env)
  const exact = isConversationId(id) ? readTracking(folder, id) : undefined
  if (exact !== undefined) return withSession(workspace, exact)
  const session = await sessionOrNone(workspace, name)
  if (session instanceof NoSession) {
    const ids = conversationsIn(folder).filter(
      (each) => name === undefined || each.startsWith(name),
    )
    const last = lastActive(folder, ids)
    if (last !== undefined) return withSession(workspace, last)
    throw name === undefined ? new NoConversation('no conversation is known here') : session
  }
  const last = lastActive(folder, conversationsOf(workspace, session))
  if (last === undefined)
    throw new NoConversation(`no conversation of ${session.name} is known here`)
  return { tracking: last, session: { id: session.id, name: session.name } }
}

async function sessionOrNone(
  workspace: Workspace,
  name: string | undefined,
): Promise<ChosenSession | NoSession> {
  try {
    return await chooseSession(workspace, name)
  } catch (error) {
    if (error instanceof NoSession) return error
    throw error
  }
}

async function withSession(workspace: Workspace, tracking: Tracking): Promise<ChosenConversation> {
  const session =
    tracking.session === undefined ? undefined : await sessionOrNone(workspace, tracking.session)
  if (session === undefined || session instanceof NoSession) return { tracking }
  return { tracking, session: { id: session.id, name: session.name } }
}

function conversationsOf(workspace: Workspace, { id }: ChosenSession): readonly string[] {
  const session = workspace.session(id)
  const conversations = session.open().conversations.items.map(({ text }) => text)
  session.close()
  return conversations.filter(isConversationId)
}

function conversationsIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -'.json'.length)] : []))
      .filter(isConversationId)
  } catch (error) {
    // There never was one.
    if (errnoOf(error) === undefined) throw error
    return []
  }
}

/** The one of which anything was heard last: by a hook, by the status line, or in its transcript. */
function lastActive(folder: string, conversations: readonly string[]): Tracking | undefined {
  const heard = (path: string | undefined) =>
    path === undefined ? 0 : (statOrUndefined(path)?.mtimeMs ?? 0)
  const followed = conversations.flatMap((id) => {
    const tracking = readTracking(folder, id)
    if (tracking === undefined) return []
    const paths = [trackingPath(folder, id), windowPath(folder, id), tracking.transcript]
    return [{ tracking, at: Math.max(...paths.map(heard)) }]
  })
  return followed.toSorted((a, b) => a.at - b.at).at(-1)?.tracking
}
