// Only files that existed when the server started are served.
import { readFileSync, readdirSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { statOrUndefined } from '../core.ts'

export interface PageFile {
  readonly type: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
}

/** Beside the bundle's entries, its chunks, and the sources' build. */
const PAGE_FOLDERS = ['./page', '../page', '../../dist/page']

export function findPageFolder(from: string = import.meta.url): string | undefined {
  return PAGE_FOLDERS.map((folder) => fileURLToPath(new URL(folder, from))).find(
    (path) => statOrUndefined(path)?.isDirectory() === true,
  )
}

export function readPageFiles(folder: string | undefined): ReadonlyMap<string, PageFile> {
  if (folder === undefined) return new Map()
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return new Map(
    names.flatMap((name) => {
      const type = CONTENT_TYPES[extname(name)]
      if (type === undefined || statOrUndefined(join(folder, name))?.isFile() !== true) return []
      return [
        [
          `/${name.replaceAll('\\', '/')}`,
          { type, bytes: new Uint8Array(readFileSync(join(folder, name))) },
        ],
      ]
    }),
  )
}
