import {
  type ConversationState,
  newConversationState,
  readConversationState,
  conversationStateFolderIn,
  writeConversationState,
} from '../conversation/conversation-state.ts'
import { isConversationId } from '../../history/paths.ts'
import { ignoreIoErrors } from '../../journal/errors.ts'
import type { OpenSession } from './open-session-files.ts'
import { currentOpenSession } from './open-sessions.ts'
import type { ProjectPaths } from './project-paths.ts'
import type { Workspace } from './workspace.ts'

/** Hooks set the first variable in the agent's shell; Claude Code sets the second. */
export function conversationFromEnv(env: NodeJS.ProcessEnv): string | undefined {
  const id = env.STINT_CONVERSATION || env.CLAUDE_CODE_SESSION_ID || ''
  return isConversationId(id) ? id : undefined
}

export function conversationStateFolder({ sessions, repository }: ProjectPaths): string {
  return conversationStateFolderIn(sessions, repository?.commonDir)
}

export function sessionOfConversation(workspace: Workspace): OpenSession | undefined {
  const conversation = conversationFromEnv(workspace.env)
  if (conversation === undefined) return undefined
  const id = readConversationState(conversationStateFolder(workspace.paths), conversation)?.session
  return id === undefined ? undefined : currentOpenSession(workspace.paths, id)
}

export function bindConversation(workspace: Workspace, session: string): void {
  const conversation = conversationFromEnv(workspace.env)
  if (conversation === undefined) return
  const folder = conversationStateFolder(workspace.paths)
  const known: ConversationState =
    readConversationState(folder, conversation) ?? newConversationState('unknown', conversation)
  if (known.session === session) return
  // On a full or read-only disk the branch decides the session.
  ignoreIoErrors(() => writeConversationState(folder, { ...known, session, edits: 0 }))
}
