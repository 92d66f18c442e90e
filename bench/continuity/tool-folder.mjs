import { join } from 'node:path'

const CACHE = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'continuity')

/** Where recipes.md installs a tool. */
export function toolFolder(name) {
  return join(CACHE, name)
}
