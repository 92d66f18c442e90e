import type { Folds, Kinds } from './kind.ts'
import { type After, item, str } from './read-fields.ts'
import {
  type Item,
  NeedsFullFold,
  type Shelf,
  type ShelfRules,
  type WorkingShelf,
  insert,
  remove,
} from './shelf.ts'

export interface FileData {
  'file.noted': { path: string; description?: string; after?: After }
  'file.changed': { path: string; description?: string; after?: After }
  /** A person removed the path from a list; noting it again puts it back. */
  'file.dropped': { path: string; list: 'key' | 'changed' }
  'command.kept': { command: string; after?: After }
}

/** `text` is the path. */
export interface FileLine extends Item {
  readonly description?: string
}

export interface FilesState {
  readonly keyFiles: Shelf<FileLine>
  readonly changedFiles: Shelf<FileLine>
  readonly commands: Shelf<Item>
}

export const shelves: ShelfRules<FilesState> = {
  // A path noted again keeps its place, so the paths of cut items must stay known.
  keyFiles: { recent: 12, remembered: 2000, isOrdered: true },
  changedFiles: { recent: 12, remembered: 2000, isOrdered: true },
  commands: { recent: 20, isOrdered: true },
}

export const fold: Folds<FileData, FilesState> = {
  'file.noted': {
    outdatesTldr: true,
    apply: (state, data, entry) => noteFile(state.keyFiles, fileLine(entry, data), data.after),
  },
  'file.changed': {
    outdatesTldr: true,
    apply: (state, data, entry) => noteFile(state.changedFiles, fileLine(entry, data), data.after),
  },
  'file.dropped': {
    outdatesTldr: true,
    apply(state, data) {
      const list = data.list === 'key' ? state.keyFiles : state.changedFiles
      const index = list.items.findIndex((file) => file.text === data.path)
      if (index !== -1) remove(list, index)
      else if (isLeftOut(list, str(data.path)))
        throw new NeedsFullFold(`${str(data.path)} is not in the snapshot`)
    },
  },
  'command.kept': {
    outdatesTldr: true,
    apply: (state, data, entry) => insert(state.commands, item(entry, data.command), data.after),
  },
}

export const kinds = (): Kinds<FileData, FilesState> => {
  const usual = { group: 'code', about: 'work', subject: undefined } as const
  const file = {
    ...usual,
    searchedAs: 'file',
    writers: ['agent', 'document'],
    amendable: ['path', 'description'],
    prose: ['path', 'description'],
    line: ['path'],
  } as const
  return {
    'file.noted': {
      ...file,
      label: 'file noted',
      document: { block: 'keyFile', regions: ['keyFiles'], ordered: ['keyFiles'], text: undefined },
    },
    'file.changed': {
      ...file,
      label: 'file changed',
      document: {
        block: 'changedFile',
        regions: ['changedFiles'],
        ordered: ['changedFiles'],
        text: undefined,
      },
    },
    'file.dropped': {
      ...usual,
      label: 'file dropped',
      searchedAs: undefined,
      writers: ['document'],
      amendable: [],
      prose: ['path'],
      line: ['path'],
      document: undefined,
    },
    'command.kept': {
      ...usual,
      label: 'command kept',
      searchedAs: undefined,
      writers: ['agent', 'document'],
      amendable: ['command'],
      prose: ['command'],
      line: ['command'],
      document: { block: 'command', regions: ['commands'], ordered: ['commands'], text: undefined },
    },
  }
}

function fileLine(
  entry: { readonly id: string; readonly at: string },
  data: { readonly path?: unknown; readonly description?: unknown },
) {
  return {
    ...item(entry, data.path),
    ...(typeof data.description === 'string' ? { description: data.description } : {}),
  }
}

// An empty description removes the old one.
function noteFile(list: WorkingShelf<FileLine>, file: FileLine, after: unknown) {
  const index = list.items.findIndex((other) => other.text === file.text)
  const known = list.items[index]
  if (known === undefined && isLeftOut(list, file.text)) return
  const { description = known?.description, ...rest } = file
  const noted = {
    ...rest,
    id: known?.id ?? file.id,
    ...(description === undefined || description === '' ? {} : { description }),
  }
  if (known === undefined) insert(list, noted, after)
  else list.items[index] = noted
}

function isLeftOut(list: WorkingShelf<FileLine>, path: string) {
  if (list.earlier === 0) return false
  if (list.leftOut === undefined)
    throw new NeedsFullFold(`${path} may be in the part the snapshot left out`)
  return list.leftOut.includes(path)
}
