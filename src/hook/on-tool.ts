import { factsOf, type ToolFacts } from '../harness/claude/tool-facts.ts'
import { mayBeTests } from '../command/may-be-tests.ts'
import { clip } from './clip.ts'
import { namedSession } from './find-session.ts'
import { recordGitMoves } from './git-moves.ts'
import { joinIfNew } from './join.ts'
import { LONGEST_RESULT } from './longest.ts'
import { lookAtTranscript } from './look.ts'
import { LARGE_OUTPUT } from './large-output.ts'
import { nudgeAtEdit, nudgeAtLargeOutput } from './nudges.ts'
import { redeliver } from './redeliver.ts'
import { noteSettled } from './note-settled.ts'
import { watchBudget } from './stages.ts'
import type { EventOf } from '../harness/claude/events.ts'
import type { Scene } from './scene.ts'
import { defined } from '../text/defined.ts'

/** The agent did something: what can be told of it without asking anybody is recorded. */
export async function onToolUsed(scene: Scene<EventOf<'toolUsed'>>): Promise<void> {
  const facts = factsOf(scene.event, scene.place.repository?.worktree ?? scene.place.root)
  followCommand(scene, facts)
  if (scene.session === undefined && facts.isEdit && isProjectFile(facts.edited))
    await beginWork(scene, facts.edited!)
  if (scene.session === undefined) return
  recordKeptFiles(scene)
  joinIfNew(scene, 'tool')
  await recordFacts(scene, facts)
  // What a delegated agent is told does not reach the conversation.
  if (isOfDelegate(scene)) return
  const { given, awaitsBoundary } = scene.tracking
  // The transcript is looked at only for what cannot wait until the turn is over.
  if (awaitsBoundary === true || given?.isProved === false)
    await redeliver(scene, (await lookAtTranscript(scene)).arrival)
  watchBudget(scene)
  if (facts.isEdit) nudgeAtEdit(scene)
  if ((facts.output?.length ?? 0) >= LARGE_OUTPUT) nudgeAtLargeOutput(scene)
  noteSettled(scene)
}

function isOfDelegate({ event }: Scene): boolean {
  return event.kind === 'toolUsed' && event.agent !== undefined
}

const MOST_KEPT = 50

function keepFile(scene: Scene, path: string): void {
  const { files = [] } = scene.tracking
  scene.note({ files: [...new Set([...files, path])].slice(-MOST_KEPT) })
}

function recordKeptFiles(scene: Scene): void {
  const { files, ...rest } = scene.tracking
  if (files === undefined) return
  for (const path of files) if (!isKnownFile(scene, path)) scene.record('file.changed', { path })
  scene.tracking = rest
}

async function beginWork(scene: Scene, path: string): Promise<void> {
  const { ended } = scene.tracking
  // The last touches after closing a session are no new work; what is asked for afterwards is.
  if (ended !== undefined && !ended.askedSince) return
  if (scene.here.several.length > 0) return
  // Somebody named a session that is not open; another one is not what they want.
  if ((scene.env.STINT_SESSION ?? '') !== '') return
  if (scene.config.auto === 'on') {
    const { openSession } = await import('./open-session.ts')
    // Another hook is just opening one: the file is recorded by the next that finds it.
    if (openSession(scene) === 'busy') keepFile(scene, path)
  }
  if (
    scene.config.auto === 'ask' &&
    !isOfDelegate(scene) &&
    !scene.tracking.nudged.includes('ask')
  ) {
    scene.note({ nudged: [...scene.tracking.nudged, 'ask'] })
    scene.say({
      person: '📋 No session is open here; /session-init starts one',
      model:
        'Stint: no session covers this work. The person has chosen to be asked before one is opened: `stint init --name NAME --goal TEXT` opens it.',
    })
  }
}

async function recordFacts(scene: Scene, facts: ToolFacts): Promise<void> {
  const { conversation, toolUseId } = scene.event as EventOf<'toolUsed'>
  const { state } = scene
  if (
    facts.edited !== undefined &&
    isProjectFile(facts.edited) &&
    !isKnownFile(scene, facts.edited)
  ) {
    scene.record('file.changed', { path: facts.edited })
  }
  if (facts.todos !== undefined) {
    const { draftsForTodos } = await import('../harness/contract/plan-steps.ts')
    scene.drafts.push(
      ...draftsForTodos(facts.todos, state, conversation, () => scene.session!.mint()),
    )
  }
  if (facts.command !== undefined && mayBeTests(facts.command)) {
    const { testRunOf } = await import('../command/test-runs.ts')
    const run = testRunOf(facts.command, facts.output ?? '', false)
    if (run !== undefined)
      scene.record(
        'test.ran',
        { ...run, conversation },
        toolUseId === undefined ? undefined : `test:${toolUseId}`,
      )
  }
  if (facts.agentStarted !== undefined) {
    const { agent, description } = facts.agentStarted
    scene.note({
      agents: { ...scene.tracking.agents, [agent]: clip(description, 200, scene.config) },
    })
  }
  if (facts.agentFinished !== undefined) {
    const { agent, type, task, result } = facts.agentFinished
    scene.record(
      'agent.finished',
      {
        agent,
        conversation,
        ...defined({ type }),
        ...(task === undefined ? {} : { task: clip(task, 200, scene.config) }),
        ...(result === undefined ? {} : { result: clip(result, LONGEST_RESULT, scene.config) }),
      },
      `agent:${agent}`,
    )
  }
  if (facts.committed || facts.isEdit) recordGitMoves(scene, { follows: true })
}

/** What the agent did with Stint itself. */
function followCommand(scene: Scene, facts: ToolFacts): void {
  const { stintCommand } = facts
  if (stintCommand === undefined) return
  if (stintCommand === 'log' || stintCommand === 'checkpoint') scene.note({ edits: 0 })
  if (stintCommand !== 'init' && stintCommand !== 'resume') return
  // Old clients do not tell a command its conversation, so that it could not bind it itself.
  const name = /(?:Session Initialized|Resuming Session): ([a-z0-9-]+)/.exec(
    facts.output ?? '',
  )?.[1]
  const found = name === undefined ? undefined : namedSession(scene.place, scene.config, name)
  if (found !== undefined) scene.workOn(found)
}

function isKnownFile(scene: Scene, path: string): boolean {
  const { items, leftOut } = scene.state.changedFiles
  return items.some((file) => file.text === path) || (leftOut?.includes(path) ?? false)
}

/** Inside the project, and not Stint's own files. */
function isProjectFile(path: string | undefined): boolean {
  return (
    path !== undefined &&
    !path.startsWith('/') &&
    !path.startsWith('..') &&
    !/^\.(?:sessions|tasks|git)\//.test(path)
  )
}
