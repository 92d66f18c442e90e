import { type HandoffHead, contentHash, readHead } from '../../context/handoff/frontmatter.ts'
import { type Surroundings, lookAround } from '../../context/handoff/probes.ts'
import { handoffsIn } from '../../context/handoff/recorded.ts'
import { isTakenUp } from '../../session/kinds/handoffs.ts'
import { headMoved } from '../../context/handoff/what-moved.ts'
import { GitFailed } from '../../git/run-git.ts'
import { NotWritten, OutcomeUnknown, StintError } from '../../journal/errors.ts'
import { type HandoffOutcome, type HandoffTarget, draft } from '../../session/entries.ts'
import { isOpen } from '../../session/state.ts'
import { conversationOf } from '../store/conversation-binding.ts'
import type { LiveSession } from '../store/live-session.ts'
import { logIds } from '../store/place.ts'
import { resumeSession } from '../lifecycle/resume.ts'
import type { Workspace } from '../store/workspace.ts'
import {
  type FoundHandoff,
  type GivenFile,
  fileGiven,
  findHandoff,
  movedSince,
  stateOf,
} from './find.ts'
import { defined } from '../../text/defined.ts'

export interface AcceptHandoff {
  /** A handoff, a session or a document's path; default: the latest of the session at hand. */
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

/** The outcome is recorded either way; only a valid or forced handoff is resumed. */
export async function acceptHandoff(
  workspace: Workspace,
  options: AcceptHandoff = {},
): Promise<AcceptedHandoff> {
  const file = fileGiven(workspace, options.handoff)
  if (file === undefined)
    return acceptFound(workspace, await findHandoff(workspace, options.handoff), options)
  const head = readHead(file.text)
  if (head === undefined) {
    throw new StintError(
      'NOT_A_HANDOFF',
      `${options.handoff} is no handoff of Stint`,
      'stint handoff list shows the handoffs',
    )
  }
  const found = await recordedFor(workspace, head)
  if (found === undefined) return acceptBare(workspace, file, head, options)
  return acceptFound(workspace, { ...found, path: file.path, text: file.text }, options)
}

async function acceptFound(
  workspace: Workspace,
  found: FoundHandoff,
  options: AcceptHandoff,
): Promise<AcceptedHandoff> {
  const { handoff, reading, session } = found
  const { state } = reading
  const notes: string[] = []
  const file = stateOf(found)
  if (file === 'missing') notes.push('its file was gone and was written again from the journal')
  if (isTakenUp(handoff))
    notes.push(`it was taken up before, ${handoff.accepted.length} times in all`)
  if (handoff.isDraft) notes.push('it is a draft, made early and without the code')
  const newer = handoffsIn(reading.entries).filter(({ id }) => id > handoff.id)
  if (newer.length > 0)
    notes.push(`a later one was made: stint handoff show ${state.name}/${newer.at(-1)!.number}`)
  // A missing file was just written again from the same entry.
  const text = found.text ?? handoff.document
  const isIntact = contentHash(text) === handoff.hash
  const moved = [
    ...(isIntact ? [] : [damage(found, text)]),
    ...(await movedSince(workspace, found)),
    ...closed(found),
  ]
  const outcome: HandoffOutcome = !isIntact ? 'mismatch' : moved.length > 0 ? 'stale' : 'loaded'
  const isForced = outcome !== 'loaded' && options.force === true
  const isTaken = outcome === 'loaded' || isForced
  record(workspace, session, handoff.id, handoff.hash, {
    outcome,
    moved,
    isForced,
    by: options.by ?? 'library',
  })
  session.close()
  const bound = isTaken
    ? await bind(workspace, { id: state.id, name: state.name, to: handoff.to }, notes, options.by)
    : undefined
  return {
    outcome,
    isForced,
    isTaken,
    moved,
    notes,
    text,
    id: handoff.id,
    number: handoff.number,
    hash: handoff.hash,
    session: { id: state.id, name: state.name },
    ...defined({ bound }),
  }
}

function damage({ handoff, reading, path }: FoundHandoff, text: string): string {
  const recorded = `stint handoff show ${reading.state.name}/${handoff.number}`
  if (text === handoff.document)
    return 'its recorded text was changed as well, as a purge does: its hash proves nothing any more'
  return `${path} was edited or damaged: it is kept as it is, and ${recorded} shows what was recorded`
}

function closed({ handoff, reading: { state } }: FoundHandoff): readonly string[] {
  if (isOpen(state) || handoff.to !== undefined) return []
  return [`the session is ${state.status}: stint reopen ${state.name} takes that back`]
}

function record(
  workspace: Workspace,
  session: LiveSession,
  handoff: string,
  hash: string,
  what: { outcome: HandoffOutcome; moved: readonly string[]; isForced: boolean; by: string },
): void {
  const conversation = conversationOf(workspace.env)
  const data = {
    handoff,
    hash,
    outcome: what.outcome,
    ...(what.moved.length === 0 ? {} : { moved: what.moved }),
    ...(what.isForced ? { forced: true } : {}),
    ...defined({ conversation }),
  }
  try {
    session.append([draft('handoff.accepted', data, { by: what.by })])
  } catch (error) {
    if (!(error instanceof NotWritten || error instanceof OutcomeUnknown)) throw error
    workspace.say(`what became of the handoff is not recorded: ${error.message}`)
  }
}

async function bind(
  workspace: Workspace,
  from: { id: string; name: string; to: HandoffTarget | undefined },
  notes: string[],
  by = 'library',
): Promise<{ id: string; name: string } | undefined> {
  const target = from.to === undefined ? from : await sessionFor(workspace, from.to)
  if (target === undefined) {
    notes.push(
      `no session works on ${from.to!.name} yet: stint init --task ${from.to!.name} starts one`,
    )
    return undefined
  }
  try {
    const { reading } = await resumeSession(workspace, { session: target.id, by })
    return { id: reading.state.id, name: reading.state.name }
  } catch (error) {
    if (!(error instanceof StintError) || error.code !== 'SESSION_CLOSED') throw error
    notes.push(`${error.message}; it was not resumed`)
    return undefined
  }
}

async function sessionFor(
  workspace: Workspace,
  to: HandoffTarget,
): Promise<{ id: string } | undefined> {
  if (to.kind === 'session') return { id: to.id }
  const [only, ...others] = [
    ...(await workspace.index()).sessions({ status: ['active', 'paused'], task: to.id }),
  ]
  return others.length === 0 ? only : undefined
}

async function recordedFor(
  workspace: Workspace,
  head: HandoffHead,
): Promise<FoundHandoff | undefined> {
  if (!logIds(workspace.place).has(head.session)) return undefined
  const session = workspace.session(head.session)
  const recorded = handoffsIn(session.read().entries).find(({ hash }) => hash === head.hash)
  session.close()
  return recorded === undefined
    ? undefined
    : findHandoff(workspace, `${head.session}/${recorded.id}`)
}

/** Without its journal a document is checked by its own hash and against the repository. */
async function acceptBare(
  workspace: Workspace,
  { path, text }: GivenFile,
  head: HandoffHead,
  options: AcceptHandoff,
): Promise<AcceptedHandoff> {
  const now = lookAround(workspace.place.root, workspace.place.repository)
  const isIntact = head.hash !== undefined && contentHash(text) === head.hash
  const hasJournal = logIds(workspace.place).has(head.session)
  const moved = [
    ...(isIntact ? [] : [`${path} was edited or damaged: it is not what its own hash says`]),
    ...headMoved(now, gitIn(head)),
    ...workMissing(now, head),
  ]
  const outcome: HandoffOutcome = !isIntact ? 'mismatch' : moved.length > 0 ? 'stale' : 'loaded'
  const isForced = outcome !== 'loaded' && options.force === true
  const isTaken = outcome === 'loaded' || isForced
  const notes = [
    hasJournal
      ? `the journal of ${head.name} is here, but does not tell of this handoff: what happened since is not known`
      : `the journal of ${head.name} is not here: what happened since is not known, and nothing is recorded`,
  ]
  let bound: AcceptedHandoff['bound']
  if (hasJournal) {
    const session = workspace.session(head.session)
    record(workspace, session, head.hash ?? '', head.hash ?? '', {
      outcome,
      moved,
      isForced,
      by: options.by ?? 'library',
    })
    session.close()
    if (isTaken)
      bound = await bind(
        workspace,
        { id: head.session, name: head.name, to: undefined },
        notes,
        options.by,
      )
  }
  return {
    outcome,
    isForced,
    isTaken,
    moved,
    notes,
    text,
    id: '',
    number: head.number,
    hash: head.hash ?? '',
    session: { id: head.session, name: head.name },
    ...defined({ bound }),
  }
}

function gitIn({ branch, commit }: HandoffHead) {
  if (commit === undefined && branch === undefined) return undefined
  return {
    ...defined({ branch, commit }),
  }
}

function workMissing(
  { git }: Surroundings,
  { dirty = 0, checkpoint, session }: HandoffHead,
): readonly string[] {
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
