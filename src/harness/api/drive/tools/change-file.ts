import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { createFolderUnsynced, replaceSource } from '../../../../journal/files.ts'
import { marksIn } from '../../../../text/redact.ts'
import { ToolFault, behindLinks, wholeText } from './text-files.ts'

/** Writes a whole file, its folders too. */
export function writeFile(path: string, content: string): string {
  const real = behindLinks(path)
  const found = statSync(real, { throwIfNoEntry: false })
  if (found?.isDirectory() === true) throw new ToolFault(`${path} is a folder`)
  if (found !== undefined && !found.isFile()) throw new ToolFault(`${path} is no plain file`)
  refuseMarks(path, found === undefined ? '' : textBefore(real), content)
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
    throw new ToolFault(
      `old_text does not stand in ${path}${nearMiss(text, old)}; read the file and copy it exactly`,
    )
  if (text.indexOf(old, at + 1) !== -1)
    throw new ToolFault(
      `old_text stands in ${path} ${timesIn(text, old)} times; give more of what is around it`,
    )
  const edited = `${text.slice(0, at)}${fresh}${text.slice(at + old.length)}`
  refuseMarks(path, text, edited)
  replaceSource(behindLinks(path), edited)
  return `Edited: ${path}.`
}

/** The model sees a mark where a secret stands, and would put it in the place of the secret. */
function refuseMarks(path: string, before: string, after: string): void {
  const mark = marksIn(after).find((one) => timesIn(after, one) > timesIn(before, one))
  if (mark === undefined) return
  throw new ToolFault(
    `${mark} stands for a secret that is not shown to you, and ${path} would have the mark in its place; nothing was written. ` +
      'Edit around the secret with the tool edit, or change the file with the shell.',
  )
}

/** What cannot be read as text has no marks. */
function textBefore(path: string): string {
  try {
    return wholeText(path)
  } catch (error) {
    if (error instanceof ToolFault) return ''
    throw error
  }
}

function nearMiss(text: string, old: string): string {
  if (text.includes('\r\n') && text.replaceAll('\r\n', '\n').includes(old))
    return ' (its lines end with CR LF)'
  const bare = (string: string) => string.replaceAll(/\s+/g, '')
  return bare(old) !== '' && bare(text).includes(bare(old)) ? ' (but for its white space)' : ''
}

function timesIn(text: string, piece: string): number {
  let times = 0
  for (let at = text.indexOf(piece); at !== -1; at = text.indexOf(piece, at + 1)) times += 1
  return times
}
