import { join } from 'node:path'
import type { Harness, HarnessCheck, Permissions } from '../../harness/contract/drive.ts'
import { startOf } from '../../harness/process/spawn-guarded.ts'
import { StintError } from '../../journal/errors.ts'
import { mintId } from '../../journal/ids.ts'
import { redaction } from '../../project/store/clean-draft.ts'
import { refuseInRun } from '../../project/store/in-run.ts'
import { runsFolder } from '../../project/store/run-files.ts'
import { Workspace } from '../../project/store/workspace.ts'
import { defined } from '../../text/defined.ts'
import { plainEnvironment } from '../attempt/agent-environment.ts'
import { DEFAULT_HARNESS, findHarness } from '../../harness/registry.ts'
import { harnessNamed } from '../harnesses.ts'
import { redactDeep } from '../../text/redact.ts'
import { addSpent } from '../run-state.ts'
import { spendOf } from '../report.ts'
import { type Answered, type PromptContext, Questions, answer } from './answer.ts'
import {
  type Emit,
  type PromptEnd,
  type PromptEvent,
  type PromptHandle,
  type PromptRequest,
  emitTo,
} from './contract.ts'
import {
  type WayOn,
  enterPrompted,
  findPrompted,
  harnessOfConversation,
  holdSession,
  wayOn,
} from './prompted-session.ts'

/**
 * One prompt to an agent, in a session that is new or goes on. What is wrong is said before anything is begun; the agent
 * works behind the handle.
 */
export async function startPrompt(
  around: Workspace,
  request: PromptRequest,
  tell: (event: PromptEvent) => void,
): Promise<PromptHandle> {
  refuseInRun(around, 'prompting another agent')
  refuseSenseless(request)
  const early: string[] = []
  let say = (text: string): unknown => early.push(text)
  const { place } = around
  const workspace = new Workspace(place.repository?.worktree ?? place.root, {
    say: (text) => say(text),
    env: plainEnvironment(around.env),
  })
  const secrets = redaction(workspace.config)
  const emit = emitTo(tell, secrets)
  const begun = await begin(around, workspace, request, emit).catch((error: unknown) => {
    workspace.close()
    throw error
  })
  const { context, way, stopping } = begun
  emit('prompt.started', {
    prompt: context.id,
    session: context.session.id,
    name: context.session.name,
    harness: context.harness.name,
    isNewSession: context.session.isNew,
    isFresh: way.how !== 'resumed',
  })
  say = (text) => emit('message', { text })
  for (const text of early) say(text)
  const startedAt = Date.now()
  const ended = work(begun, request).then(({ how, said, failure, spent }) => {
    const spend = spendOf(spent, workspace.config.prices)
    const seconds = (Date.now() - startedAt) / 1000
    const last: PromptEnd = { how, ...defined({ said, failure }), spend, seconds }
    emit('prompt.ended', last)
    return redactDeep(last, secrets).value
  })
  return {
    id: context.id,
    session: context.session.id,
    decide: (asked, isAllowed) => context.questions.decide(asked, isAllowed),
    interrupt: async () => {
      stopping.abort()
      await ended
    },
    ended,
  }
}

interface Begun {
  readonly context: PromptContext
  readonly way: WayOn
  readonly stopping: AbortController
  /** Gives back what was taken. */
  readonly finish: () => Promise<void>
}

async function begin(
  around: Workspace,
  workspace: Workspace,
  request: PromptRequest,
  emit: Emit,
): Promise<Begun> {
  const { model = workspace.config.run.model, permissions = 'ask', text } = request
  const row = await findPrompted(around, workspace, request)
  const name = harnessToPrompt(workspace, row?.id, request)
  refusePermissions(await promptedHarness(workspace, name, request), permissions)
  // Where there is a session already, it is enough to look when the harness could not be had: looking may mean to start it.
  if (row === undefined)
    await refuseMissing(await promptedHarness(workspace, name, request), workspace.env)
  const session = await enterPrompted(workspace, row, request)
  const id = mintId(undefined)
  const owner = { pid: process.pid, startedAt: startOf(process.pid), mark: '' }
  const held = await holdSession(workspace.place, session, id, owner)
  const journal = workspace.session(session.id)
  const finish = async (): Promise<void> => {
    await workspace.refreshIfPossible(journal)
    journal.close()
    held.release()
    workspace.close()
  }
  try {
    const stopping = new AbortController()
    const harness = await promptedHarness(workspace, name, request, session.id)
    const way = wayOn(journal.read(), harness, workspace.config.budget, request)
    const questions = new Questions(emit, stopping.signal)
    const secrets = redaction(workspace.config)
    const shared = {
      id,
      text,
      workspace,
      session,
      journal,
      harness,
      model,
      permissions,
      questions,
      secrets,
      emit,
    }
    return { context: { ...shared, stopping: stopping.signal }, way, stopping, finish }
  } catch (error) {
    await finish()
    throw error
  }
}

/** Whatever happens, what was taken is given back. */
async function work({ context, way, finish }: Begun, request: PromptRequest): Promise<Answered> {
  try {
    return await answerSomewhere(context, way, request)
  } catch (error) {
    // Nobody waits for it who could be thrown at: it is told as its end.
    return {
      how: 'failed',
      failure: error instanceof Error ? error.message : String(error),
      spent: {},
      isUntouched: true,
    }
  } finally {
    await finish()
  }
}

/** A conversation that is gone does not keep its session from going on. */
async function answerSomewhere(
  context: PromptContext,
  way: WayOn,
  request: PromptRequest,
): Promise<Answered> {
  const answered = await answer(context, way)
  if (!answered.isUntouched || context.stopping.aborted) return answered
  const problem = await problemWith(context.harness, context.workspace.env)
  if (problem !== undefined)
    return { ...answered, how: 'failed', failure: `${problem.problem}: ${problem.hint}` }
  if (way.how !== 'resumed' || request.conversation !== undefined) return answered
  const why = answered.failure ?? 'no reason given'
  context.emit('message', {
    text: `conversation ${way.conversation} cannot be gone on with: ${why}. A fresh one is begun`,
  })
  const again = await answer(context, { how: 'fresh' })
  return { ...again, spent: addSpent(answered.spent, again.spent) }
}

function refuseSenseless({ text, isNew, isFresh, session, conversation }: PromptRequest): void {
  if (text.trim() === '')
    throw new StintError('NO_TEXT', 'there is nothing to prompt with', 'stint prompt "What to do"')
  const refuse = (what: string) => new StintError('SENSELESS', what, 'leave one of them out')
  if (isNew === true && session !== undefined)
    throw refuse('a session is either new or the one that is named')
  if (isNew === true && conversation !== undefined)
    throw refuse('a new session has no conversation to go on with')
  if (isFresh === true && conversation !== undefined)
    throw refuse('a conversation is either fresh or the one that is named')
}

type Missing = Extract<HarnessCheck, { readonly isThere: false }>

/** The name of the harness that is prompted: the one asked for, that of the conversation, the configuration's, or the default. */
export function harnessToPrompt(
  workspace: Workspace,
  session: string | undefined,
  request: PromptRequest,
): string {
  const { harness, conversation } = request
  if (conversation === undefined) return harness ?? workspace.config.run.harness ?? DEFAULT_HARNESS
  if (session === undefined) {
    throw new StintError(
      'NO_CONVERSATION',
      'a new session has no conversation to go on with',
      'leave --conversation out',
    )
  }
  const journal = workspace.session(session)
  const own = harnessOfConversation(journal.read().state, conversation)
  journal.close()
  // Of an agent that a command starts the journal knows the protocol, and not the command.
  const isNameless = findHarness(own)?.argument?.isRequired !== undefined
  return harness ?? (isNameless ? (workspace.config.run.harness ?? own) : own)
}

/** The harness itself. The session keeps what a harness without a memory of its own remembers. */
export function promptedHarness(
  workspace: Workspace,
  name: string,
  { script }: PromptRequest,
  session?: string,
): Promise<Harness> {
  const state =
    session === undefined ? {} : { state: join(runsFolder(workspace.place), 'prompts', session) }
  return harnessNamed(name, workspace, { ...state, ...defined({ script }) })
}

export function refusePermissions({ name, capabilities }: Harness, permissions: Permissions): void {
  if (capabilities.permissions.includes(permissions)) return
  throw new StintError(
    'NO_PERMISSIONS',
    `${name} does not keep to --permissions ${permissions}`,
    `it keeps to ${capabilities.permissions.join(', ')}`,
  )
}

/** What keeps it from being prompted, if anything does. */
export async function problemWith(
  harness: Harness,
  env: NodeJS.ProcessEnv,
): Promise<Missing | undefined> {
  const check = await harness.check(env)
  return check.isThere ? undefined : check
}

export async function refuseMissing(harness: Harness, env: NodeJS.ProcessEnv): Promise<void> {
  const missing = await problemWith(harness, env)
  if (missing !== undefined) throw new StintError('HARNESS_MISSING', missing.problem, missing.hint)
}
