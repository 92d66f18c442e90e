import { tldrOf } from '../../../core.ts'
import type { Checkpoint } from '../../../library.ts'
import type { SessionState } from '../../../core.ts'
import { publicCheckpoint, publicSessionHead, shortId } from '../../../public/projection.ts'
import { defined } from '../../../text/defined.ts'
import { formatToMinute } from '../../../text/times.ts'
import { defineCommandGroup, listFlags, defineProjectCommand } from '../../context/command.ts'
import { UsageError, type Output } from '../../context/context.ts'
import { optionalArgument, sessionFlag, textFlag, toggle } from '../../context/flags.ts'
import { progressLine } from '../../print/session.ts'
import { indent } from '../../print/terminal/text.ts'

const SAVE_FLAGS = {
  note: textFlag('Why it is saved'),
  tldr: textFlag('A TL;DR to write with it'),
  preCompact: toggle('The context is about to be compacted'),
  noCode: toggle('Keep the journal only, not the working tree'),
  session: sessionFlag,
}

const save = defineProjectCommand({
  brief: 'Save a checkpoint now',
  about:
    'Pins the state with a readable copy, renews the TL;DR and the key context, and keeps the working tree, untracked files\nincluded, as a commit under refs/stint/ that touches neither index nor branch.',
  usage: [
    ['--note "Before the refactor"', 'with a reason'],
    ['--pre-compact', 'before the context is compacted; counts the compaction'],
  ],
  flags: SAVE_FLAGS,
  async run({ project, output, pick, print }, { note, tldr, preCompact, noCode, session }) {
    const { state, checkpoint } = await project.checkpoint({
      by: 'cli',
      ...defined({ note, tldr, preCompact }),
      ...(await pick(session)),
      ...(noCode && { code: false }),
    })
    const value = { session: publicSessionHead(state), checkpoint: publicCheckpoint(checkpoint) }
    print(value, () => describeSaved(state, checkpoint, preCompact === true, output))
  },
})

function describeSaved(
  state: SessionState,
  { id, text, code }: Checkpoint,
  isPreCompact: boolean,
  output: Output,
): string {
  const commit = code?.commit.slice(0, 7)
  return [
    `💾 ${output.bold(isPreCompact ? 'Pre-Compaction Checkpoint' : 'Checkpoint Saved')}`,
    `   Session: ${state.name}`,
    ...(isPreCompact ? [`   Compaction: #${state.compactions}`] : []),
    `   Id: ${shortId(id)}`,
    ...(text === '' ? [] : [`   Note: ${text}`]),
    ...(commit === undefined
      ? []
      : [`   Code: ${commit} (stint checkpoint restore ${shortId(id)} brings it back)`]),
    ...(code?.leftOut === undefined ? [] : [`   Left out: ${code.leftOut.join(', ')}`]),
    `   Progress: ${progressLine(state)}`,
    '',
    '   ## TL;DR',
    indent(tldrOf(state)),
  ].join('\n')
}

const list = defineProjectCommand({
  brief: 'List the checkpoints of a session',
  flags: { session: sessionFlag },
  async run({ project, pick, print }, { session }) {
    const checkpoints = await project.checkpoints.list(await pick(session))
    print(checkpoints.map(publicCheckpoint), () =>
      checkpoints.length === 0
        ? 'No checkpoints yet: stint checkpoint saves one.'
        : checkpoints
            .map(({ id, at, code, text }, index) =>
              `${String(index + 1).padStart(3)}  ${shortId(id)}  ${formatToMinute(at)}  ${code?.commit.slice(0, 7) ?? 'no code'}  ${text.split('\n').join(' ')}`.trimEnd(),
            )
            .join('\n'),
    )
  },
})

const checkpointArgument = optionalArgument(
  'The checkpoint, by number or part of its id; the latest when absent',
  'CHECKPOINT',
)

const diff = defineProjectCommand({
  brief: 'Show what changed in the working tree since a checkpoint',
  usage: [
    ['', 'since the latest'],
    ['2 --stat', 'since the second, by file'],
  ],
  args: [checkpointArgument],
  flags: { stat: toggle('Only which files, and by how much'), session: sessionFlag },
  async run({ project, pick, print }, { stat, session }, checkpoint) {
    const picked = await pick(session)
    const result = await project.checkpoints.diff({ ...picked, ...defined({ checkpoint, stat }) })
    print({ ...result, checkpoint: publicCheckpoint(result.checkpoint) }, () =>
      result.diff === ''
        ? `Nothing changed since checkpoint ${shortId(result.checkpoint.id)}.`
        : result.diff,
    )
  },
})

const restore = defineProjectCommand({
  brief: 'Bring the code of a checkpoint back, into a new branch or worktree',
  usage: [
    ['', 'the latest, into a new branch stint/NAME-ID'],
    ['a1b2c3 --branch rescue', 'into a branch of this name, which must not exist'],
    ['1 --worktree ../rescue', 'into a new folder, which must not exist'],
  ],
  args: [checkpointArgument],
  flags: {
    branch: textFlag('Name of the new branch', 'NAME'),
    worktree: textFlag('Folder of the new worktree', 'PATH'),
    session: sessionFlag,
  },
  async run({ project, output, pick, print }, { branch, worktree, session }, checkpoint) {
    const picked = await pick(session)
    if (branch !== undefined && worktree !== undefined)
      throw new UsageError('give --branch or --worktree, not both')
    const folder = worktree === undefined ? undefined : { worktree }
    const to = branch === undefined ? folder : { branch }
    const restored = await project.checkpoints.restore({
      ...picked,
      ...defined({ checkpoint, to }),
    })
    const id = shortId(restored.checkpoint.id)
    print({ ...restored, checkpoint: publicCheckpoint(restored.checkpoint) }, () =>
      [
        `♻️  ${output.bold(`Checkpoint ${id} restored`)}`,
        restored.worktree === undefined
          ? `   Branch: ${restored.branch} (git switch ${restored.branch} goes there)`
          : `   Worktree: ${restored.worktree}`,
        `   Commit: ${restored.commit.slice(0, 7)}; your own tree was not touched`,
      ].join('\n'),
    )
  },
})

export const checkpoint = defineCommandGroup({
  brief: 'Save a checkpoint; list, compare and restore them',
  about: [
    'Without a subcommand, saves a checkpoint, and takes the flags of save:',
    ...listFlags(SAVE_FLAGS, 15),
  ].join('\n'),
  routes: { save, list, diff, restore },
  default: 'save',
})
