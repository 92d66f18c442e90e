import {
  codeDiff,
  keepCode,
  restoreCode,
  type KeptCodePlace,
  type RestoreTo,
} from '../../git/code-checkpoint.ts'
import { GitFailed } from '../../git/run-git.ts'
import { StintError } from '../../journal/errors.ts'
import { shortId } from '../../journal/ids.ts'
import { type Draft, type EntryData, type GitState, draft } from '../../session/entries.ts'
import type { Checkpoint, SessionState } from '../../session/state.ts'
import { tldrOf } from '../../session/tldr.ts'
import { oneLine } from '../../text/clean.ts'
import { decisionLine } from '../../document/progress.ts'
import { chooseSession, refuseClosed } from '../store/choose.ts'
import { withoutSecrets } from '../store/clean-draft.ts'
import type { LiveSession, Reading } from '../store/live-session.ts'
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
  options: CheckpointOptions,
): Promise<Reading & { checkpoint: Checkpoint }> {
  const row = await chooseSession(workspace, options.session)
  refuseClosed(row)
  const session = workspace.session(row.id)
  const by = options.by ?? 'library'
  const compacted =
    options.preCompact === true ? [draft('context.compacted', { trigger: 'manual' }, { by })] : []
  const { reading } = await workspace.update(session, ({ state }) => [
    ...checkpointDrafts(workspace, session, state, { ...options, by }),
    ...compacted,
  ])
  session.close()
  return { ...reading, checkpoint: reading.state.checkpoints.items.at(-1)! }
}

/** Ids are minted in this order, or the key context would outdate the TL;DR. */
export function checkpointDrafts(
  workspace: Workspace,
  session: LiveSession,
  state: SessionState,
  options: CheckpointOptions & { by: string },
): readonly Draft[] {
  const { by } = options
  const key = keyContext(state).map((data) => draft('key.added', data, { id: session.mint(), by }))
  const written =
    options.tldr === undefined
      ? []
      : [draft('tldr.written', { text: options.tldr }, { id: session.mint(), by })]
  const id = session.mint()
  const git = options.git ?? workspace.git({ dirty: true })
  const code =
    (options.code ?? workspace.config.checkpoint.code)
      ? keepWorkingTree(workspace, state, id, options.note)
      : undefined
  const pin: EntryData['checkpoint.made'] = {
    tldr:
      options.tldr ??
      tldrOf(
        state.tldr?.isOutdated === true
          ? { ...state, tldr: { ...state.tldr, renewed: id } }
          : state,
      ),
    ...defined({ note: options.note }),
    ...(options.preCompact === true ? { preCompact: true } : {}),
    ...defined({ git, code }),
  }
  return [...key, ...written, draft('checkpoint.made', pin, { id, by })]
}

/** What was found and decided since the last checkpoint. */
function keyContext(state: SessionState): readonly EntryData['key.added'][] {
  const since = state.checkpoints.items.at(-1)?.id ?? ''
  const known = new Set(state.key.items.flatMap((line) => [line.text, line.from ?? '']))
  const found = [
    ...state.discoveries.items.map((item) => ({ id: item.id, text: oneLine(item.text) })),
    ...state.decisions.items.map((item) => ({
      id: item.id,
      text: `Decided: ${oneLine(decisionLine(item))}`,
    })),
  ]
  return found
    .filter(({ id, text }) => id > since && !known.has(id) && !known.has(text))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ id, text }) => ({ text, from: id }))
}

function keepWorkingTree(
  workspace: Workspace,
  state: SessionState,
  id: string,
  note = 'checkpoint',
) {
  const { repository } = workspace.place
  if (repository === undefined) return undefined
  try {
    const kept = keepCode(repository, {
      ref: `refs/stint/${state.id}/${id}`,
      message: `stint: ${oneLine(withoutSecrets(note, workspace.config))} (${state.name})`,
      maxFileBytes: workspace.config.checkpoint.maxFileMegabytes * 1024 * 1024,
    })
    if (kept.leftOut.length > 0)
      workspace.say(`too large to keep with the code: ${kept.leftOut.join(', ')}`)
    const { commit, ref, leftOut } = kept
    return leftOut.length === 0 ? { commit, ref } : { commit, ref, leftOut }
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error
    workspace.say(`the code could not be kept: ${error.message}`)
    return undefined
  }
}

/** By number or part of an id; the latest without a name. */
async function findCheckpoint(
  workspace: Workspace,
  options: { session?: string; checkpoint?: string },
) {
  const row = await chooseSession(workspace, options.session)
  const session = workspace.session(row.id)
  const { state } = session.read()
  session.close()
  const { items } = state.checkpoints
  const wanted = options.checkpoint
  // An unknown number must not match part of an id.
  const isNumber = wanted !== undefined && /^\d{1,4}$/.test(wanted)
  const found =
    wanted === undefined
      ? items.slice(-1)
      : items.filter(({ id }, index) =>
          isNumber ? index + 1 === Number(wanted) : id.includes(wanted),
        )
  if (found.length === 1) return { state, checkpoint: found[0]! }
  const hint =
    items.length === 0 ? 'stint checkpoint makes one' : 'stint checkpoint list shows them'
  const problem =
    found.length > 1
      ? `"${wanted}" fits ${found.length} checkpoints`
      : `${state.name} has no checkpoint ${wanted ?? ''}`.trim()
  throw new StintError('NO_CHECKPOINT', problem, hint)
}

export async function listCheckpoints(
  workspace: Workspace,
  options: { session?: string },
): Promise<readonly Checkpoint[]> {
  const row = await chooseSession(workspace, options.session)
  const session = workspace.session(row.id)
  const { state } = await workspace.refreshIfPossible(session)
  session.close()
  return state.checkpoints.items
}

export async function diffCheckpoint(
  workspace: Workspace,
  options: { session?: string; checkpoint?: string; stat?: boolean },
) {
  const { state, checkpoint } = await findCheckpoint(workspace, options)
  const { repository, code } = withCode(workspace, state, checkpoint)
  return { checkpoint, diff: codeDiff(repository, code.commit, { stat: options.stat === true }) }
}

/** Into a new branch or worktree, never over work. */
export async function restoreCheckpoint(
  workspace: Workspace,
  options: { session?: string; checkpoint?: string; to?: RestoreTo },
): Promise<KeptCodePlace & { checkpoint: Checkpoint }> {
  const { state, checkpoint } = await findCheckpoint(workspace, options)
  const { repository, code } = withCode(workspace, state, checkpoint)
  const to = options.to ?? { branch: `stint/${state.name}-${shortId(checkpoint.id)}` }
  return { ...restoreCode(repository, code.commit, to), checkpoint }
}

function withCode(workspace: Workspace, state: SessionState, checkpoint: Checkpoint) {
  const { repository } = workspace.place
  if (repository === undefined || checkpoint.code === undefined) {
    throw new StintError(
      'NO_CODE',
      `checkpoint ${shortId(checkpoint.id)} of ${state.name} kept no code`,
      'stint checkpoint list shows which did',
    )
  }
  return { repository, code: checkpoint.code }
}
