import { join } from 'node:path'
import type { Harness } from '../../harness/contract/drive.ts'
import { startOf } from '../../harness/process/spawn-guarded.ts'
import { DEFAULT_HARNESS, findHarness } from '../../harness/registry.ts'
import { StintError } from '../../journal/errors.ts'
import { mintId } from '../../journal/ids.ts'
import { redaction } from '../../project/store/clean-draft.ts'
import { refuseInRun } from '../../project/store/in-run.ts'
import { runsFolder } from '../../project/store/run-files.ts'
import { Workspace } from '../../project/store/workspace.ts'
import { defined } from '../../text/defined.ts'
import { redactDeep } from '../../text/redact.ts'
import { plainEnvironment } from '../attempt/run-context.ts'
import { harnessNamed } from '../loop/make-run-context.ts'
import { spendOf } from '../report.ts'
import { addSpent } from '../run-state.ts'
import { type Answered, type PromptContext, answer, askQuestions } from './answer.ts'
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
  const { id, session, harness, questions } = context
  emit('prompt.started', {
    prompt: id,
    session: session.id,
    name: session.name,
    harness: harness.name,
    isNewSession: session.isNew,
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
  const interrupt = async () => {
    stopping.abort()
    await ended
  }
  return { id, session: session.id, decide: questions.decide, interrupt, ended }
}

async function begin(around: Workspace, workspace: Workspace, request: PromptRequest, emit: Emit) {
  const { config } = workspace
  const { model = config.run.model, permissions = 'ask', text, script } = request
  const row = await findPrompted(around, workspace, request)
  const name = harnessToPrompt(workspace, row?.id, request)
  const first = await harnessNamed(name, workspace, defined({ script }))
  const supported = first.capabilities.permissions
  if (!supported.includes(permissions))
    throw new StintError(
      'NO_PERMISSIONS',
      `${first.name} does not keep to --permissions ${permissions}`,
      `it keeps to ${supported.join(', ')}`,
    )
  // The check may start the harness, so that in a session that exists it runs only after a failure.
  const missing = row === undefined ? await problemWith(first, workspace) : undefined
  if (missing !== undefined) throw new StintError('HARNESS_MISSING', missing.problem, missing.hint)
  const session = await enterPrompted(workspace, row, request)
  const id = mintId(undefined)
  const owner = { pid: process.pid, startedAt: startOf(process.pid), mark: '' }
  const release = await holdSession(workspace.place, session, id, owner)
  const journal = workspace.session(session.id)
  const finish = async (): Promise<void> => {
    await workspace.refreshIfPossible(journal)
    journal.close()
    release()
    workspace.close()
  }
  try {
    const stopping = new AbortController()
    // The session keeps what a harness without a memory of its own remembers.
    const state = join(runsFolder(workspace.place), 'prompts', session.id)
    const harness = await harnessNamed(name, workspace, { state, ...defined({ script }) })
    const way = wayOn(journal.read(), harness, config.budget, request)
    const context = {
      id,
      text,
      workspace,
      session,
      journal,
      harness,
      model,
      permissions,
      questions: askQuestions(emit, stopping.signal),
      secrets: redaction(config),
      emit,
      stopping: stopping.signal,
    }
    return { context, way, stopping, finish }
  } catch (error) {
    await finish()
    throw error
  }
}

/** Never throws: no caller waits for it, so a failure is its end. */
async function work(
  { context, way, finish }: Awaited<ReturnType<typeof begin>>,
  request: PromptRequest,
): Promise<Answered> {
  try {
    return await answerSomewhere(context, way, request)
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error)
    return { how: 'failed', failure, spent: {}, isUntouched: true }
  } finally {
    await finish()
  }
}

async function answerSomewhere(
  context: PromptContext,
  way: WayOn,
  request: PromptRequest,
): Promise<Answered> {
  const answered = await answer(context, way)
  if (!answered.isUntouched || context.stopping.aborted) return answered
  const missing = await problemWith(context.harness, context.workspace)
  if (missing !== undefined)
    return { ...answered, how: 'failed', failure: `${missing.problem}: ${missing.hint}` }
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

function harnessToPrompt(
  workspace: Workspace,
  session: string | undefined,
  { harness, conversation }: PromptRequest,
): string {
  const configured = workspace.config.run.harness
  if (conversation === undefined) return harness ?? configured ?? DEFAULT_HARNESS
  if (session === undefined)
    throw new StintError(
      'NO_CONVERSATION',
      'a new session has no conversation to go on with',
      'leave --conversation out',
    )
  const journal = workspace.session(session)
  const own = harnessOfConversation(journal.read().state, conversation)
  journal.close()
  // Of an agent that a command starts the journal knows the protocol, and not the command.
  const isNameless = findHarness(own)?.argument?.isRequired !== undefined
  return harness ?? (isNameless ? (configured ?? own) : own)
}

async function problemWith(harness: Harness, { env }: Workspace) {
  const check = await harness.check(env)
  return check.isThere ? undefined : check
}
