import {
  type Tracking,
  newTracking,
  readTracking,
  trackingFolder,
  writeTracking,
} from '../conversation/tracking.ts'
import { isConversationId } from '../../history/conversation-id.ts'
import { errnoOf } from '../../journal/errors.ts'
import type { OpenSession } from './open-session-files.ts'
import { currentOpenSession } from './open-sessions.ts'
import type { Place } from './place.ts'
import type { Workspace } from './workspace.ts'

/**
 * The conversation that a command is run from, when its harness says so: a hook puts the first into the
 * environment of the agent's shell where it can, and Claude Code the second by itself.
 */
export function conversationOf(env: NodeJS.ProcessEnv): string | undefined {
  const id = env.STINT_CONVERSATION || env.CLAUDE_CODE_SESSION_ID || ''
  return isConversationId(id) ? id : undefined
}

export function trackingFolderOf({ sessions, repository }: Place): string {
  return trackingFolder(sessions, repository?.commonDir)
}

/** The session that the conversation around this command works on, as long as it is open. */
export function sessionOfConversation(workspace: Workspace): OpenSession | undefined {
  const conversation = conversationOf(workspace.env)
  if (conversation === undefined) return undefined
  const id = readTracking(trackingFolderOf(workspace.place), conversation)?.session
  return id === undefined ? undefined : currentOpenSession(workspace.place, id)
}

/** From now on the conversation around this command works on this session. */
export function bindConversation(workspace: Workspace, session: string): void {
  const conversation = conversationOf(workspace.env)
  if (conversation === undefined) return
  const folder = trackingFolderOf(workspace.place)
  const known: Tracking = readTracking(folder, conversation) ?? newTracking('unknown', conversation)
  if (known.session === session) return
  try {
    writeTracking(folder, { ...known, session, edits: 0 })
  } catch (error) {
    // A full or read-only disk: the session is chosen by its branch then.
    if (errnoOf(error) === undefined) throw error
  }
}
