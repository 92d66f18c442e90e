import { defined } from '../text/defined.ts'
import { nextAlert } from './budget.ts'
import { configStamp, headStamp } from './fast.ts'
import type { SessionContext } from './session-context.ts'

const MOST_FILES = 200

/** Notes that everything is recorded as it stands now, so that the next events need no handler. */
export function noteSettled(context: SessionContext): void {
  const { repository, sessions } = context.place
  if (repository === undefined || context.session === undefined) return
  const { items, leftOut = [] } = context.state.changedFiles
  const noted = context.drafts.flatMap(({ kind, data }) =>
    kind === 'file.changed' ? [(data as { path: string }).path] : [],
  )
  context.note({
    settled: {
      session: context.session.id,
      head: headStamp(repository),
      config: configStamp(sessions),
      files: [...leftOut, ...items.map((file) => file.text), ...noted].slice(-MOST_FILES),
      hasAsked: hasAsked(context),
      hasSwitched: hasSwitched(context),
      ...defined({ alertAt: nextAlert(context) }),
    },
  })
}

/** Whether the branch is not the session's. */
export function hasSwitched({ head, state }: SessionContext): boolean {
  return head.branch !== undefined && state.branch !== undefined && head.branch !== state.branch
}

/** Whether the agent ended its turn with a question, which the next prompt may answer. */
export function hasAsked({ state, tracking }: SessionContext): boolean {
  return (
    /\?\s*$/.test(state.lastTurn?.said ?? '') &&
    state.lastTurn?.conversation === tracking.conversation
  )
}
