// A question and its answer need no session. What a conversation captures meanwhile waits in the
// outbox, and goes into the session that its first real work opens.
import type { ToolFacts } from '../harness/contract/hooks.ts'
import { mayRunTests } from '../command/may-run-tests.ts'
import type { ConversationState } from '../project/conversation/conversation-state.ts'
import { statementsFromAgent, statementsFromUser } from '../session/statements/statements.ts'
import type { SessionContext } from './session-context.ts'

const MAX_TRIVIAL_REQUESTS = 1
const MAX_TRIVIAL_TOOLS = 4
const MAX_TRIVIAL_FINDINGS = 2

export async function openSessionIf(context: SessionContext, isWork: boolean): Promise<void> {
  if (context.session !== undefined || !isWork) return
  const { openSession } = await import('./open-session.ts')
  openSession(context)
}

/** A second request, or a rule or decision in the first. */
export function isWorkByPrompt({ unbound }: ConversationState, prompt: string): boolean {
  if ((unbound?.requests ?? 0) > MAX_TRIVIAL_REQUESTS) return true
  return statementsFromUser(prompt).some(({ kind }) => kind === 'rule' || kind === 'decision')
}

/** A change, a commit, a test run, a plan, an answered question, or many commands. */
export function isWorkByTool(
  { unbound }: ConversationState,
  {
    changesProject,
    committed,
    todos,
    answers = [],
    command,
  }: ToolFacts & { changesProject: boolean },
): boolean {
  return (
    changesProject ||
    committed ||
    todos !== undefined ||
    answers.length > 0 ||
    (command !== undefined && mayRunTests(command)) ||
    (unbound?.tools ?? 0) > MAX_TRIVIAL_TOOLS
  )
}

/** An answer with several findings. */
export function isWorkByReply(message: string): boolean {
  return statementsFromAgent(message).length > MAX_TRIVIAL_FINDINGS
}
