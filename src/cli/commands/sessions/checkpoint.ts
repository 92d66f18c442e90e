import { tldrOf } from '../../../core.ts'
import type { Checkpoint, RestoreTo, SessionState } from '../../../library.ts'
import { publicCheckpoint, publicSessionHead, shortId } from '../../../public.ts'
import { indent } from '../../print/terminal/text.ts'
import { buildCommand, buildRouteMap } from '@stricli/core'
import { minute } from '../../../text/times.ts'
import type { Context } from '../../context/context.ts'
import { progressLine } from '../../print/session.ts'
import { Misuse } from '../../context/errors.ts'
import { json, optionalName, session, text, toggle } from '../../context/flags.ts'
import type { Output } from '../../context/output.ts'
import { withProject } from '../../context/with-project.ts'
import { defined } from '../../../text/defined.ts'

interface SaveFlags {
  readonly note?: string
  readonly tldr?: string
  readonly preCompact?: boolean
  readonly noCode?: boolean
  readonly session?: string
  readonly json?: boolean
}

const SAVE_FLAGS = {
  note: text('Why it is saved'),
  tldr: text('A TL;DR to write with it'),
  preCompact: toggle('The context is about to be compacted'),
  noCode: toggle('Keep the journal only, not the working tree'),
  session,
  json,
} as const

const save = buildCommand<SaveFlags, [], Context>({
  docs: {
    brief: 'Save a checkpoint now',
    fullDescription:
      'Pins the state with a readable copy, renews the TL;DR and the key context, and keeps the working tree, untracked files\nincluded, as a commit under refs/stint/ that touches neither index nor branch.',
    customUsage: [
      { input: '--note "Before the refactor"', brief: 'with a reason' },
      { input: '--pre-compact', brief: 'before the context is compacted; counts the compaction' },
    ],
  },
  parameters: {
    flags: SAVE_FLAGS,
  },
  async func(flags) {
    await withProject(this, flags, async (project, output, pick) => {
      const { state, checkpoint } = await project.checkpoint({
        by: 'cli',
        ...defined({
          note: flags.note,
          tldr: flags.tldr,
          session: await pick(flags.session),
          preCompact: flags.preCompact,
        }),
        ...(flags.noCode === true ? { code: false } : {}),
      })
      output.result(
        flags.json,
        { session: publicSessionHead(state), checkpoint: publicCheckpoint(checkpoint) },
        () => describe(state, checkpoint, flags.preCompact === true, output),
      )
    })
  },
})

function describe(
  state: SessionState,
  checkpoint: Checkpoint,
  isPreCompact: boolean,
  output: Output,
): string {
  return [
    `💾 ${output.bold(isPreCompact ? 'Pre-Compaction Checkpoint' : 'Checkpoint Saved')}`,
    `   Session: ${state.name}`,
    ...(isPreCompact ? [`   Compaction: #${state.compactions}`] : []),
    `   Id: ${shortId(checkpoint.id)}`,
    ...(checkpoint.text === '' ? [] : [`   Note: ${checkpoint.text}`]),
    ...(checkpoint.code === undefined
      ? []
      : [
          `   Code: ${checkpoint.code.commit.slice(0, 7)} (stint checkpoint restore ${shortId(checkpoint.id)} brings it back)`,
        ]),
    `   Progress: ${progressLine(state)}`,
    '',
    '   ## TL;DR',
    indent(tldrOf(state)),
  ].join('\n')
}

const listing = buildCommand<{ session?: string; json?: boolean }, [], Context>({
  docs: { brief: 'List the checkpoints of a session' },
  parameters: { flags: { session, json } },
  async func(flags) {
    await withProject(this, flags, async (project, output, pick) => {
      const checkpoints = await project.checkpoints.list(
        defined({ session: await pick(flags.session) }),
      )
      output.result(flags.json, checkpoints.map(publicCheckpoint), () =>
        checkpoints.length === 0
          ? 'No checkpoints yet: stint checkpoint saves one.'
          : checkpoints
              .map((one, index) =>
                `${String(index + 1).padStart(3)}  ${shortId(one.id)}  ${minute(one.at)}  ${one.code?.commit.slice(0, 7) ?? 'no code'}  ${one.text.split('\n').join(' ')}`.trimEnd(),
              )
              .join('\n'),
      )
    })
  },
})

const which = optionalName(
  'The checkpoint, by number or part of its id; the latest when absent',
  'CHECKPOINT',
)

const diff = buildCommand<{ stat?: boolean; session?: string; json?: boolean }, [string?], Context>(
  {
    docs: {
      brief: 'Show what changed in the working tree since a checkpoint',
      customUsage: [
        { input: '', brief: 'since the latest' },
        { input: '2 --stat', brief: 'since the second, by file' },
      ],
    },
    parameters: {
      positional: which,
      flags: { stat: toggle('Only which files, and by how much'), session, json },
    },
    async func(flags, checkpoint) {
      await withProject(this, flags, async (project, output, pick) => {
        const found = await project.checkpoints.diff({
          ...defined({ checkpoint, session: await pick(flags.session), stat: flags.stat }),
        })
        output.result(
          flags.json,
          { ...found, checkpoint: publicCheckpoint(found.checkpoint) },
          () =>
            found.diff === ''
              ? `Nothing changed since checkpoint ${shortId(found.checkpoint.id)}.`
              : found.diff,
        )
      })
    },
  },
)

const restore = buildCommand<
  { branch?: string; worktree?: string; session?: string; json?: boolean },
  [string?],
  Context
>({
  docs: {
    brief: 'Bring the code of a checkpoint back, into a new branch or worktree',
    customUsage: [
      { input: '', brief: 'the latest, into a new branch stint/NAME-ID' },
      {
        input: 'a1b2c3 --branch rescue',
        brief: 'into a branch of this name, which must not exist',
      },
      { input: '1 --worktree ../rescue', brief: 'into a new folder, which must not exist' },
    ],
  },
  parameters: {
    positional: which,
    flags: {
      branch: text('Name of the new branch', 'NAME'),
      worktree: text('Folder of the new worktree', 'PATH'),
      session,
      json,
    },
  },
  async func(flags, checkpoint) {
    await withProject(this, flags, async (project, output, pick) => {
      const restored = await project.checkpoints.restore({
        ...defined({ checkpoint, session: await pick(flags.session), to: placeFrom(flags) }),
      })
      output.result(
        flags.json,
        { ...restored, checkpoint: publicCheckpoint(restored.checkpoint) },
        () =>
          [
            `♻️  ${output.bold(`Checkpoint ${shortId(restored.checkpoint.id)} restored`)}`,
            restored.worktree === undefined
              ? `   Branch: ${restored.branch} (git switch ${restored.branch} goes there)`
              : `   Worktree: ${restored.worktree}`,
            `   Commit: ${restored.commit.slice(0, 7)}; your own tree was not touched`,
          ].join('\n'),
      )
    })
  },
})

function placeFrom({
  branch,
  worktree,
}: {
  branch?: string
  worktree?: string
}): RestoreTo | undefined {
  if (branch !== undefined && worktree !== undefined)
    throw new Misuse('give --branch or --worktree, not both')
  if (branch !== undefined) return { branch }
  return worktree === undefined ? undefined : { worktree }
}

/** A flag as it is typed. */
function flagName(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

export const checkpoint = buildRouteMap<'save' | 'list' | 'diff' | 'restore', Context>({
  routes: { save, list: listing, diff, restore },
  defaultCommand: 'save',
  docs: {
    brief: 'Save a checkpoint; list, compare and restore them',
    fullDescription: [
      'Without a subcommand, saves a checkpoint, and takes the flags of save:',
      ...Object.entries(SAVE_FLAGS).map(
        ([name, { brief }]) => `  ${flagName(name).padEnd(15)}${brief}`,
      ),
    ].join('\n'),
  },
})
