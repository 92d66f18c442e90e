import { mayRunTests } from '../command/may-run-tests.ts'
import type { HookEventOf, ToolFacts } from '../harness/contract/hooks.ts'
import { readFastToolFacts } from '../harness/hook-protocols.ts'
import { harnessHooks } from '../harness/registry.ts'
import { statOrUndefined } from '../journal/read-files.ts'
import type { ConversationState } from '../project/conversation/conversation-state.ts'
import { defined } from '../text/defined.ts'
import { workingFolder } from '../project/store/project-paths.ts'
import { watchBudget } from './budget.ts'
import { LONGEST_RESULT, redactAndClip } from '../project/store/redact-and-clip.ts'
import type { HookContext } from './hook-context.ts'
import { markUpToDate, upToDateState } from './fast.ts'
import { findNamedSession } from './find-session.ts'
import { recordGitChanges } from './git-changes.ts'
import { injectUndelivered } from './inject.ts'
import { joinSessionIfNew } from './join-session.ts'
import { LARGE_OUTPUT, countEdit, nudgeAtEdit, nudgeAtLargeOutput } from './nudges.ts'
import type { SessionContext } from './session-context.ts'
import { mayCrossThreshold } from './transcript-scan.ts'
import {
  isProjectFile,
  readTranscript,
  recordChangedFile,
  recordObservation,
  recordTestRun,
} from './transcript.ts'
import { isWorkByTool, openSessionIf } from './trivial-conversation.ts'

type ToolUsed = HookEventOf<'toolUsed'>

const MAX_TASK_LENGTH = 200
const MAX_QUESTION_LENGTH = 400

export async function onToolUsed(context: SessionContext<ToolUsed>): Promise<void> {
  const facts = readFullToolFacts(context)
  bindFromCommand(context, facts)
  if (context.session === undefined) countTool(context)
  const changesProject = facts.isEdit
    ? isProjectFile(facts.edited)
    : await changesFiles(context, facts)
  await openSessionIf(
    context,
    isWorkByTool(context.conversationState, { ...facts, changesProject }),
  )
  joinSessionIfNew(context, 'tool')
  await recordFacts(context, facts)
  if (context.session === undefined) return
  // Context injected for a subagent does not reach the conversation.
  if (context.event.agent !== undefined) return
  const { given, awaitsBoundary } = context.conversationState
  // Everything else can wait until the end of the turn.
  if (awaitsBoundary === true || given?.isProved === false)
    await injectUndelivered(context, (await readTranscript(context)).delivery)
  watchBudget(context)
  if (facts.isEdit) nudgeAtEdit(context)
  if (isLargeOutput(facts)) nudgeAtLargeOutput(context)
  markUpToDate(context)
}

/** Whether a shell command of a conversation without a session wrote files of the project. */
async function changesFiles(context: SessionContext, { command }: ToolFacts): Promise<boolean> {
  if (context.session !== undefined || command === undefined) return false
  const { observeCommand } = await import('../command/observe-command.ts')
  const root = workingFolder(context.paths)
  const finished = { command, output: '', isError: false, cwd: context.event.cwd, root }
  return observeCommand(finished, []).written.some(({ path }) => isProjectFile(path))
}

function countTool(context: SessionContext): void {
  const { unbound = { requests: 0, tools: 0 } } = context.conversationState
  context.update({ unbound: { ...unbound, tools: unbound.tools + 1 } })
}

/**
 * Most tool uses need no handler: another edit of a recorded file, or a command that is neither git
 * nor stint.
 */
export function toolUsedFast(context: HookContext<ToolUsed>): boolean {
  const { conversationState, event, paths, stateFolder, protocol } = context
  if (event.agent !== undefined || conversationState.given?.isProved === false) return false
  const settled = upToDateState(context)
  if (
    settled === undefined ||
    mayCrossThreshold(protocol.transcriptPatterns, stateFolder, conversationState)
  )
    return false
  const facts = readFastToolFacts(event, workingFolder(paths))
  if (facts === undefined) return false
  if (facts.isEdit) return settled.files.includes(facts.edited ?? '') && !countEdit(context).isDue
  return facts.command !== undefined && needsNoHandler(facts.command, facts, conversationState)
}

const MAY_CHANGE_SESSION = /git|stint|hub|merge|rebase|commit/

function needsNoHandler(
  command: string,
  facts: ToolFacts,
  conversationState: ConversationState,
): boolean {
  if (MAY_CHANGE_SESSION.test(command)) return false
  if (isLargeOutput(facts) && !conversationState.nudged.includes('output')) return false
  // Test results are read from the transcript later.
  return !mayRunTests(command) || hasReadableTranscript(conversationState)
}

function hasReadableTranscript({ transcript, looked }: ConversationState): boolean {
  return (
    transcript !== undefined && looked !== undefined && statOrUndefined(transcript) !== undefined
  )
}

/** Which files the session has is not known: the fold drops what it has. */
export function recordEditUnread(context: HookContext<ToolUsed>): void {
  const { isEdit, edited } = readFullToolFacts(context)
  if (isEdit && isProjectFile(edited)) context.record('file.changed', { path: edited! })
}

function readFullToolFacts({ event, paths }: HookContext<ToolUsed>): ToolFacts {
  return harnessHooks(event.harness)!.toolFacts(event, workingFolder(paths))
}

function isLargeOutput({ output = '' }: ToolFacts): boolean {
  return output.length >= LARGE_OUTPUT
}

async function recordFacts(context: SessionContext<ToolUsed>, facts: ToolFacts): Promise<void> {
  const { conversation, toolUseId } = context.event
  const { config } = context
  const { edited, todos, answers = [], command, output = '', agentStarted, agentFinished } = facts
  if (edited !== undefined && isProjectFile(edited)) recordChangedFile(context, edited)
  for (const { question, answer } of answers) {
    const texts = {
      question: redactAndClip(question, MAX_QUESTION_LENGTH, config),
      answer: redactAndClip(answer, MAX_QUESTION_LENGTH, config),
    }
    const once = toolUseId === undefined ? undefined : `answer:${toolUseId}:${texts.question}`
    context.record('question.answered', { ...texts, conversation }, once)
  }
  if (todos !== undefined && context.session !== undefined) {
    const { draftsForTodos } = await import('../harness/contract/todo-list.ts')
    const mint = () => context.session!.mint()
    context.drafts.push(...draftsForTodos(todos, context.state, conversation, mint))
  }
  if (command !== undefined) {
    const finished = { conversation, command, output, isError: false, toolUseId }
    if (mayRunTests(command)) await recordTestRun(context, finished)
    // The transcript also shows commands that failed.
    if (!hasReadableTranscript(context.conversationState))
      await recordObservation(context, finished)
  }
  if (agentStarted !== undefined) {
    const { agent, description } = agentStarted
    const task = redactAndClip(description, MAX_TASK_LENGTH, config)
    context.update({
      agents: { ...context.conversationState.agents, [agent]: task },
    })
  }
  if (agentFinished !== undefined) {
    const { agent, type, task, result } = agentFinished
    const texts = {
      task: task === undefined ? undefined : redactAndClip(task, MAX_TASK_LENGTH, config),
      result: result === undefined ? undefined : redactAndClip(result, LONGEST_RESULT, config),
    }
    const data = { agent, conversation, ...defined({ type, ...texts }) }
    context.record('agent.finished', data, `agent:${agent}`)
  }
  if (context.session !== undefined && (facts.committed || facts.isEdit))
    recordGitChanges(context, { follows: true })
}

function bindFromCommand(context: SessionContext, { stintCommand, output = '' }: ToolFacts): void {
  if (stintCommand === 'log' || stintCommand === 'checkpoint') context.update({ edits: 0 })
  if (stintCommand !== 'init' && stintCommand !== 'resume') return
  // With old clients the command does not know its conversation and cannot bind it.
  const name = /(?:Session Initialized|Resuming Session): ([a-z0-9-]+)/.exec(output)?.[1]
  const found =
    name === undefined ? undefined : findNamedSession(context.paths, context.config, name)
  if (found !== undefined) context.bindTo(found)
}
