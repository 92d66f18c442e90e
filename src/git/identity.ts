import { GitFailed, runGit } from './run-git.ts'

/** Set in full: the user may have configured none, and a hook may inherit that of another commit. */
export function ownIdentity(): Record<string, string> {
  const date = `${Math.floor(Date.now() / 1000)} +0000`
  const roles = ['AUTHOR', 'COMMITTER'].flatMap((role) => [
    [`GIT_${role}_NAME`, 'Stint'],
    [`GIT_${role}_EMAIL`, 'stint@localhost'],
    [`GIT_${role}_DATE`, date],
  ])
  return Object.fromEntries(roles) as Record<string, string>
}

export function identityFor(root: string): Record<string, string> {
  try {
    runGit(root, ['var', 'GIT_COMMITTER_IDENT'])
    return {}
  } catch (error) {
    if (error instanceof GitFailed) return ownIdentity()
    throw error
  }
}
