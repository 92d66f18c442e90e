import { relative } from 'node:path'
import { type Scope, type Surroundings, setupPlace } from './places.ts'

/**
 * What to know when claude is started in a folder inside the project: every version reads the shared settings only in
 * the folder that it is started in, and old ones also those of one person.
 */
export function startNote(
  scopes: readonly Scope[],
  around: Surroundings,
  cwd: string,
): readonly string[] {
  const { root } = around
  if (cwd === root || scopes.includes('user') || scopes.length === 0) return []
  const scope = scopes.includes('local') ? 'local' : 'shared'
  const file = relative(root, setupPlace(scope, around).settings)
  const who = scope === 'local' ? 'older versions of claude read' : 'claude reads'
  return [
    `${who} ${file} only if started in ${root}, not in a folder inside: start it there, or use --user`,
  ]
}
