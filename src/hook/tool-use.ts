import { mayRunTests } from '../command/may-run-tests.ts'
import type { HookEventOf, ToolFacts } from '../harness/contract/hooks.ts'
import { statOrUndefined } from '../journal/read-files.ts'
import type { ConversationState } from '../project/conversation/conversation-state.ts'
import { defined } from '../text/defined.ts'
import { watchBudget } from './budget.ts'
import { LONGEST_RESULT, redactAndClip } from './clip.ts'
import type { HookContext } from './hook-context.ts'
import { hasPendingWork, isStillUpToDate, markUpToDate } from './fast.ts'
import { findNamedSession } from './find-session.ts'
import { recordGitChanges } from './git-changes.ts'
import { injectUndelivered } from './inject.ts'
import { joinSessionIfNew } from './join-session.ts'
import { LARGE_OUTPUT, countEdit, nudgeAtEdit, nudgeAtLargeOutput } from './nudges.ts'
import type { SessionContext } from './session-context.ts'
import { mayCrossThreshold } from './transcript-scan.ts'
import { readTranscript, recordTestRun } from './transcript.ts'

type ToolUsed = HookEventOf<'toolUsed'>

const MOST_KEPT = 50
const LONGEST_TASK = 200

export async function onToolUsed(context: SessionContext<ToolUsed>): Promise<void> {
  const facts = factsIn(context)
  followCommand(context, facts)
  if (context.session === undefined && facts.isEdit && isProjectFile(facts.edited))
    await beginWork(context, facts.edited!)
  if (context.session === undefined) return
  recordKeptFiles(context)
  joinSessionIfNew(context, 'tool')
  await recordFacts(context, facts)
  // What is injected for a delegated agent does not reach the conversation.
  if (context.event.agent !== undefined) return
  const { given, awaitsBoundary } = context.tracking
  // The transcript is read only for what cannot wait until the turn is over.
  if (awaitsBoundary === true || given?.isProved === false)
    await injectUndelivered(context, (await readTranscript(context)).delivery)
  watchBudget(context)
  if (facts.isEdit) nudgeAtEdit(context)
  if (isLarge(facts)) nudgeAtLargeOutput(context)
  markUpToDate(context)
}

/** Most uses show nothing new: another edit of a recorded file, a command that is neither git nor Stint. */
export function toolUsedFast(context: HookContext<ToolUsed>): boolean {
  const { tracking, event, stateFolder, protocol } = context
  const { session, settled, given } = tracking
  if (session === undefined || settled?.session !== session || hasPendingWork(tracking))
    return false
  if (event.agent !== undefined || given?.isProved === false) return false
  if (
    !isStillUpToDate(context, settled) ||
    mayCrossThreshold(protocol.transcriptPatterns, stateFolder, tracking)
  )
    return false
  const facts = factsIn(context)
  if (facts.isEdit) return settled.files.includes(facts.edited ?? '') && !countEdit(context).isDue
  return facts.command !== undefined && isNothingNew(facts.command, facts, tracking)
}

const MAY_MATTER = /git|stint|hub|merge|rebase|commit/

function isNothingNew(command: string, facts: ToolFacts, tracking: ConversationState): boolean {
  if (MAY_MATTER.test(command)) return false
  if (isLarge(facts) && !tracking.nudged.includes('output')) return false
  // The result of tests is read from the transcript later.
  return !mayRunTests(command) || isFollowed(tracking)
}

function isFollowed({ transcript, looked }: ConversationState): boolean {
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
  if (context.sessionsHere.several.length > 0) return
  // Somebody named a session that is not open; another one is not what they want.
  if ((context.env.STINT_SESSION ?? '') !== '') return
  if (context.config.auto === 'on') {
    const { openSession } = await import('./open-session.ts')
    // Another hook is just opening one: the file is recorded by the next that finds it.
    if (openSession(context) === 'busy')
      context.updateTracking({ files: [...new Set([...files, path])].slice(-MOST_KEPT) })
  }
  const isAsked = context.event.agent === undefined && !nudged.includes('ask')
  if (context.config.auto === 'ask' && isAsked) {
    context.updateTracking({ nudged: [...nudged, 'ask'] })
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
    const { draftsForTodos } = await import('../harness/contract/todo-list.ts')
    const mint = () => context.session!.mint()
    context.drafts.push(...draftsForTodos(todos, state, conversation, mint))
  }
  if (command !== undefined && mayRunTests(command))
    await recordTestRun(context, { conversation, command, output, isError: false, toolUseId })
  if (agentStarted !== undefined) {
    const { agent, description } = agentStarted
    const task = redactAndClip(description, LONGEST_TASK, config)
    context.updateTracking({ agents: { ...context.tracking.agents, [agent]: task } })
  }
  if (agentFinished !== undefined) {
    const { agent, type, task, result } = agentFinished
    const texts = {
      task: task === undefined ? undefined : redactAndClip(task, LONGEST_TASK, config),
      result: result === undefined ? undefined : redactAndClip(result, LONGEST_RESULT, config),
    }
    const data = { agent, conversation, ...defined({ type, ...texts }) }
    context.record('agent.finished', data, `agent:${agent}`)
  }
  if (facts.committed || facts.isEdit) recordGitChanges(context, { follows: true })
}

function followCommand(context: SessionContext, { stintCommand, output = '' }: ToolFacts): void {
  if (stintCommand === 'log' || stintCommand === 'checkpoint') context.updateTracking({ edits: 0 })
  if (stintCommand !== 'init' && stintCommand !== 'resume') return
  // Old clients do not tell a command its conversation, so that it could not bind it itself.
  const name = /(?:Session Initialized|Resuming Session): ([a-z0-9-]+)/.exec(output)?.[1]
  const found =
    name === undefined ? undefined : findNamedSession(context.place, context.config, name)
  if (found !== undefined) context.bindTo(found)
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
