import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { createFolderUnsynced, replaceSource } from '../../../journal/files.ts'
import { ToolFault, behindLinks, wholeText } from './text-files.ts'

/** Writes a whole file, its folders too. */
export function writeFile(path: string, content: string): string {
  const real = behindLinks(path)
  const found = statSync(real, { throwIfNoEntry: false })
  if (found?.isDirectory() === true) throw new ToolFault(`${path} is a folder`)
  if (found !== undefined && !found.isFile()) throw new ToolFault(`${path} is no plain file`)
  createFolderUnsynced(dirname(real))
  replaceSource(real, content)
  return `${found === undefined ? 'Written' : 'Replaced'}: ${path}, ${Buffer.byteLength(content)} bytes.`
}

/** Replaces the one place where a text stands. */
export function editFile(path: string, old: string, fresh: string): string {
  if (old === '') throw new ToolFault('old_text is empty; use write for a new file')
  if (old === fresh) throw new ToolFault('old_text and new_text are the same')
  const text = wholeText(path)
  const at = text.indexOf(old)
  if (at === -1)
    throw new ToolFault(`old_text does not stand in ${path}${nearMiss(text, old)}; read the file and copy it exactly`)
  if (text.indexOf(old, at + 1) !== -1)
    throw new ToolFault(`old_text stands in ${path} ${timesIn(text, old)} times; give more of what is around it`)
  replaceSource(behindLinks(path), `${text.slice(0, at)}${fresh}${text.slice(at + old.length)}`)
  return `Edited: ${path}.`
}

function nearMiss(text: string, old: string): string {
  if (text.includes('\r\n') && text.replaceAll('\r\n', '\n').includes(old)) return ' (its lines end with CR LF)'
  const bare = (string: string) => string.replaceAll(/\s+/g, '')
  return bare(old) !== '' && bare(text).includes(bare(old)) ? ' (but for its white space)' : ''
}

function timesIn(text: string, piece: string): number {
  let times = 0
  for (let at = text.indexOf(piece); at !== -1; at = text.indexOf(piece, at + 1)) times += 1
  return times
}
