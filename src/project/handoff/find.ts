import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileOf, handoffFolder } from '../../context/handoff/files.ts'
import { type RecordedHandoff, handoffsIn } from '../../context/handoff/recorded.ts'
import { StintError } from '../../journal/errors.ts'
import { readOrUndefined } from '../../journal/look.ts'
import { shortId } from '../../journal/ids.ts'
import { NoSession, chooseSession, findSession } from '../store/choose.ts'
import type { LiveSession, Reading } from '../store/live-session.ts'
import { chooseToResume } from '../lifecycle/resume.ts'
import type { Workspace } from '../store/workspace.ts'
import { waitingHandoffs } from './waiting.ts'
import { defined } from '../../text/defined.ts'

export interface FoundHandoff {
  readonly session: LiveSession
  readonly reading: Reading
  readonly handoff: RecordedHandoff
  readonly path: string
  /** Before anything was restored; undefined when there was no file. */
  readonly text?: string
}

export interface GivenFile {
  readonly path: string
  readonly text: string
}

export function fileGiven(workspace: Workspace, name: string | undefined): GivenFile | undefined {
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
  const { id, which } = await placeOf(workspace, name)
  const session = workspace.session(id)
  // Read before refreshing, which would restore a missing file.
  const known = session.read()
  const handoff = chosen(handoffsIn(known.entries), which, known.state.name)
  const { path, text } = fileOf(handoffFolder(session.folder), handoff, handoffsIn(known.entries))
  const reading = await workspace.refreshIfPossible(session)
  const current = handoffsIn(reading.entries).find((one) => one.id === handoff.id) ?? handoff
  return { session, reading, handoff: current, path, ...defined({ text }) }
}

async function placeOf(
  workspace: Workspace,
  name: string | undefined,
): Promise<{ id: string; which?: string }> {
  if (name === undefined || name === '')
    return latestOrWaiting(workspace, (await chooseToResume(workspace, {})).id)
  if (isNumber(name)) return { id: (await chooseToResume(workspace, {})).id, which: name }
  const [, ofSession, which] = /^(.+)\/([^/]+)$/.exec(name) ?? []
  if (ofSession !== undefined && which !== undefined)
    return { id: (await findSession(workspace, ofSession)).id, which }
  try {
    return { id: (await findSession(workspace, name)).id }
  } catch (error) {
    if (!(error instanceof NoSession) || !/^[0-9a-f-]{4,36}$/.test(name)) throw error
    return { id: (await chooseSession(workspace)).id, which: name }
  }
}

/** The session at hand, unless it has no handoff and exactly one waits for it. */
async function latestOrWaiting(
  workspace: Workspace,
  id: string,
): Promise<{ id: string; which?: string }> {
  const session = workspace.session(id)
  const { tasks, handoffs } = session.open()
  session.close()
  if (handoffs.items.length > 0) return { id }
  const [only, ...others] = await waitingHandoffs(workspace, { session: id, tasks })
  return only === undefined || others.length > 0 ? { id } : { id: only.session, which: only.id }
}

function chosen(
  all: readonly RecordedHandoff[],
  which: string | undefined,
  session: string,
): RecordedHandoff {
  const found =
    which === undefined
      ? all.slice(-1)
      : all.filter(({ id, number }) =>
          isNumber(which) ? number === Number(which) : id.includes(which),
        )
  if (found.length === 1) return found[0]!
  if (found.length > 1) {
    const some = found.map(({ id, number }) => `  ${shortId(id)}  handoff ${number}`)
    throw new StintError(
      'HANDOFF_AMBIGUOUS',
      [`"${which}" fits several handoffs:`, ...some].join('\n'),
      'name one by its id',
    )
  }
  const hint = all.length === 0 ? 'stint handoff create makes one' : 'stint handoff list shows them'
  throw new StintError('NO_HANDOFF', `${session} has no handoff ${which ?? ''}`.trim(), hint)
}

function isNumber(name: string): boolean {
  return /^\d{1,4}$/.test(name)
}
