import { appendLine } from '../journal/files.ts'

/** So that a command the agent runs knows which conversation it is in. */
export function nameConversationInShell(env: NodeJS.ProcessEnv, conversation: string): void {
  const { CLAUDE_ENV_FILE: path } = env
  if (path !== undefined && path.startsWith('/'))
    appendLine(path, `export STINT_CONVERSATION=${conversation}`)
}
