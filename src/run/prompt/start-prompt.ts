import { join } from 'node:path'
import type { Harness } from '../../harness/contract/drive.ts'
import { processStartTime } from '../../harness/process/spawn-guarded.ts'
import { DEFAULT_HARNESS, findHarness } from '../../harness/registry.ts'
import { StintError, reasonOf } from '../../journal/errors.ts'
import { mintId } from '../../journal/ids.ts'
import { redaction } from '../../project/store/clean-draft.ts'
import { refuseInRun } from '../../project/store/run-environment.ts'
import { runsFolder } from '../../project/store/run-files.ts'
import { refuseSettingsOfAgent, requireConsent } from '../../project/trust/trust.ts'
import { Workspace } from '../../project/store/workspace.ts'
import { defined } from '../../text/defined.ts'
import { redactDeep } from '../../text/redact.ts'
import { plainEnvironment } from '../attempt/run-context.ts'
import { loadHarness } from '../loop/make-run-context.ts'
import { priceUsage } from '../report.ts'
import { addUsageByModel } from '../run-state.ts'
import {
  type PromptContext,
  type PromptResult,
  collectPermissionRequests,
  runPrompt,
} from './run-prompt.ts'
import {
  type EmitPromptEvent,
  type PromptEnd,
  type PromptEvent,
  type PromptHandle,
  type PromptRequest,
  emitPromptEventsTo,
} from './prompt-events.ts'
import {
  type ConversationStart,
  chooseConversationStart,
  claimSession,
  findPromptedSession,
  harnessOfConversation,
  openPromptedSession,
} from './prompted-session.ts'

export async function startPrompt(
  callerWorkspace: Workspace,
  request: PromptRequest,
  listener: (event: PromptEvent) => void,
): Promise<PromptHandle> {
  refuseInRun(callerWorkspace, 'prompting another agent')
  refuseContradictions(request)
  const early: string[] = []
  let say = (text: string): unknown => early.push(text)
  const { paths } = callerWorkspace
  const workspace = new Workspace(paths.repository?.worktree ?? paths.root, {
    say: (text) => say(text),
    env: plainEnvironment(callerWorkspace.env),
  })
  const secrets = redaction(workspace.config)
  const emit = emitPromptEventsTo(listener, secrets)
  const prepared = await prepare(callerWorkspace, workspace, request, emit).catch(
    (error: unknown) => {
      workspace.close()
      throw error
    },
  )
  const { context, way, stopping } = prepared
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
  const ended = work(prepared, request).then(({ how, said, failure, spent }) => {
    const spend = priceUsage(spent, workspace.config.prices)
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

async function prepare(
  callerWorkspace: Workspace,
  workspace: Workspace,
  request: PromptRequest,
  emit: EmitPromptEvent,
) {
  refuseSettingsOfAgent(callerWorkspace, request)
  requireConsent(workspace)
  const { config } = workspace
  const { model = config.run.model, permissions = 'ask', text, script } = request
  const row = await findPromptedSession(callerWorkspace, workspace, request)
  const name = harnessToPrompt(workspace, row?.id, request)
  const first = await loadHarness(name, workspace, defined({ script }))
  const supported = first.capabilities.permissions
  if (!supported.includes(permissions))
    throw new StintError(
      'NO_PERMISSIONS',
      `${first.name} does not keep to --permissions ${permissions}`,
      `it keeps to ${supported.join(', ')}`,
    )
  // The check may start the harness, so for an existing session it runs only after a failure.
  const missing = row === undefined ? await problemWith(first, workspace) : undefined
  if (missing !== undefined) throw new StintError('HARNESS_MISSING', missing.problem, missing.hint)
  const session = await openPromptedSession(workspace, row, request)
  const id = mintId(undefined)
  const owner = { pid: process.pid, startedAt: processStartTime(process.pid), mark: '' }
  const release = await claimSession(workspace.paths, session, id, owner)
  const journal = workspace.session(session.id)
  const finish = async (): Promise<void> => {
    await workspace.refreshIfPossible(journal)
    journal.close()
    release()
    workspace.close()
  }
  try {
    const stopping = new AbortController()
    // Per session, for harnesses that do not store conversations themselves.
    const state = join(runsFolder(workspace.paths), 'prompts', session.id)
    const harness = await loadHarness(name, workspace, { state, ...defined({ script }) })
    const start = chooseConversationStart(journal.read(), harness, config.budget, request)
    const context = {
      id,
      text,
      workspace,
      session,
      journal,
      harness,
      model,
      permissions,
      questions: collectPermissionRequests(emit, stopping.signal),
      secrets: redaction(config),
      emit,
      stopping: stopping.signal,
    }
    return { context, way: start, stopping, finish }
  } catch (error) {
    await finish()
    throw error
  }
}

/** Never throws, because no caller may be waiting: a failure becomes the result. */
async function work(
  { context, way, finish }: Awaited<ReturnType<typeof prepare>>,
  request: PromptRequest,
): Promise<PromptResult> {
  try {
    return await runWithFallback(context, way, request)
  } catch (error) {
    return { how: 'failed', failure: reasonOf(error), spent: {}, isUntouched: true }
  } finally {
    await finish()
  }
}

async function runWithFallback(
  context: PromptContext,
  start: ConversationStart,
  request: PromptRequest,
): Promise<PromptResult> {
  const result = await runPrompt(context, start)
  if (!result.isUntouched || context.stopping.aborted) return result
  const missing = await problemWith(context.harness, context.workspace)
  if (missing !== undefined)
    return { ...result, how: 'failed', failure: `${missing.problem}: ${missing.hint}` }
  if (start.how !== 'resumed' || request.conversation !== undefined) return result
  const why = result.failure ?? 'no reason given'
  context.emit('message', {
    text: `conversation ${start.conversation} cannot be gone on with: ${why}. A fresh one is begun`,
  })
  const again = await runPrompt(context, { how: 'fresh' })
  return { ...again, spent: addUsageByModel(result.spent, again.spent) }
}

function refuseContradictions({
  text,
  isNew,
  isFresh,
  session,
  conversation,
}: PromptRequest): void {
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
  // For an ACP agent the journal knows the protocol but not the command, and a forged journal must not bring one.
  const { name, argument } = findHarness(own) ?? { name: own }
  return harness ?? (argument?.isRequired === undefined ? own : (configured ?? name))
}

async function problemWith(harness: Harness, { env }: Workspace) {
  const check = await harness.check(env)
  return check.isThere ? undefined : check
}
