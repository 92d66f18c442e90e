import {
  type HandoffFrontmatter,
  contentHash,
  readHandoffFrontmatter,
} from '../../context/handoff/frontmatter.ts'
import { type WorkingTreeState, readWorkingTree } from '../../context/handoff/probes.ts'
import { recordedHandoffs } from '../../context/handoff/recorded-handoffs.ts'
import { isAccepted } from '../../session/kinds/handoffs.ts'
import { headChanges } from '../../context/handoff/changes-since-handoff.ts'
import { GitFailed } from '../../git/run-git.ts'
import { NotWritten, OutcomeUnknown, StintError } from '../../journal/errors.ts'
import { type HandoffOutcome, type HandoffTarget, draftEntry } from '../../session/entries.ts'
import { isSessionOpen } from '../../session/state.ts'
import { conversationFromEnv } from '../store/conversation-binding.ts'
import type { LiveSession } from '../store/live-session.ts'
import { logIds } from '../store/project-paths.ts'
import { resumeSession } from '../lifecycle/resume.ts'
import type { Workspace } from '../store/workspace.ts'
import {
  type FoundHandoff,
  type HandoffFile,
  handoffFileFromPath,
  findHandoff,
  movedSince,
  handoffFileStatus,
} from './find.ts'
import { defined } from '../../text/defined.ts'

export interface AcceptHandoffOptions {
  /** A handoff, a session or a document's path; default: the latest of the current session. */
  readonly handoff?: string
  readonly force?: boolean
  readonly by?: string
}

export interface AcceptedHandoff {
  readonly outcome: HandoffOutcome
  readonly isForced: boolean
  readonly isTaken: boolean
  /** What no longer holds. */
  readonly moved: readonly string[]
  readonly notes: readonly string[]
  /** Empty where the journal lacks it. */
  readonly id: string
  readonly number: number
  readonly hash: string
  readonly session: { readonly id: string; readonly name: string }
  readonly text: string
  /** The session to continue. */
  readonly bound?: { readonly id: string; readonly name: string }
}

/** The outcome is always recorded; only a valid or forced handoff is resumed. */
export async function acceptHandoff(
  workspace: Workspace,
  options: AcceptHandoffOptions = {},
): Promise<AcceptedHandoff> {
  const file = handoffFileFromPath(workspace, options.handoff)
  if (file === undefined)
    return acceptFound(workspace, await findHandoff(workspace, options.handoff), options)
  const head = readHandoffFrontmatter(file.text)
  if (head === undefined) {
    throw new StintError(
      'NOT_A_HANDOFF',
      `${options.handoff} is no handoff of Stint`,
      'stint handoff list shows the handoffs',
    )
  }
  const found = await findRecorded(workspace, head)
  if (found === undefined) return acceptUnrecorded(workspace, file, head, options)
  return acceptFound(workspace, { ...found, path: file.path, text: file.text }, options)
}

async function acceptFound(
  workspace: Workspace,
  found: FoundHandoff,
  options: AcceptHandoffOptions,
) {
  const { handoff, reading, session } = found
  const { id, number, hash, to } = handoff
  const { state } = reading
  const notes: string[] = []
  if (handoffFileStatus(found) === 'missing')
    notes.push('its file was gone and was written again from the journal')
  if (isAccepted(handoff))
    notes.push(`it was taken up before, ${handoff.accepted.length} times in all`)
  if (handoff.isDraft) notes.push('it is a draft, made early and without the code')
  const newer = recordedHandoffs(reading.entries).findLast((one) => one.id > id)
  if (newer !== undefined)
    notes.push(`a later one was made: stint handoff show ${state.name}/${newer.number}`)
  // A missing file was just written again from the same entry.
  const text = found.text ?? handoff.document
  const isIntact = contentHash(text) === hash
  const isEnded = !isSessionOpen(state) && to === undefined
  const moved = [
    ...(isIntact ? [] : [damageProblem(found, text)]),
    ...(await movedSince(workspace, found)),
    ...(isEnded
      ? [`the session is ${state.status}: stint reopen ${state.name} takes that back`]
      : []),
  ]
  const result = { moved, notes, text, id, number, hash, session: idAndName(state) }
  return conclude(workspace, result, isIntact, options, { session, to })
}

function damageProblem({ handoff, reading, path }: FoundHandoff, text: string) {
  const recorded = `stint handoff show ${reading.state.name}/${handoff.number}`
  if (text === handoff.document)
    return 'its recorded text was changed as well, as a purge does: its hash proves nothing any more'
  return `${path} was edited or damaged: it is kept as it is, and ${recorded} shows what was recorded`
}

/** Without its journal a document is checked by its own hash and against the repository. */
function acceptUnrecorded(
  workspace: Workspace,
  { path, text }: HandoffFile,
  { hash = '', name, number, session: id, ...head }: HandoffFrontmatter,
  options: AcceptHandoffOptions,
) {
  const { paths } = workspace
  const now = readWorkingTree(paths.root, paths.repository)
  const isIntact = hash !== '' && contentHash(text) === hash
  const { branch, commit } = head
  const moved = [
    ...(isIntact ? [] : [`${path} was edited or damaged: it is not what its own hash says`]),
    ...headChanges(
      now,
      commit === undefined && branch === undefined ? undefined : defined({ branch, commit }),
    ),
    ...missingWork(now, head, id),
  ]
  const hasJournal = logIds(paths).has(id)
  const notes = [
    hasJournal
      ? `the journal of ${name} is here, but does not tell of this handoff: what happened since is not known`
      : `the journal of ${name} is not here: what happened since is not known, and nothing is recorded`,
  ]
  const result = { moved, notes, text, id: '', number, hash, session: { id, name } }
  const journal = hasJournal ? { session: workspace.session(id) } : undefined
  return conclude(workspace, result, isIntact, options, journal)
}

/** Records the outcome in the journal, if there is one, and resumes the session it is for. */
async function conclude(
  workspace: Workspace,
  result: Omit<AcceptedHandoff, 'outcome' | 'isForced' | 'isTaken' | 'bound'> & { notes: string[] },
  isIntact: boolean,
  { force = false, by = 'library' }: AcceptHandoffOptions,
  journal: { session: LiveSession; to?: HandoffTarget | undefined } | undefined,
) {
  const { moved, notes, id, hash } = result
  const outcome: HandoffOutcome = !isIntact ? 'mismatch' : moved.length > 0 ? 'stale' : 'loaded'
  const isForced = outcome !== 'loaded' && force
  const isTaken = outcome === 'loaded' || isForced
  let bound: AcceptedHandoff['bound']
  if (journal !== undefined) {
    const { session, to } = journal
    const data = {
      handoff: id || hash,
      hash,
      outcome,
      ...(moved.length === 0 ? {} : { moved }),
      ...(isForced ? { forced: true } : {}),
      ...defined({ conversation: conversationFromEnv(workspace.env) }),
    }
    try {
      session.append([draftEntry('handoff.accepted', data, { by })])
    } catch (error) {
      if (!(error instanceof NotWritten || error instanceof OutcomeUnknown)) throw error
      workspace.say(`what became of the handoff is not recorded: ${error.message}`)
    }
    session.close()
    if (isTaken) bound = await bind(workspace, result.session, to, notes, by)
  }
  return { outcome, isForced, isTaken, ...result, ...defined({ bound }) }
}

async function bind(
  workspace: Workspace,
  source: { id: string },
  to: HandoffTarget | undefined,
  notes: string[],
  by: string,
) {
  const target = to === undefined ? source : await targetSession(workspace, to)
  if (target === undefined) {
    notes.push(`no session works on ${to!.name} yet: stint init --task ${to!.name} starts one`)
    return undefined
  }
  try {
    return idAndName((await resumeSession(workspace, { session: target.id, by })).reading.state)
  } catch (error) {
    if (!(error instanceof StintError) || error.code !== 'SESSION_CLOSED') throw error
    notes.push(`${error.message}; it was not resumed`)
    return undefined
  }
}

function idAndName({ id, name }: { id: string; name: string }) {
  return { id, name }
}

async function targetSession(workspace: Workspace, to: HandoffTarget) {
  if (to.kind === 'session') return { id: to.id }
  const [only, ...others] = [
    ...(await workspace.index()).sessions({ status: ['active', 'paused'], task: to.id }),
  ]
  return others.length === 0 ? only : undefined
}

async function findRecorded(workspace: Workspace, head: HandoffFrontmatter) {
  if (!logIds(workspace.paths).has(head.session)) return undefined
  const session = workspace.session(head.session)
  const recorded = recordedHandoffs(session.read().entries).find(({ hash }) => hash === head.hash)
  session.close()
  return recorded === undefined
    ? undefined
    : findHandoff(workspace, `${head.session}/${recorded.id}`)
}

function missingWork(
  { git }: WorkingTreeState,
  { dirty = 0, checkpoint }: Pick<HandoffFrontmatter, 'dirty' | 'checkpoint'>,
  session: string,
) {
  if (dirty === 0) return []
  if (checkpoint === undefined)
    return [`it tells of ${dirty} uncommitted paths that were kept nowhere`]
  const ref = `refs/stint/${session}/${checkpoint}`
  try {
    if (git?.ask(['show-ref', '--verify', '--quiet', ref]) === true) return []
    return [`the uncommitted work, kept as ${ref}, is not here`]
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    return [`whether the uncommitted work is here could not be checked: ${error.message}`]
  }
}
