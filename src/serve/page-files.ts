// The files of the page, which are built beside the program. Only what stood there when the server started is served.
import { readFileSync, readdirSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { statOrUndefined } from '../journal/look.ts'

export interface PageFile {
  readonly type: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
}

/** Beside the bundle's entries, beside its chunks, and where a build of the sources puts it. */
const PLACES = ['./page', '../page', '../../dist/page']

export function pageFolder(from: string = import.meta.url): string | undefined {
  return PLACES.map((place) => fileURLToPath(new URL(place, from))).find(
    (path) => statOrUndefined(path)?.isDirectory() === true,
  )
}

/** By the path that a browser asks for. */
export function readPage(folder: string | undefined): ReadonlyMap<string, PageFile> {
  if (folder === undefined) return new Map()
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return new Map(
    names.flatMap((name) => {
      const type = TYPES[extname(name)]
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
