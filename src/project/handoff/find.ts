import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { readHandoffFile, handoffFolder } from '../../context/handoff/handoff-files.ts'
import { type RecordedHandoff, recordedHandoffs } from '../../context/handoff/recorded-handoffs.ts'
import { StintError } from '../../journal/errors.ts'
import { readOrUndefined } from '../../journal/read-files.ts'
import { shortId } from '../../journal/ids.ts'
import { NoSession, chooseSession, findSession } from '../store/choose-session.ts'
import type { LiveSession, SessionReading } from '../store/live-session.ts'
import { chooseToResume } from '../lifecycle/resume.ts'
import type { Workspace } from '../store/workspace.ts'
import { defined } from '../../text/defined.ts'
import { contentHash } from '../../context/handoff/frontmatter.ts'
import { readWorkingTree } from '../../context/handoff/probes.ts'
import { changesSinceHandoff } from '../../context/handoff/changes-since-handoff.ts'
import type { HandoffTarget } from '../../session/entries.ts'
import { openBacklog } from '../tasks/project-backlog.ts'
import { conversationFromEnv } from '../store/conversation-binding.ts'
import { acceptanceOf, handoffOf, isAccepted } from '../../session/kinds/handoffs.ts'
import { type RawEntry, effectiveEntries } from '../../session/effective-entries.ts'

export interface FoundHandoff {
  readonly session: LiveSession
  readonly reading: SessionReading
  readonly handoff: RecordedHandoff
  readonly path: string
  /** Before anything was restored; undefined when there was no file. */
  readonly text?: string
}

export interface HandoffFile {
  readonly path: string
  readonly text: string
}

export function handoffFileFromPath(
  workspace: Workspace,
  name: string | undefined,
): HandoffFile | undefined {
  if (name === undefined || !name.endsWith('.md')) return undefined
  const path = resolve(workspace.cwd, name)
  if (!existsSync(path))
    throw new StintError(
      'NO_HANDOFF',
      `there is no file ${name}`,
      'stint handoff list shows the handoffs',
    )
  return { path, text: readOrUndefined(path)?.toString('utf8') ?? '' }
}

/** Nothing: the latest; a number or part of an id; a session: its latest; `SESSION/NUMBER`. */
export async function findHandoff(workspace: Workspace, name?: string): Promise<FoundHandoff> {
  const { id, reference } = await locateHandoff(workspace, name)
  const session = workspace.session(id)
  // Read before refreshing, because that would restore a missing file.
  const known = session.read()
  const handoff = selectHandoff(recordedHandoffs(known.entries), reference, known.state.name)
  const { path, text } = readHandoffFile(
    handoffFolder(session.folder),
    handoff,
    recordedHandoffs(known.entries),
  )
  const reading = await workspace.refreshIfPossible(session)
  const current = recordedHandoffs(reading.entries).find((one) => one.id === handoff.id) ?? handoff
  return { session, reading, handoff: current, path, ...defined({ text }) }
}

async function locateHandoff(workspace: Workspace, name: string | undefined) {
  if (name === undefined || name === '')
    return latestOrPending(workspace, (await chooseToResume(workspace, {})).id)
  if (isNumber(name)) return { id: (await chooseToResume(workspace, {})).id, reference: name }
  const [, ofSession, reference] = /^(.+)\/([^/]+)$/.exec(name) ?? []
  if (ofSession !== undefined && reference !== undefined)
    return { id: (await findSession(workspace, ofSession)).id, reference }
  try {
    return { id: (await findSession(workspace, name)).id }
  } catch (error) {
    if (!(error instanceof NoSession) || !/^[0-9a-f-]{4,36}$/.test(name)) throw error
    return { id: (await chooseSession(workspace)).id, reference: name }
  }
}

/** The current session, unless it has no handoff and exactly one is pending for it. */
async function latestOrPending(workspace: Workspace, id: string) {
  const { tasks, handoffs } = workspace.stateOf(id)
  if (handoffs.items.length > 0) return { id }
  const [only, ...others] = await waitingHandoffs(workspace, { session: id, tasks })
  return only === undefined || others.length > 0 ? { id } : { id: only.session, reference: only.id }
}

function selectHandoff(
  all: readonly RecordedHandoff[],
  reference: string | undefined,
  session: string,
) {
  const found =
    reference === undefined
      ? all.slice(-1)
      : all.filter(({ id, number }) =>
          isNumber(reference) ? number === Number(reference) : id.includes(reference),
        )
  if (found.length === 1) return found[0]!
  if (found.length > 1) {
    const list = found.map(({ id, number }) => `  ${shortId(id)}  handoff ${number}`)
    throw new StintError(
      'HANDOFF_AMBIGUOUS',
      [`"${reference}" fits several handoffs:`, ...list].join('\n'),
      'name one by its id',
    )
  }
  const hint = all.length === 0 ? 'stint handoff create makes one' : 'stint handoff list shows them'
  throw new StintError('NO_HANDOFF', `${session} has no handoff ${reference ?? ''}`.trim(), hint)
}

function isNumber(name: string) {
  return /^\d{1,4}$/.test(name)
}

type HandoffFileStatus = 'intact' | 'edited' | 'missing'

export interface ShownHandoff {
  readonly handoff: RecordedHandoff
  readonly session: { readonly id: string; readonly name: string }
  readonly path: string
  readonly file: HandoffFileStatus
  /** With `check`: what no longer holds. */
  readonly moved?: readonly string[]
}

/** Records nothing. */
export async function showHandoff(
  workspace: Workspace,
  options: { handoff?: string; check?: boolean } = {},
): Promise<ShownHandoff> {
  const found = await findHandoff(workspace, options.handoff)
  const { handoff, reading, path } = found
  found.session.close()
  return {
    handoff,
    session: { id: reading.state.id, name: reading.state.name },
    path,
    file: handoffFileStatus(found),
    ...(options.check === true ? { moved: await movedSince(workspace, found) } : {}),
  }
}

export async function listHandoffs(
  workspace: Workspace,
  options: { session?: string } = {},
): Promise<{ session: { id: string; name: string }; handoffs: readonly RecordedHandoff[] }> {
  const { id } = await chooseSession(workspace, options.session)
  const { state, entries } = await workspace.view(id)
  return { session: { id: state.id, name: state.name }, handoffs: recordedHandoffs(entries) }
}

export function handoffFileStatus({
  text,
  handoff,
}: Pick<FoundHandoff, 'text' | 'handoff'>): HandoffFileStatus {
  if (text === undefined) return 'missing'
  return contentHash(text) === handoff.hash ? 'intact' : 'edited'
}

export async function movedSince(
  workspace: Workspace,
  { handoff, reading }: FoundHandoff,
): Promise<readonly string[]> {
  const { state, entries } = reading
  const acceptor = conversationFromEnv(workspace.env)
  return changesSinceHandoff(handoff, {
    now: readWorkingTree(workspace.paths.root, workspace.paths.repository),
    state,
    entries,
    tasks: handoff.tasks.length === 0 ? new Map() : await taskStatuses(workspace),
    ...defined({ acceptor }),
  })
}

async function taskStatuses(workspace: Workspace) {
  return new Map((await openBacklog(workspace)).tasks.map(({ id, status }) => [id, status]))
}

/** Created for a task or session, and not accepted yet. */
export interface WaitingHandoff {
  readonly id: string
  readonly number: number
  /** The session that created it. */
  readonly session: string
  readonly name: string
  readonly reason: string
  readonly at: string
}

/** The latest of each session. */
export async function waitingHandoffs(
  workspace: Workspace,
  recipient: { session?: string; tasks?: readonly string[] },
): Promise<readonly WaitingHandoff[]> {
  const found = await latestHandoffs(workspace, (to) =>
    to?.kind === 'task'
      ? recipient.tasks?.includes(to.id) === true
      : to !== undefined && recipient.session === to.id,
  )
  return found.map(({ id, number, session, name, text: reason, at }) => {
    return { id, number, session, name, reason, at }
  })
}

/** The latest of each session that has a recipient and was not accepted. */
export async function latestHandoffs(
  workspace: Workspace,
  isFor: (to: HandoffTarget | undefined) => boolean = () => true,
) {
  if (!workspace.hasSessions()) return []
  const bySession = new Map<string, { name: string; entries: RawEntry[] }>()
  for (const { session, name, entry } of (await workspace.index()).handoffEntries()) {
    const known = bySession.get(session) ?? { name, entries: [] }
    known.entries.push(entry)
    bySession.set(session, known)
  }
  return [...bySession].flatMap(([session, { name, entries }]) => {
    const effective = effectiveEntries(entries)
    const waiting = effective
      .filter(({ kind }) => kind === 'handoff.made')
      .map((entry) => handoffOf(entry, entry.data))
      .findLast(({ to }) => isFor(to))
    if (waiting === undefined || waiting.isDraft) return []
    const accepted = effective
      .filter(({ kind, data }) => kind === 'handoff.accepted' && data.handoff === waiting.id)
      .map((entry) => acceptanceOf(entry, entry.data))
    return isAccepted({ accepted }) ? [] : [{ ...waiting, session, name }]
  })
}
