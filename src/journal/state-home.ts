import { isAbsolute, join } from 'node:path'

/** Where Stint keeps what belongs to this machine and to no project. */
export function stateHome(env: NodeJS.ProcessEnv = process.env): string {
  const { STINT_STATE_HOME: own, XDG_STATE_HOME: shared, HOME: home } = env
  if (own !== undefined && own !== '') return own
  // The XDG specification says that a relative path is to be ignored.
  const base =
    shared !== undefined && isAbsolute(shared)
      ? shared
      : join(home || process.getBuiltinModule('node:os').homedir(), '.local', 'state')
  return join(base, 'stint')
}
