// One turn of an agent for a prompt: the conversation is opened, prompted, told of and closed, and nothing of it is left.
import { type Line, roleOf } from '../../context/budget/stages.ts'
import { hooksOf, pointFor } from '../../harness/registry.ts'
import type {
  Conversation,
  Harness,
  HarnessEvent,
  OpenConversation,
  PermissionRequest,
  Permissions,
  TurnEnded,
} from '../../harness/contract/drive.ts'
import { errnoOf } from '../../journal/errors.ts'
import { recorded } from '../../project/conversation/record-stream.ts'
import { newTracking, readTracking, writeTracking } from '../../project/conversation/tracking.ts'
import { trackingFolderOf } from '../../project/store/conversation-binding.ts'
import type { LiveSession } from '../../project/store/live-session.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import {
  type Draft,
  type EntryData,
  type EntryKind,
  type Usage,
  draft,
} from '../../session/entries.ts'
import { defined } from '../../text/defined.ts'
import { type RedactOptions, redact } from '../../text/redact.ts'
import {
  LiveConversation,
  type Turn,
  compactedEntry,
  crossedEntry,
  openUnlessStopped,
} from '../attempt/live-conversation.ts'
import { OWN_COMMANDS } from '../attempt/agent-environment.ts'
import { recorderFor } from '../attempt/record-conversation.ts'
import { spendOf } from '../report.ts'
import type { Gauge } from '../entries.ts'
import type { Emit } from './contract.ts'
import {
  type FirstWords,
  PROMPT_VARIABLE,
  type PromptedSession,
  type WayOn,
  firstWords,
} from './prompted-session.ts'
import { withoutControls } from '../../text/clean.ts'
import { isAbsolute, relative } from 'node:path'
import { GitFailed } from '../../git/run-git.ts'
import { LONGEST_MESSAGE, clip } from '../../hook/clip.ts'
import { requestIn } from '../../hook/requests.ts'
import { newCommits } from '../worktree/tree.ts'

/** What all parts of a prompt share. */
export interface PromptContext {
  readonly id: string
  readonly text: string
  /** In the checkout in which the agent works, and with nothing of another agent in its environment. */
  readonly workspace: Workspace
  readonly session: PromptedSession
  readonly journal: LiveSession
  readonly harness: Harness
  readonly model: string | undefined
  readonly permissions: Permissions
  readonly questions: Questions
  readonly secrets: RedactOptions
  readonly stopping: AbortSignal
  readonly emit: Emit
}

export interface Answered {
  readonly how: TurnEnded['how']
  readonly said?: string
  readonly failure?: string
  readonly spent: Readonly<Record<string, Usage>>
  /** There was no conversation: it could not be opened, or died before the agent said or did anything. */
  readonly isUntouched: boolean
}

export async function answer(context: PromptContext, way: WayOn): Promise<Answered> {
  const words = await firstWords(context.workspace, context.session, way, context.text)
  const { harness, stopping } = context
  let opened: Conversation | 'stopped'
  try {
    opened = await openUnlessStopped(harness, openingOf(context, way), stopping)
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error)
    return { how: 'failed', failure, spent: {}, isUntouched: true }
  }
  if (opened === 'stopped') return { how: 'interrupted', spent: {}, isUntouched: false }
  return take(context, way, words, opened)
}

async function take(
  context: PromptContext,
  way: WayOn,
  words: FirstWords,
  opened: Conversation,
): Promise<Answered> {
  const { harness, questions, workspace } = context
  const journal = new PromptJournal(workspace, context.journal, harness.name, context.text)
  const crossed = way.how === 'resumed' ? way.crossed : []
  const point = pointFor(harness.name, workspace.env, workspace.cwd)
  const written = recorded(opened, await recorderFor(workspace, harness.name, workspace.cwd))
  const live = new LiveConversation(
    1,
    written,
    workspace.config.budget,
    point,
    harness.name,
    crossed,
  )
  try {
    const watched = watch(context, journal, live, words)
    const turn = await live.turn(words.text, watched.options)
    journal.turnEnded(turn)
    sayIfFull(context, live)
    const { failure } = turn.ended
    const how = turn.cut?.why === 'stop' ? 'interrupted' : turn.ended.how
    const told = {
      ...defined({ failure: how === 'interrupted' ? undefined : failure }),
      ...(turn.said === '' ? {} : { said: turn.said }),
    }
    return { how, ...told, spent: turn.spent, isUntouched: how === 'died' && watched.isUntouched() }
  } finally {
    questions.refuseAll()
    await live.close()
    journal.left('the prompt is answered')
  }
}

type Options = Parameters<LiveConversation['turn']>[1]

function watch(
  { emit, harness, secrets, session, stopping, workspace }: PromptContext,
  journal: PromptJournal,
  live: LiveConversation,
  words: FirstWords,
): { readonly options: Options; readonly isUntouched: () => boolean } {
  const pieces = new SafePieces(secrets)
  let isUntouched = true
  const look = (event: HarnessEvent) => {
    if (event.type === 'delta') {
      const text = pieces.take(event.text)
      if (text !== '') emit('delta', { text })
    } else if (event.type === 'anew') {
      pieces.next()
      emit('anew', {})
    } else if (event.type === 'text') {
      pieces.next()
      emit('text', { text: event.text })
    } else if (event.type === 'tool') {
      journal.used(event)
      const { type: _, ...data } = event
      emit('tool', data)
    } else if (event.type === 'started') {
      const { conversation, model } = event
      const transcript = noteConversation(workspace, harness.name, session.id, conversation)
      journal.started(conversation, transcript, words)
      emit('conversation.started', { conversation, ...defined({ model }) })
    } else if (event.type === 'compaction') {
      journal.compacted(event)
      emit('context.compacted', defined({ tokensBefore: event.tokensBefore }))
    } else if (event.type === 'limit')
      emit('limit.reached', { message: event.message, ...defined({ resetsAt: event.resetsAt }) })
    if (event.type === 'text' || event.type === 'delta' || event.type === 'tool')
      isUntouched = false
  }
  return {
    isUntouched: () => isUntouched,
    options: {
      // Somebody waits for the answer, and ends it when it takes too long.
      silenceMs: Infinity,
      commandMs: Infinity,
      deadline: Infinity,
      isStopped: stopping,
      endsWhenFull: false,
      tell: look,
      isOver: (spent) => {
        emit('usage', { gauge: live.gauge, spend: spendOf(spent, workspace.config.prices) })
        return undefined
      },
      crossed: (line, gauge) => {
        journal.crossed(line, gauge)
        emit('stage', { stage: line, gauge })
      },
    },
  }
}

function openingOf(
  { id, model, permissions, questions, session, workspace }: PromptContext,
  way: WayOn,
): OpenConversation {
  const { config, cwd, env } = workspace
  return {
    cwd,
    // The journal has everything from us, and hooks of the same conversation would tell it twice.
    env: { ...env, [PROMPT_VARIABLE]: id, STINT_SESSION: session.id, STINT_HOOKS: 'off' },
    permissions,
    allow: [
      ...config.run.allow,
      ...(config.verify === undefined ? [] : [config.verify]),
      ...OWN_COMMANDS,
    ],
    deltas: true,
    ...defined({ model, branch: workspace.git()?.branch }),
    ...(way.how === 'resumed' ? { resume: way.conversation } : {}),
    // Whoever may do what it does unasked never waits for a person who has gone.
    ...(permissions === 'ask' ? { decide: questions.ask } : {}),
  }
}

function sayIfFull({ emit, workspace }: PromptContext, live: LiveConversation): void {
  const { budget } = workspace.config
  const { percent } = live.gauge
  const isFull = live.crossed.some(
    (line) => line !== 'smart-zone' && roleOf(line, budget) === 'force',
  )
  if (!isFull) return
  const howFull = percent === undefined ? 'full' : `${percent}% full`
  emit('message', {
    text: `the context is ${howFull}: the next prompt goes on in a fresh conversation, through a handoff`,
  })
}

/** What an agent wants to be allowed, until somebody has decided it. */
export class Questions {
  readonly #emit: Emit
  readonly #stopping: AbortSignal
  readonly #waiting = new Map<string, (isAllowed: boolean) => void>()
  #asked = 0

  constructor(emit: Emit, stopping: AbortSignal) {
    this.#emit = emit
    this.#stopping = stopping
    stopping.addEventListener('abort', () => this.refuseAll(), { once: true })
  }

  readonly ask = (permission: PermissionRequest): Promise<boolean> => {
    if (this.#stopping.aborted) return Promise.resolve(false)
    const request = String((this.#asked += 1))
    return new Promise((resolve) => {
      this.#waiting.set(request, resolve)
      this.#emit('permission.asked', { request, permission })
    })
  }

  /** Whether anything waited under that name. */
  decide(request: string, isAllowed: boolean): boolean {
    const resolve = this.#waiting.get(request)
    if (resolve === undefined) return false
    this.#waiting.delete(request)
    resolve(isAllowed)
    this.#emit('permission.settled', { request, isAllowed })
    return true
  }

  /** What nobody has allowed until now is refused. */
  refuseAll(): void {
    for (const request of this.#waiting.keys()) this.decide(request, false)
  }
}

/**
 * Notes which session a conversation works on and where its harness writes it down, as hooks do: whoever goes on with it
 * on a terminal finds the session, and what was said is copied also if this process is killed. Answers where that is, where hooks of the harness would know it.
 */
export function noteConversation(
  workspace: Workspace,
  harness: string,
  session: string,
  conversation: string,
): string | undefined {
  const reader = hooksOf(harness)?.transcript
  if (reader === undefined) return undefined
  const folder = trackingFolderOf(workspace.place)
  const transcript = reader.path(conversation, workspace.cwd, workspace.env)
  const known = readTracking(folder, conversation)
  if (known?.session === session && known.transcript !== undefined) return known.transcript
  try {
    writeTracking(folder, {
      transcript,
      ...(known ?? newTracking(harness, conversation)),
      session,
    })
  } catch (error) {
    // A full or read-only disk: it is only found less easily.
    if (errnoOf(error) === undefined) throw error
  }
  return transcript
}

/** A line that is longer is told in pieces that know nothing of each other. */
const LONGEST_LINE = 4000
const KEY = /-----BEGIN /

/**
 * Pieces of a message as they may be told: never half a word, which might be half a secret, and never more of a line than
 * what stays the same once its secrets are taken out. The whole message follows, so that nothing is lost by holding back.
 */
export class SafePieces {
  readonly #secrets: RedactOptions
  #line = ''
  /** What was told of the line. */
  #told = ''
  #isHeldBack = false

  constructor(secrets: RedactOptions) {
    this.#secrets = secrets
  }

  /** What may be told now that this has come. */
  take(piece: string): string {
    this.#line += piece
    // A private key goes over many lines.
    if (KEY.test(this.#line)) this.#isHeldBack = true
    if (this.#isHeldBack) return ''
    let safe = ''
    for (let end = this.#line.indexOf('\n'); end !== -1; end = this.#line.indexOf('\n')) {
      safe += this.#beyond(this.#line.slice(0, end + 1))
      this.#line = this.#line.slice(end + 1)
      this.#told = ''
    }
    safe += this.#beyond(this.#line.slice(0, this.#line.search(/\S*$/)))
    if (this.#line.length <= LONGEST_LINE) return safe
    safe += this.#beyond(this.#line)
    this.next()
    return safe
  }

  /** Another message begins. */
  next(): void {
    this.#line = ''
    this.#told = ''
    this.#isHeldBack = false
  }

  #beyond(text: string): string {
    const safe = redact(withoutControls(text), this.#secrets).text
    if (!safe.startsWith(this.#told)) return ''
    const more = safe.slice(this.#told.length)
    this.#told = safe
    return more
  }
}

// What the journal of a session tells of a prompt: what hooks would have recorded of it, once.

const BY = 'prompt'
const EDITING = /^(?:Edit|Write|MultiEdit|NotebookEdit|apply_patch|edit)$/

export class PromptJournal {
  readonly #workspace: Workspace
  readonly #session: LiveSession
  readonly #harness: string
  readonly #text: string
  readonly #edited = new Set<string>()
  readonly #headBefore: string | undefined
  #conversation: string | undefined
  #isRequestTold = false

  constructor(workspace: Workspace, session: LiveSession, harness: string, text: string) {
    this.#workspace = workspace
    this.#session = session
    this.#harness = harness
    this.#text = text
    this.#headBefore = workspace.git()?.commit
  }

  /** The conversation is there, or there again. */
  started(
    conversation: string,
    transcript: string | undefined,
    { given: context }: FirstWords,
  ): void {
    this.#conversation = conversation
    this.#append(
      entry('conversation.joined', {
        conversation,
        harness: this.#harness,
        source: BY,
        ...defined({ transcript }),
      }),
      ...(context === undefined
        ? []
        : [entry('context.given', { conversation, event: BY, ...context })]),
      ...this.#request(),
    )
  }

  used({ status, name, path }: Extract<HarnessEvent, { type: 'tool' }>): void {
    const root = this.#workspace.place.repository?.worktree ?? this.#workspace.place.root
    if (status !== 'completed' || path === undefined || !EDITING.test(name)) return
    const inside = isAbsolute(path) ? relative(root, path) : path
    if (inside === '' || inside.startsWith('..') || isAbsolute(inside) || this.#edited.has(inside))
      return
    this.#edited.add(inside)
    const isKnown = this.#session.open().changedFiles.items.some((file) => file.text === inside)
    if (!isKnown) this.#append(entry('file.changed', { path: inside }))
  }

  crossed(stage: Line, gauge: Gauge): void {
    if (this.#conversation !== undefined)
      this.#append(crossedEntry(BY, this.#conversation, stage, gauge))
  }

  compacted(event: Extract<HarnessEvent, { type: 'compaction' }>): void {
    this.#append(compactedEntry(BY, this.#conversation, event))
  }

  turnEnded({ said, spent, ended }: Turn): void {
    const conversation = this.#conversation
    // Of one that never came to be only what was asked for is worth telling.
    if (conversation === undefined) return this.#append(...this.#request())
    const words =
      said.trim() === '' ? {} : { said: clip(said.trim(), LONGEST_MESSAGE, this.#workspace.config) }
    const told = { conversation, ...words, ...defined({ failure: ended.failure }) }
    const models = Object.entries(spent)
    this.#append(
      ...(models.length === 0
        ? [entry('turn.ended', told)]
        : models.map(([model, usage]) => entry('turn.ended', { ...told, model, usage }))),
      ...this.#commits(),
    )
  }

  left(reason: string): void {
    const conversation = this.#conversation
    if (conversation !== undefined)
      this.#append(entry('conversation.ended', { conversation, reason }))
  }

  #request(): readonly Draft[] {
    if (this.#isRequestTold) return []
    this.#isRequestTold = true
    const request = requestIn(this.#text, this.#workspace.config)
    if (request === undefined) return []
    const rules = request.isRuling ? { isRuling: true } : {}
    return [
      entry('request.made', {
        text: request.text,
        ...rules,
        conversation: this.#conversation ?? '',
      }),
    ]
  }

  #commits(): readonly Draft[] {
    const { repository } = this.#workspace.place
    const git = this.#workspace.git()
    if (
      repository === undefined ||
      this.#headBefore === undefined ||
      git?.commit === this.#headBefore
    )
      return []
    try {
      return newCommits(repository.worktree, this.#headBefore).map(({ commit, subject }) =>
        draft(
          'commit.made',
          { commit, subject, git: { ...git, commit } },
          { by: BY, once: `commit:${commit}` },
        ),
      )
    } catch (error) {
      // What it began from may be gone, after a rebase for one.
      if (!(error instanceof GitFailed)) throw error
      return []
    }
  }

  #append(...drafts: readonly Draft[]): void {
    this.#session.append(drafts)
  }
}

function entry<K extends EntryKind>(kind: K, data: EntryData[K]): Draft {
  return draft(kind, data, { by: BY }) as Draft
}
