import {
  codeDiff,
  checkpointCode,
  restoreCode,
  type RestoredCode,
  type RestoreTo,
} from '../../git/code-checkpoint.ts'
import { StintError } from '../../journal/errors.ts'
import { shortId } from '../../journal/ids.ts'
import { type EntryDraft, type GitState, draftEntry } from '../../session/entries.ts'
import type { Checkpoint, SessionState } from '../../session/state.ts'
import { tldrOf } from '../../session/tldr.ts'
import { oneLine } from '../../text/clean.ts'
import { decisionLine } from '../../document/progress-file.ts'
import { chooseOpenSession, chooseSession } from '../store/choose-session.ts'
import { withoutSecrets } from '../store/clean-draft.ts'
import type { LiveSession, SessionReading } from '../store/live-session.ts'
import type { Workspace } from '../store/workspace.ts'
import { defined } from '../../text/defined.ts'

export interface CheckpointOptions {
  readonly session?: string
  readonly note?: string
  /** Replaces the composed TL;DR. */
  readonly tldr?: string
  /** Counts as one compaction. */
  readonly preCompact?: boolean
  readonly code?: boolean
  readonly git?: GitState
  readonly by?: string
}

export async function makeCheckpoint(
  workspace: Workspace,
  options: CheckpointOptions = {},
): Promise<SessionReading & { checkpoint: Checkpoint }> {
  const { id } = await chooseOpenSession(workspace, options.session)
  const { by = 'library' } = options
  const compacted =
    options.preCompact === true
      ? [draftEntry('context.compacted', { trigger: 'manual' }, { by })]
      : []
  const { reading } = await workspace.update(id, ({ state }, session) => [
    ...checkpointDrafts(workspace, session, state, { ...options, by }),
    ...compacted,
  ])
  return { ...reading, checkpoint: reading.state.checkpoints.items.at(-1)! }
}

/** Ids are minted in this order, or the key context would outdate the TL;DR. */
export function checkpointDrafts(
  workspace: Workspace,
  session: LiveSession,
  state: SessionState,
  options: CheckpointOptions & { by: string },
): readonly EntryDraft[] {
  const { by, note, tldr } = options
  const keyDrafts = newKeyContext(state).map((data) =>
    draftEntry('key.added', data, { id: session.mint(), by }),
  )
  const tldrDrafts =
    tldr === undefined
      ? []
      : [draftEntry('tldr.written', { text: tldr }, { id: session.mint(), by })]
  const id = session.mint()
  const git = options.git ?? workspace.git({ dirty: true })
  const code =
    (options.code ?? workspace.config.checkpoint.code)
      ? saveWorkingTree(workspace, state, id, note)
      : undefined
  const renewed =
    state.tldr?.isOutdated === true ? { ...state, tldr: { ...state.tldr, renewed: id } } : state
  const preCompact = options.preCompact === true || undefined
  const pin = { tldr: tldr ?? tldrOf(renewed), ...defined({ note, preCompact, git, code }) }
  return [...keyDrafts, ...tldrDrafts, draftEntry('checkpoint.made', pin, { id, by })]
}

/** Discoveries and decisions since the last checkpoint. */
function newKeyContext(state: SessionState) {
  const since = state.checkpoints.items.at(-1)?.id ?? ''
  const known = new Set(state.key.items.flatMap((line) => [line.text, line.from ?? '']))
  const found = [
    ...state.discoveries.items.map(({ id, text }) => ({ text: oneLine(text), from: id })),
    ...state.decisions.items.map((item) => ({
      text: `Decided: ${oneLine(decisionLine(item))}`,
      from: item.id,
    })),
  ]
  return found
    .filter(({ from, text }) => from > since && !known.has(from) && !known.has(text))
    .toSorted((a, b) => (a.from < b.from ? -1 : 1))
}

function saveWorkingTree(
  workspace: Workspace,
  state: SessionState,
  id: string,
  note = 'checkpoint',
) {
  const { paths, config } = workspace
  const { repository } = paths
  if (repository === undefined) return undefined
  return workspace.unlessGitFails('the code could not be kept', () => {
    const { commit, ref, leftOut, secrets } = checkpointCode(repository, {
      ref: `refs/stint/${state.id}/${id}`,
      message: `stint: ${oneLine(withoutSecrets(note, config))} (${state.name})`,
      maxFileBytes: config.checkpoint.maxFileMegabytes * 1024 * 1024,
    })
    if (leftOut.length > 0) workspace.say(`too large to keep with the code: ${leftOut.join(', ')}`)
    if (secrets.length > 0)
      workspace.say(
        `not kept with the code, as untracked files with secrets stay out of git: ${secrets.join(', ')}`,
      )
    const all = [...leftOut, ...secrets].sort()
    return all.length === 0 ? { commit, ref } : { commit, ref, leftOut: all }
  })
}

export interface CheckpointRef {
  session?: string
  /** By number or part of an id; default: the latest. */
  checkpoint?: string
}

async function findCheckpoint(
  workspace: Workspace,
  { session: name, checkpoint: reference }: CheckpointRef,
) {
  const { id } = await chooseSession(workspace, name)
  const { state } = await workspace.withSession(id, (session) => session.read())
  const { items } = state.checkpoints
  // An unknown number must not match part of an id.
  const isNumber = reference !== undefined && /^\d{1,4}$/.test(reference)
  const found =
    reference === undefined
      ? items.slice(-1)
      : items.filter(({ id }, index) =>
          isNumber ? index + 1 === Number(reference) : id.includes(reference),
        )
  if (found.length !== 1) {
    const hint =
      items.length === 0 ? 'stint checkpoint makes one' : 'stint checkpoint list shows them'
    const problem =
      found.length > 1
        ? `"${reference}" fits ${found.length} checkpoints`
        : `${state.name} has no checkpoint ${reference ?? ''}`.trim()
    throw new StintError('NO_CHECKPOINT', problem, hint)
  }
  const checkpoint = found[0]!
  const { repository } = workspace.paths
  if (repository === undefined || checkpoint.code === undefined)
    throw new StintError(
      'NO_CODE',
      `checkpoint ${shortId(checkpoint.id)} of ${state.name} kept no code`,
      'stint checkpoint list shows which did',
    )
  return { state, checkpoint, repository, commit: checkpoint.code.commit }
}

export async function listCheckpoints(
  workspace: Workspace,
  { session }: { session?: string } = {},
): Promise<readonly Checkpoint[]> {
  const { state } = await workspace.view((await chooseSession(workspace, session)).id)
  return state.checkpoints.items
}

export async function diffCheckpoint(
  workspace: Workspace,
  options: CheckpointRef & { stat?: boolean } = {},
) {
  const { checkpoint, repository, commit } = await findCheckpoint(workspace, options)
  return { checkpoint, diff: codeDiff(repository, commit, { stat: options.stat === true }) }
}

/** Into a new branch or worktree, never over existing work. */
export async function restoreCheckpoint(
  workspace: Workspace,
  options: CheckpointRef & { to?: RestoreTo } = {},
): Promise<RestoredCode & { checkpoint: Checkpoint }> {
  const { state, checkpoint, repository, commit } = await findCheckpoint(workspace, options)
  const to = options.to ?? { branch: `stint/${state.name}-${shortId(checkpoint.id)}` }
  return { ...restoreCode(repository, commit, to), checkpoint }
}
