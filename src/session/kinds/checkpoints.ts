import { defined } from '../../text/defined.ts'
import type { Folds, Kinds } from './kind.ts'
import { type GitState, fields, gitOf, item } from './read-fields.ts'
import type { SessionHead } from './session.ts'
import type { Item, Shelf, ShelfRules } from './shelf.ts'

export interface CheckpointData {
  'checkpoint.made': {
    note?: string
    tldr?: string
    preCompact?: boolean
    git?: GitState
    /** The working tree as a commit, under `refs/stint/`. */
    code?: { commit: string; ref: string; leftOut?: readonly string[] }
  }
}

export interface Checkpoint
  extends Item, Readonly<Pick<CheckpointData['checkpoint.made'], 'tldr' | 'git' | 'code'>> {
  readonly preCompact: boolean
}

export interface CheckpointsState {
  readonly checkpoints: Shelf<Checkpoint>
}

export const shelves: ShelfRules<CheckpointsState> = {
  checkpoints: { recent: 3, isOrdered: false },
}

export const fold: Folds<CheckpointData, CheckpointsState & Pick<SessionHead, 'tldr'>> = {
  'checkpoint.made': {
    outdatesTldr: false,
    bindsBranch: false,
    apply(state, data, entry) {
      if (state.tldr?.isOutdated === true) state.tldr = { ...state.tldr, renewed: entry.id }
      const git = gitOf(data.git)
      const code = data.code as { commit: string; ref: string } | undefined
      state.checkpoints.items.push({
        ...item(entry, data.note),
        preCompact: data.preCompact === true,
        ...fields(data, 'tldr'),
        ...defined({ git }),
        ...(typeof code?.commit === 'string' ? { code } : {}),
      })
    },
  },
}

export const kinds = (): Kinds<CheckpointData, CheckpointsState> => ({
  'checkpoint.made': {
    label: 'checkpoint',
    searchedAs: 'checkpoint',
    group: 'session',
    writers: [],
    amendable: ['note'],
    about: 'handover',
    // Its TL;DR is composed from entries that search finds themselves.
    prose: ['note'],
  },
})
