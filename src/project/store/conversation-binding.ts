import { join } from 'node:path'
import {
  type ConversationState,
  newConversationState,
  readConversationState,
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

/** Under the git directory: safe from `git clean`, and no clutter in a project without sessions. */
export function conversationStateFolder({ sessions, repository }: ProjectPaths): string {
  return repository === undefined
    ? join(sessions, 'conversations')
    : join(repository.commonDir, 'stint', 'conversations')
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
  const state: ConversationState =
    readConversationState(folder, conversation) ?? newConversationState('unknown', conversation)
  if (state.session === session) return
  // On a full or read-only disk the branch decides the session.
  ignoreIoErrors(() => writeConversationState(folder, { ...state, session, edits: 0 }))
}
