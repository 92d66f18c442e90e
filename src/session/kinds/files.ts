import { defined } from '../../text/defined.ts'
import { type Folds, type Kinds, type Lenient, orderedItem, outdatesWrittenTldr } from './kind.ts'
import { type PrecedingItemId, item, nonEmptyString, str } from './read-fields.ts'
import {
  type Item,
  NeedsFullFold,
  type ItemList,
  type ListRules,
  type MutableList,
  insertItem,
  removeItem,
} from './item-list.ts'

export interface FileData {
  'file.noted': { path: string; description?: string; after?: PrecedingItemId }
  'file.changed': FileData['file.noted']
  /** A person removed the path from a list; recording it again puts it back. */
  'file.dropped': { path: string; list: 'key' | 'changed' }
  'command.kept': { command: string; after?: PrecedingItemId }
}

/** `text` is the path. */
export interface FileItem extends Item {
  readonly description?: string
}

export interface FilesState {
  readonly keyFiles: ItemList<FileItem>
  readonly changedFiles: ItemList<FileItem>
  readonly commands: ItemList<Item>
}

export const listRules: ListRules<FilesState> = {
  // A path recorded again keeps its position, so the paths of cut items must stay known.
  keyFiles: { recent: 12, remembered: 2000, isOrdered: true },
  changedFiles: { recent: 12, remembered: 2000, isOrdered: true },
  commands: { recent: 20, isOrdered: true },
}

export const fold: Folds<FileData, FilesState> = {
  'file.noted': outdatesWrittenTldr((state, data, entry) =>
    recordFile(state.keyFiles, entry, data),
  ),
  'file.changed': outdatesWrittenTldr((state, data, entry) =>
    recordFile(state.changedFiles, entry, data),
  ),
  'file.dropped': outdatesWrittenTldr((state, data) => {
    const list = data.list === 'key' ? state.keyFiles : state.changedFiles
    const index = list.items.findIndex((file) => file.text === data.path)
    if (index !== -1) removeItem(list, index)
    else if (isLeftOut(list, str(data.path)))
      throw new NeedsFullFold(`${str(data.path)} is not in the snapshot`)
  }),
  'command.kept': outdatesWrittenTldr((state, data, entry) =>
    insertItem(state.commands, item(entry, data.command), data.after),
  ),
}

export const kinds = (): Kinds<FileData, FilesState> => {
  const usual = { group: 'code', writers: ['agent', 'document'], about: 'work' } as const
  const file = {
    ...usual,
    searchedAs: 'file',
    amendable: ['path', 'description'],
    prose: ['path', 'description'],
    line: ['path'],
  } as const
  return {
    'file.noted': { ...file, document: orderedItem('keyFile', 'keyFiles') },
    'file.changed': { ...file, document: orderedItem('changedFile', 'changedFiles') },
    'file.dropped': { ...usual, writers: ['document'], amendable: [], prose: ['path'] },
    'command.kept': {
      ...usual,
      amendable: ['command'],
      prose: ['command'],
      document: orderedItem('command', 'commands'),
    },
  }
}

function recordFile(
  list: MutableList<FileItem>,
  entry: { readonly id: string; readonly at: string },
  data: Lenient<FileData['file.noted']>,
) {
  const { id, text, at } = item(entry, data.path)
  const index = list.items.findIndex((other) => other.text === text)
  const known = list.items[index]
  if (known === undefined && isLeftOut(list, text)) return
  const stated = typeof data.description === 'string' ? data.description : known?.description
  const description = nonEmptyString(stated)
  const recorded = { id: known?.id ?? id, text, at, ...defined({ description }) }
  if (known === undefined) insertItem(list, recorded, data.after)
  else list.items[index] = recorded
}

function isLeftOut(list: MutableList<FileItem>, path: string) {
  if (list.earlier === 0) return false
  if (list.leftOut === undefined)
    throw new NeedsFullFold(`${path} may be in the part the snapshot left out`)
  return list.leftOut.includes(path)
}
