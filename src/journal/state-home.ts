import { isAbsolute, join } from 'node:path'

/** The folder for what belongs to this machine and no project. */
export function stateHome(env: NodeJS.ProcessEnv = process.env): string {
  const { STINT_STATE_HOME: own, XDG_STATE_HOME: shared, HOME: home } = env
  if (own !== undefined && own !== '') return own
  // The XDG specification ignores relative paths.
  const base =
    shared !== undefined && isAbsolute(shared)
      ? shared
      : join(home || process.getBuiltinModule('node:os').homedir(), '.local', 'state')
  return join(base, 'stint')
}
