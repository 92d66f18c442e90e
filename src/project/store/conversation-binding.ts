import {
  type Tracking,
  newTracking,
  readTracking,
  trackingFolder,
  writeTracking,
} from '../conversation/tracking.ts'
import { isConversationId } from '../../history/places.ts'
import { ifPossible } from '../../journal/errors.ts'
import type { OpenSession } from './open-session-files.ts'
import { currentOpenSession } from './open-sessions.ts'
import type { Place } from './place.ts'
import type { Workspace } from './workspace.ts'

/** Hooks set the first variable in the agent's shell; Claude Code sets the second. */
export function conversationOf(env: NodeJS.ProcessEnv): string | undefined {
  const id = env.STINT_CONVERSATION || env.CLAUDE_CODE_SESSION_ID || ''
  return isConversationId(id) ? id : undefined
}

export function trackingFolderOf({ sessions, repository }: Place): string {
  return trackingFolder(sessions, repository?.commonDir)
}

export function sessionOfConversation(workspace: Workspace): OpenSession | undefined {
  const conversation = conversationOf(workspace.env)
  if (conversation === undefined) return undefined
  const id = readTracking(trackingFolderOf(workspace.place), conversation)?.session
  return id === undefined ? undefined : currentOpenSession(workspace.place, id)
}

export function bindConversation(workspace: Workspace, session: string): void {
  const conversation = conversationOf(workspace.env)
  if (conversation === undefined) return
  const folder = trackingFolderOf(workspace.place)
  const known: Tracking = readTracking(folder, conversation) ?? newTracking('unknown', conversation)
  if (known.session === session) return
  // On a full or read-only disk the branch decides the session.
  ifPossible(() => writeTracking(folder, { ...known, session, edits: 0 }))
}
