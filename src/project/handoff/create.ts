import { claimNumber, handoffFolder } from '../../context/handoff/handoff-files.ts'
import {
  HANDOFF_DEFAULT_TOKENS,
  HANDOFF_MIN_TOKENS,
  type HandoffDocument,
  HANDOFF_MAX_TOKENS,
  buildHandoffDocument,
} from '../../context/handoff/document.ts'
import { gatherFacts } from '../../context/handoff/gather-facts.ts'
import { type WorkingTreeState, readWorkingTree } from '../../context/handoff/probes.ts'
import {
  type RecordedHandoff,
  countWorkEntries,
  recordedHandoffs,
} from '../../context/handoff/recorded-handoffs.ts'
import { NotWritten, StintError } from '../../journal/errors.ts'
import { removeFile } from '../../journal/write-files.ts'
import {
  type EntryDraft,
  type EntryData,
  type GitState,
  type HandoffTarget,
  draftEntry,
} from '../../session/entries.ts'
import type { SessionState } from '../../session/state.ts'
import { findTask, matchTasks } from '../../backlog/task.ts'
import { openBacklog } from '../tasks/project-backlog.ts'
import { checkpointDrafts } from '../lifecycle/checkpoint.ts'
import { NoSession, chooseOpenSession, findSession } from '../store/choose-session.ts'
import { withoutSecrets } from '../store/clean-draft.ts'
import { conversationFromEnv } from '../store/conversation-binding.ts'
import type { LiveSession } from '../store/live-session.ts'
import type { Workspace } from '../store/workspace.ts'
import { projectText } from '../lifecycle/resume.ts'
import { defined } from '../../text/defined.ts'

export interface CreateHandoffOptions {
  readonly session?: string
  readonly reason?: string
  /** A task or session, by name or id. */
  readonly to?: string
  /** Saves no code; a final handoff replaces it. */
  readonly draft?: boolean
  readonly code?: boolean
  readonly tokens?: number
  /** Default: from the environment. */
  readonly conversation?: string
  readonly by?: string
}

export interface CreatedHandoff {
  readonly state: SessionState
  readonly handoff: RecordedHandoff
  readonly path: string
  readonly leftOut: readonly string[]
}

/** Uses no model and no network. */
export async function createHandoff(
  workspace: Workspace,
  options: CreateHandoffOptions = {},
): Promise<CreatedHandoff> {
  const tokens = tokenLimit(options.tokens)
  const to = options.to === undefined ? undefined : await resolveTarget(workspace, options.to)
  const { id } = await chooseOpenSession(workspace, options.session)
  return workspace.withSession(id, async (session) => {
    const { state } = await workspace.absorbEdits(session)
    const now = readWorkingTree(workspace.paths.root, workspace.paths.repository)
    const savesCode = options.draft !== true && options.code !== false
    const { reason, by = 'library' } = options
    if (savesCode) {
      const note = reason === undefined ? 'Handoff' : `Handoff: ${reason}`
      const git = defined({ git: gitState(now) })
      session.append(checkpointDrafts(workspace, session, state, { note, by, ...git }))
    }
    const created = await writeHandoff(
      workspace,
      session,
      now,
      { ...options, tokens, by, savesCode },
      to,
    )
    const after = await workspace.refreshIfPossible(session)
    const handoff = recordedHandoffs(after.entries).find((one) => one.id === created.id)!
    return { state: after.state, handoff, path: created.path, leftOut: created.leftOut }
  })
}

async function writeHandoff(
  workspace: Workspace,
  session: LiveSession,
  now: WorkingTreeState,
  options: CreateHandoffOptions & { tokens: number; by: string; savesCode: boolean },
  to: HandoffTarget | undefined,
) {
  const { config } = workspace
  const { state, entries, contents } = session.read()
  const id = session.mint()
  const at = new Date().toISOString()
  const position = { bytes: contents.end, entries: countWorkEntries(entries), last: state.lastId }
  const redact = (text: string) => withoutSecrets(text, config)
  const reason = options.reason === undefined ? undefined : redact(options.reason)
  const facts = gatherFacts({
    state,
    entries,
    position,
    id,
    number: 0,
    createdAt: at,
    now,
    verify: config.verify,
    tasks: state.tasks.length === 0 ? [] : (await openBacklog(workspace)).tasks,
    deliverables: deliverablesOf(state),
    project: projectText(workspace),
    isDraft: options.draft === true,
    ...defined({
      reason,
      to,
      checkpoint: options.savesCode ? state.checkpoints.items.at(-1) : undefined,
      conversation: options.conversation ?? conversationFromEnv(workspace.env),
    }),
  })
  const { fingerprints, git, isDraft, madeBy, taskStatuses, uncommitted } = facts
  const draftFor = (number: number, { text, hash, tokens }: HandoffDocument): EntryDraft => {
    const data: EntryData['handoff.made'] = {
      number,
      hash,
      tokens,
      document: text,
      position,
      ...defined({
        reason,
        isDraft: isDraft || undefined,
        to,
        git,
        code: uncommitted.kept && { commit: uncommitted.kept.commit, ref: uncommitted.kept.ref },
        conversation: madeBy?.conversation,
        files: fingerprints.length === 0 ? undefined : fingerprints,
        tasks: taskStatuses.length === 0 ? undefined : taskStatuses,
      }),
    }
    return draftEntry('handoff.made', data, { id, at, by: options.by })
  }
  const { made: created, path } = claimNumber(
    handoffFolder(session.folder),
    recordedHandoffs(entries),
    (number) => {
      const document = buildHandoffDocument(
        { ...facts, number },
        { tokens: options.tokens, redact },
      )
      const entry = draftFor(number, document)
      refuseIfRedacted(session, entry)
      return { ...document, entry }
    },
  )
  try {
    session.append([created.entry])
  } catch (error) {
    // A number without an entry is free.
    if (error instanceof NotWritten) removeFile(path)
    throw error
  }
  return { id, path, leftOut: created.leftOut }
}

// The journalled text must match the hash; only a user pattern that matches hashes or ids could
// still change it.
function refuseIfRedacted(session: LiveSession, entry: EntryDraft): void {
  const [cleaned] = session.clean([entry]).drafts
  const before = entry.data as EntryData['handoff.made']
  const after = cleaned!.data as EntryData['handoff.made']
  if (after.document === before.document && after.hash === before.hash) return
  throw new StintError(
    'HANDOFF_REDACTED',
    'a pattern under redact.patterns also matches ids or hashes, so that nobody could check this handoff',
    'make the pattern in .sessions/config.yaml narrower',
  )
}

function gitState({ repository, head, dirty }: WorkingTreeState): GitState | undefined {
  if (repository === undefined) return undefined
  return { ...head, ...(dirty === undefined ? {} : { dirty: dirty.length }) }
}

function tokenLimit(tokens = HANDOFF_DEFAULT_TOKENS): number {
  if (tokens >= HANDOFF_MIN_TOKENS && tokens <= HANDOFF_MAX_TOKENS) return tokens
  throw new StintError(
    'BAD_BOUND',
    `${tokens} tokens is no bound for a handoff`,
    `give at least ${HANDOFF_MIN_TOKENS}, which what is vital needs, and at most ${HANDOFF_MAX_TOKENS}`,
  )
}

async function resolveTarget(workspace: Workspace, name: string): Promise<HandoffTarget> {
  const { tasks } = await openBacklog(workspace)
  if (matchTasks(tasks, name).length > 0) {
    const task = findTask(tasks, name)
    return { kind: 'task', id: task.id, name: task.shortname }
  }
  try {
    const row = await findSession(workspace, name)
    return { kind: 'session', id: row.id, name: row.name }
  } catch (error) {
    if (!(error instanceof NoSession)) throw error
    throw new StintError(
      'NO_TARGET',
      `there is no task and no session "${name}"`,
      'stint task list and stint list show them',
    )
  }
}

/** Read leniently: a list of paths, or of objects with a path. */
function deliverablesOf(state: SessionState): readonly string[] {
  const deliverables: unknown = state.workflow?.deliverables
  return (Array.isArray(deliverables) ? deliverables : []).flatMap((one: unknown) => {
    const path = typeof one === 'object' && one !== null ? (one as { path?: unknown }).path : one
    return typeof path === 'string' && path !== '' ? [path] : []
  })
}
