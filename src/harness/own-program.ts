import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { StintError } from '../journal/errors.ts'

/** How this very Stint is started: the program and its first arguments. */
export function ownProgram(): readonly [string, ...string[]] {
  // Bundled, this file is `dist/stint.js`, `dist/library.js` or one of their chunks; as a source it lies beside `dist`.
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const found = [join(folder, 'stint.js'), join(folder, 'dist', 'stint.js')].find((path) => existsSync(path))
    if (found !== undefined) return [process.execPath, found]
    if (folder === dirname(folder)) break
  }
  throw new StintError('NO_PROGRAM', 'the program of Stint is not built', 'npm run build')
}
