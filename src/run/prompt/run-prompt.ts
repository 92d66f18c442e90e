import { isAbsolute, relative } from 'node:path'
import { stageAction } from '../../context/budget/stages.ts'
import { unlessGitFails } from '../../git/run-git.ts'
import type {
  Conversation,
  ConversationOptions,
  Harness,
  HarnessEvent,
  PermissionRequest,
  Permissions,
  TurnEnded,
} from '../../harness/contract/drive.ts'
import { compactionPointFor, harnessHooks } from '../../harness/registry.ts'
import { LONGEST_MESSAGE, redactAndClip } from '../../project/store/redact-and-clip.ts'
import { requestFromPrompt } from '../../hook/requests.ts'
import { errnoOf, reasonOf } from '../../journal/errors.ts'
import { withRecorder } from '../../project/conversation/conversation-recorder.ts'
import {
  newConversationState,
  readConversationState,
  writeConversationState,
} from '../../project/conversation/conversation-state.ts'
import { conversationStateFolder } from '../../project/store/conversation-binding.ts'
import type { LiveSession } from '../../project/store/live-session.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import {
  type EntryData,
  type EntryDraft,
  type EntryKind,
  draftEntry,
} from '../../session/entries.ts'
import { withoutControls } from '../../text/clean.ts'
import { defined } from '../../text/defined.ts'
import { type RedactOptions, redact } from '../../text/redact.ts'
import { AGENT_COMMANDS } from '../attempt/run-context.ts'
import {
  type FinishedTurn,
  LiveConversation,
  compactedEntry,
  crossedEntry,
  openUnlessStopped,
} from '../attempt/live-conversation.ts'
import { recorderFor } from '../attempt/record-conversation.ts'
import { priceUsage } from '../report.ts'
import { newCommits } from '../worktree/run-tree.ts'
import type { EmitPromptEvent } from './prompt-events.ts'
import {
  type ConversationStart,
  type OpeningPrompt,
  PROMPT_VARIABLE,
  type PromptedSession,
  composeOpeningPrompt,
} from './prompted-session.ts'

export interface PromptContext {
  readonly id: string
  readonly text: string
  /** In the agent's checkout, without environment variables of another agent. */
  readonly workspace: Workspace
  readonly session: PromptedSession
  readonly journal: LiveSession
  readonly harness: Harness
  readonly model: string | undefined
  readonly permissions: Permissions
  readonly questions: ReturnType<typeof collectPermissionRequests>
  readonly secrets: RedactOptions
  readonly stopping: AbortSignal
  readonly emit: EmitPromptEvent
}

export interface PromptResult {
  readonly how: TurnEnded['how']
  readonly said?: string
  readonly failure?: string
  readonly spent: FinishedTurn['spent']
  /** The conversation could not be opened, or died before the agent said or did anything. */
  readonly isUntouched: boolean
}

export async function runPrompt(
  context: PromptContext,
  start: ConversationStart,
): Promise<PromptResult> {
  const opening = await composeOpeningPrompt(
    context.workspace,
    context.session,
    start,
    context.text,
  )
  let opened: Conversation | 'stopped'
  try {
    opened = await openUnlessStopped(
      context.harness,
      conversationOptions(context, start),
      context.stopping,
    )
  } catch (error) {
    return { how: 'failed', failure: reasonOf(error), spent: {}, isUntouched: true }
  }
  if (opened === 'stopped') return { how: 'interrupted', spent: {}, isUntouched: false }
  return runTurn(context, start, opening, opened)
}

async function runTurn(
  context: PromptContext,
  start: ConversationStart,
  opening: OpeningPrompt,
  opened: Conversation,
): Promise<PromptResult> {
  const { emit, harness, questions, stopping, workspace } = context
  const { config, cwd, env } = workspace
  const journal = promptJournal(context)
  const crossed = start.how === 'resumed' ? start.crossed : []
  const point = compactionPointFor(harness.name, env, cwd)
  const recordedConversation = withRecorder(opened, await recorderFor(workspace, harness.name, cwd))
  const live = new LiveConversation(
    1,
    recordedConversation,
    config.budget,
    point,
    harness.name,
    crossed,
  )
  const deltas = new SafeDeltas(context.secrets)
  let isUntouched = true
  const handleEvent = (event: HarnessEvent) => {
    if (event.type === 'delta') {
      const text = deltas.add(event.text)
      if (text !== '') emit('delta', { text })
    } else if (event.type === 'anew') {
      deltas.reset()
      emit('anew', {})
    } else if (event.type === 'text') {
      deltas.reset()
      emit('text', { text: event.text })
    } else if (event.type === 'tool') {
      journal.used(event)
      const { type: _, ...data } = event
      emit('tool', data)
    } else if (event.type === 'started') {
      const { conversation, model } = event
      journal.started(conversation, trackConversation(context, conversation), opening)
      emit('conversation.started', { conversation, ...defined({ model }) })
    } else if (event.type === 'compaction') {
      journal.compacted(event)
      emit('context.compacted', defined({ tokensBefore: event.tokensBefore }))
    } else if (event.type === 'limit')
      emit('limit.reached', { message: event.message, ...defined({ resetsAt: event.resetsAt }) })
    if (event.type === 'text' || event.type === 'delta' || event.type === 'tool')
      isUntouched = false
  }
  try {
    const turn = await live.turn(opening.text, {
      // The user waits for the answer and can interrupt it.
      silenceMs: Infinity,
      commandMs: Infinity,
      deadline: Infinity,
      isStopped: stopping,
      endsWhenFull: false,
      onEvent: handleEvent,
      checkBudget: (spent) => {
        emit('usage', { gauge: live.gauge, spend: priceUsage(spent, config.prices) })
        return undefined
      },
      onCrossed: (line, gauge) => {
        journal.append((conversation) => [crossedEntry(BY, conversation, line, gauge)])
        emit('stage', { stage: line, gauge })
      },
    })
    journal.turnEnded(turn)
    reportIfFull(context, live)
    const { said, spent, ended } = turn
    const how = turn.cut?.why === 'stop' ? 'interrupted' : ended.how
    const failure = how === 'interrupted' ? undefined : ended.failure
    const end = defined({ failure, said: said === '' ? undefined : said })
    return { how, ...end, spent, isUntouched: how === 'died' && isUntouched }
  } finally {
    questions.refuseAll()
    await live.close()
    const reason = 'the prompt is answered'
    journal.append((conversation) => [entry('conversation.ended', { conversation, reason })])
  }
}

function conversationOptions(
  { id, model, permissions, questions, session, workspace }: PromptContext,
  start: ConversationStart,
): ConversationOptions {
  const { config, cwd, env } = workspace
  const { verify } = config
  return {
    cwd,
    // We record everything ourselves; hooks would record it twice.
    env: { ...env, [PROMPT_VARIABLE]: id, STINT_SESSION: session.id, STINT_HOOKS: 'off' },
    permissions,
    allow: [...config.run.allow, ...(verify === undefined ? [] : [verify]), ...AGENT_COMMANDS],
    deltas: true,
    ...defined({ model, branch: workspace.git()?.branch }),
    ...(start.how === 'resumed' ? { resume: start.conversation } : {}),
    ...(permissions === 'ask' ? { decide: questions.ask } : {}),
  }
}

function reportIfFull({ emit, workspace }: PromptContext, live: LiveConversation): void {
  const { budget } = workspace.config
  const { percent } = live.gauge
  const isFull = live.crossed.some(
    (line) => line !== 'smart-zone' && stageAction(line, budget) === 'force',
  )
  if (!isFull) return
  const howFull = percent === undefined ? 'full' : `${percent}% full`
  emit('message', {
    text: `the context is ${howFull}: the next prompt goes on in a fresh conversation, through a handoff`,
  })
}

export function collectPermissionRequests(emit: EmitPromptEvent, stopping: AbortSignal) {
  const waiting = new Map<string, (isAllowed: boolean) => void>()
  let asked = 0
  stopping.addEventListener('abort', refuseAll, { once: true })

  function decide(request: string, isAllowed: boolean): boolean {
    const resolve = waiting.get(request)
    if (resolve === undefined) return false
    waiting.delete(request)
    resolve(isAllowed)
    emit('permission.settled', { request, isAllowed })
    return true
  }

  function refuseAll(): void {
    for (const request of waiting.keys()) decide(request, false)
  }

  async function ask(permission: PermissionRequest): Promise<boolean> {
    if (stopping.aborted) return false
    const request = String((asked += 1))
    return new Promise((resolve) => {
      waiting.set(request, resolve)
      emit('permission.asked', { request, permission })
    })
  }

  return { ask, decide, refuseAll }
}

/**
 * Records session and transcript of a conversation as hooks do, so that it can be resumed in a terminal and is copied even
 * if this process is killed. Returns the transcript's path if the harness has one.
 */
function trackConversation(
  { harness, session, workspace }: PromptContext,
  conversation: string,
): string | undefined {
  const reader = harnessHooks(harness.name)?.transcript
  if (reader === undefined) return undefined
  const folder = conversationStateFolder(workspace.paths)
  const transcript = reader.path(conversation, workspace.cwd, workspace.env)
  const known = readConversationState(folder, conversation)
  if (known?.session === session.id && known.transcript !== undefined) return known.transcript
  try {
    const tracking = known ?? newConversationState(harness.name, conversation)
    writeConversationState(folder, { transcript, ...tracking, session: session.id })
  } catch (error) {
    // With a full or read-only disk the conversation is only harder to find.
    if (errnoOf(error) === undefined) throw error
  }
  return transcript
}

/** A longer line is split into parts that are redacted separately. */
const LONGEST_LINE = 4000

/**
 * Splits a message into deltas that are safe to emit: never half a word, which might be half a secret, and no part of a line
 * that redaction may still change. The complete message follows, so nothing is lost.
 */
export class SafeDeltas {
  readonly #secrets: RedactOptions
  #line = ''
  #emitted = ''
  #isHeldBack = false

  constructor(secrets: RedactOptions) {
    this.#secrets = secrets
  }

  add(delta: string): string {
    this.#line += delta
    // A private key spans many lines.
    if (/-----BEGIN /.test(this.#line)) this.#isHeldBack = true
    if (this.#isHeldBack) return ''
    let safe = ''
    for (let end = this.#line.indexOf('\n'); end !== -1; end = this.#line.indexOf('\n')) {
      safe += this.#emitBeyond(this.#line.slice(0, end + 1))
      this.#line = this.#line.slice(end + 1)
      this.#emitted = ''
    }
    safe += this.#emitBeyond(this.#line.slice(0, this.#line.search(/\S*$/)))
    if (this.#line.length <= LONGEST_LINE) return safe
    safe += this.#emitBeyond(this.#line)
    this.reset()
    return safe
  }

  reset(): void {
    this.#line = ''
    this.#emitted = ''
    this.#isHeldBack = false
  }

  #emitBeyond(text: string): string {
    const safe = redact(withoutControls(text), this.#secrets).text
    if (!safe.startsWith(this.#emitted)) return ''
    const more = safe.slice(this.#emitted.length)
    this.#emitted = safe
    return more
  }
}

const BY = 'prompt'
const EDITING = /^(?:Edit|Write|MultiEdit|NotebookEdit|apply_patch|edit)$/

function promptJournal({ harness, journal: session, text, workspace }: PromptContext) {
  const { config, paths } = workspace
  const root = paths.repository?.worktree ?? paths.root
  const headBefore = workspace.git()?.commit
  const edited = new Set<string>()
  let conversation: string | undefined
  let isRequestRecorded = false

  function request(): readonly EntryDraft[] {
    const made = isRequestRecorded ? undefined : requestFromPrompt(text, config)
    isRequestRecorded = true
    if (made === undefined) return []
    return [entry('request.made', { text: made, conversation: conversation ?? '' })]
  }

  function commits(): readonly EntryDraft[] {
    const git = workspace.git()
    if (paths.repository === undefined || headBefore === undefined || git?.commit === headBefore)
      return []
    // The start commit may be gone, for example after a rebase.
    const made = unlessGitFails(() => newCommits(root, headBefore)) ?? []
    return made.map(({ commit, subject }) => {
      const data = { commit, subject, git: { ...git, commit } }
      return draftEntry('commit.made', data, { by: BY, once: `commit:${commit}` })
    })
  }

  return {
    append(draftsFor: (conversation: string) => readonly EntryDraft[]): void {
      if (conversation !== undefined) session.append(draftsFor(conversation))
    },

    started(id: string, transcript: string | undefined, { injected: given }: OpeningPrompt): void {
      conversation = id
      const joined = { conversation: id, harness: harness.name, source: BY }
      session.append([
        entry('conversation.joined', { ...joined, ...defined({ transcript }) }),
        ...(given === undefined
          ? []
          : [entry('context.given', { conversation: id, event: BY, ...given })]),
        ...request(),
      ])
    },

    used({ status, name, path }: Extract<HarnessEvent, { type: 'tool' }>): void {
      if (status !== 'completed' || path === undefined || !EDITING.test(name)) return
      const inside = isAbsolute(path) ? relative(root, path) : path
      if (inside === '' || inside.startsWith('..') || isAbsolute(inside) || edited.has(inside))
        return
      edited.add(inside)
      const isKnown = session.open().changedFiles.items.some((file) => file.text === inside)
      if (!isKnown) session.append([entry('file.changed', { path: inside })])
    },

    compacted(event: Extract<HarnessEvent, { type: 'compaction' }>): void {
      session.append([compactedEntry(BY, conversation, event)])
    },

    turnEnded({ said, spent, ended }: FinishedTurn): void {
      if (conversation === undefined) return void session.append(request())
      const text =
        said.trim() === '' ? undefined : redactAndClip(said.trim(), LONGEST_MESSAGE, config)
      const data = { conversation, ...defined({ said: text, failure: ended.failure }) }
      const models = Object.entries(spent)
      const turns = models.map(([model, usage]) => entry('turn.ended', { ...data, model, usage }))
      session.append([...(models.length === 0 ? [entry('turn.ended', data)] : turns), ...commits()])
    },
  }
}

function entry<K extends EntryKind>(kind: K, data: EntryData[K]): EntryDraft {
  return draftEntry(kind, data, { by: BY }) as EntryDraft
}
