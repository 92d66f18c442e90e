// What the next prompt about a task says, from what its conversation has had already.
import { packSession } from '../../project/pack.ts'
import type { Backlog } from '../../backlog/backlog.ts'
import type { Conversations } from './conversations.ts'
import { profileFor } from '../profiles/profile.ts'
import {
  type Failure,
  type TaskExtra,
  continueText,
  restoreText,
  retryText,
  taskText,
} from '../texts/task-text.ts'
import { data, nameOf, quoted, taskHead } from '../texts/pieces.ts'
import type { RunSession } from './run-session.ts'
import type { RunContext, TaskWork } from './run-context.ts'
import { defined } from '../../text/defined.ts'

/** The task, with what failed if it is not the first attempt, and with the handoff if this is a new conversation. */
export function attemptPrompt(
  scene: RunContext,
  conversations: Conversations,
  work: TaskWork,
  failure: Failure | undefined,
): string {
  const { task } = work
  const given = conversations.takeGiven()
  if (given === undefined) {
    if (failure === undefined) return taskText(task, extraFor(scene, conversations, work))
    // A conversation that has had nothing of the task cannot mend what it does not know.
    const isKnown = conversations.live?.hasHadTurn === true
    return isKnown
      ? retryText(task, failure)
      : continueText(task, { failure }, extraFor(scene, conversations, work))
  }
  const document = withMoved(given.text, given.moved)
  const extra = extraFor(scene, conversations, work)
  // Of the same task: whoever comes now goes on with it. Else it only tells of what was done before.
  if (given.isOfTask) return continueText(task, { document, ...defined({ failure }) }, extra)
  return `${taskText(task, extra)}\n\nWhat the conversation before this one left, for what you need of it:\n${quoted('handoff', data(document))}`
}

/** The turn was broken off, and not by the agent. */
export function goOnPrompt(
  scene: RunContext,
  conversations: Conversations,
  work: TaskWork,
  why: string,
): string {
  const given = conversations.takeGiven()
  if (given === undefined) {
    return `${taskHead(work.task)}\n\nThe turn was broken off (${why}). Go on with this task from where the work stands, report it, then end the turn.`
  }
  return continueText(
    work.task,
    { document: withMoved(given.text, given.moved) },
    extraFor(scene, conversations, work),
  )
}

/** After a compaction in the middle of the task: what was lost with it. */
export async function restorePrompt(
  scene: RunContext,
  conversations: Conversations,
  session: RunSession,
  work: TaskWork,
): Promise<string> {
  conversations.ledger.forgetBodies()
  const { text } = await packSession(scene.workspace, { session: session.id })
  const verify = verifyOf(scene)
  return restoreText(
    work.task,
    { context: text, ...defined({ verify }) },
    extraFor(scene, conversations, work),
  )
}

export function verifyOf({ settled, workspace }: RunContext): string | undefined {
  return settled.verify ?? workspace.config.verify
}

function extraFor(scene: RunContext, conversations: Conversations, { task }: TaskWork): TaskExtra {
  const backlog: Backlog | undefined = scene.latest.backlog
  const dependsOn = task.dependsOn.flatMap((id) => {
    const other = backlog?.byId.get(id)
    return other?.status === 'completed'
      ? [
          {
            name: nameOf(other),
            ...defined({ summary: other.summary }),
          },
        ]
      : []
  })
  const usualVerify = verifyOf(scene)
  return {
    ...(dependsOn.length === 0 ? {} : { dependsOn }),
    ...defined({ usualVerify }),
    ...(scene.delegate === undefined ? {} : { brief: scene.delegate.brief }),
    ...conversations.ledger.give(profileFor(task, scene.profiles)?.profile),
  }
}

function withMoved(text: string, moved: readonly string[]): string {
  return moved.length === 0
    ? text
    : [
        text,
        '',
        'Since it was written this has changed:',
        ...moved.map((line) => `- ${line}`),
      ].join('\n')
}
