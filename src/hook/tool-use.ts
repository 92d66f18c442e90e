import { mayBeTests } from '../command/may-be-tests.ts'
import type { EventOf, ToolFacts } from '../harness/contract/hooks.ts'
import { statOrUndefined } from '../journal/look.ts'
import type { Tracking } from '../project/conversation/tracking.ts'
import { defined } from '../text/defined.ts'
import { watchBudget } from './budget.ts'
import { LONGEST_RESULT, clip } from './clip.ts'
import type { HookContext } from './context.ts'
import { isPending, isStillSettled, noteSettled } from './fast.ts'
import { namedSession } from './find-session.ts'
import { recordGitMoves } from './git-moves.ts'
import { injectAgain } from './inject.ts'
import { joinIfNew } from './join.ts'
import { LARGE_OUTPUT, countEdit, nudgeAtEdit, nudgeAtLargeOutput } from './nudges.ts'
import type { SessionContext } from './session-context.ts'
import { mayCrossLine } from './transcript-glance.ts'
import { readTranscript, recordTestRun } from './transcript.ts'

type ToolUsed = EventOf<'toolUsed'>

const MOST_KEPT = 50
const LONGEST_TASK = 200

export async function onToolUsed(context: SessionContext<ToolUsed>): Promise<void> {
  const facts = factsIn(context)
  followCommand(context, facts)
  if (context.session === undefined && facts.isEdit && isProjectFile(facts.edited))
    await beginWork(context, facts.edited!)
  if (context.session === undefined) return
  recordKeptFiles(context)
  joinIfNew(context, 'tool')
  await recordFacts(context, facts)
  // What is injected for a delegated agent does not reach the conversation.
  if (context.event.agent !== undefined) return
  const { given, awaitsBoundary } = context.tracking
  // The transcript is read only for what cannot wait until the turn is over.
  if (awaitsBoundary === true || given?.isProved === false)
    await injectAgain(context, (await readTranscript(context)).delivery)
  watchBudget(context)
  if (facts.isEdit) nudgeAtEdit(context)
  if (isLarge(facts)) nudgeAtLargeOutput(context)
  noteSettled(context)
}

/** Most uses show nothing new: another edit of a recorded file, a command that is neither git nor Stint. */
export function toolUsedFast(context: HookContext<ToolUsed>): boolean {
  const { tracking, event, stateFolder, protocol } = context
  const { session, settled, given } = tracking
  if (session === undefined || settled?.session !== session || isPending(tracking)) return false
  if (event.agent !== undefined || given?.isProved === false) return false
  if (!isStillSettled(context, settled) || mayCrossLine(protocol.signs, stateFolder, tracking))
    return false
  const facts = factsIn(context)
  if (facts.isEdit) return settled.files.includes(facts.edited ?? '') && !countEdit(context).isDue
  return facts.command !== undefined && isNothingNew(facts.command, facts, tracking)
}

const MAY_MATTER = /git|stint|hub|merge|rebase|commit/

function isNothingNew(command: string, facts: ToolFacts, tracking: Tracking): boolean {
  if (MAY_MATTER.test(command)) return false
  if (isLarge(facts) && !tracking.nudged.includes('output')) return false
  // The result of tests is read from the transcript later.
  return !mayBeTests(command) || isFollowed(tracking)
}

function isFollowed({ transcript, looked }: Tracking): boolean {
  return (
    transcript !== undefined && looked !== undefined && statOrUndefined(transcript) !== undefined
  )
}

function factsIn({ event, place, protocol }: HookContext<ToolUsed>): ToolFacts {
  return protocol.toolFacts(event, place.repository?.worktree ?? place.root)
}

function isLarge({ output = '' }: ToolFacts): boolean {
  return output.length >= LARGE_OUTPUT
}

function recordKeptFiles(context: SessionContext): void {
  const { files, ...rest } = context.tracking
  if (files === undefined) return
  for (const path of files) recordFile(context, path)
  context.tracking = rest
}

async function beginWork(context: SessionContext<ToolUsed>, path: string): Promise<void> {
  const { ended, nudged, files = [] } = context.tracking
  // The last touches after closing a session are no new work; a request after it is.
  if (ended !== undefined && !ended.askedSince) return
  if (context.here.several.length > 0) return
  // Somebody named a session that is not open; another one is not what they want.
  if ((context.env.STINT_SESSION ?? '') !== '') return
  if (context.config.auto === 'on') {
    const { openSession } = await import('./open-session.ts')
    // Another hook is just opening one: the file is recorded by the next that finds it.
    if (openSession(context) === 'busy')
      context.note({ files: [...new Set([...files, path])].slice(-MOST_KEPT) })
  }
  const isAsked = context.event.agent === undefined && !nudged.includes('ask')
  if (context.config.auto === 'ask' && isAsked) {
    context.note({ nudged: [...nudged, 'ask'] })
    context.respond({
      person: '📋 No session is open here; /session-init starts one',
      model:
        'Stint: no session covers this work. The person has chosen to be asked before one is opened: `stint init --name NAME --goal TEXT` opens it.',
    })
  }
}

async function recordFacts(context: SessionContext<ToolUsed>, facts: ToolFacts): Promise<void> {
  const { conversation, toolUseId } = context.event
  const { config, state } = context
  const { edited, todos, command, output = '', agentStarted, agentFinished } = facts
  if (edited !== undefined && isProjectFile(edited)) recordFile(context, edited)
  if (todos !== undefined) {
    const { draftsForTodos } = await import('../harness/contract/plan-steps.ts')
    const mint = () => context.session!.mint()
    context.drafts.push(...draftsForTodos(todos, state, conversation, mint))
  }
  if (command !== undefined && mayBeTests(command))
    await recordTestRun(context, { conversation, command, output, isError: false, toolUseId })
  if (agentStarted !== undefined) {
    const { agent, description } = agentStarted
    const task = clip(description, LONGEST_TASK, config)
    context.note({ agents: { ...context.tracking.agents, [agent]: task } })
  }
  if (agentFinished !== undefined) {
    const { agent, type, task, result } = agentFinished
    const texts = {
      task: task === undefined ? undefined : clip(task, LONGEST_TASK, config),
      result: result === undefined ? undefined : clip(result, LONGEST_RESULT, config),
    }
    const data = { agent, conversation, ...defined({ type, ...texts }) }
    context.record('agent.finished', data, `agent:${agent}`)
  }
  if (facts.committed || facts.isEdit) recordGitMoves(context, { follows: true })
}

function followCommand(context: SessionContext, { stintCommand, output = '' }: ToolFacts): void {
  if (stintCommand === 'log' || stintCommand === 'checkpoint') context.note({ edits: 0 })
  if (stintCommand !== 'init' && stintCommand !== 'resume') return
  // Old clients do not tell a command its conversation, so that it could not bind it itself.
  const name = /(?:Session Initialized|Resuming Session): ([a-z0-9-]+)/.exec(output)?.[1]
  const found = name === undefined ? undefined : namedSession(context.place, context.config, name)
  if (found !== undefined) context.workOn(found)
}

function recordFile(context: SessionContext, path: string): void {
  const { items, leftOut = [] } = context.state.changedFiles
  if (!items.some((file) => file.text === path) && !leftOut.includes(path))
    context.record('file.changed', { path })
}

/** Inside the project, and not one of Stint's own files. */
function isProjectFile(path: string | undefined): boolean {
  return (
    path !== undefined &&
    !path.startsWith('/') &&
    !path.startsWith('..') &&
    !/^\.(?:sessions|tasks|git)\//.test(path)
  )
}
