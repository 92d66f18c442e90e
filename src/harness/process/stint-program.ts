import { fileURLToPath } from 'node:url'
import { StintError } from '../../journal/errors.ts'
import { statOrUndefined } from '../../journal/look.ts'

/** Beside the bundle's entries, above its chunks, and where a build of the sources puts it. */
const PLACES = ['./stint.js', '../stint.js', '../../../dist/stint.js']

/** The program of the running Stint, as a file that Node can be given. */
export function stintProgram(from: string = import.meta.url): string {
  const found = PLACES.map((place) => fileURLToPath(new URL(place, from))).find(
    (path) => statOrUndefined(path)?.isFile() === true,
  )
  if (found !== undefined) return found
  throw new StintError(
    'NOT_BUILT',
    'this Stint runs from its sources and is not built',
    'npm run build',
  )
}
