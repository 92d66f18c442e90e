// In whose name commits are made.
import { GitFailed, runGit } from './run-git.ts'

/** Said in full, because the user may have configured none, and a hook may have been started with that of another commit. */
export function ownIdentity(): Record<string, string> {
  const date = `${Math.floor(Date.now() / 1000)} +0000`
  const roles = ['AUTHOR', 'COMMITTER'].flatMap((role) => [
    [`GIT_${role}_NAME`, 'Stint'],
    [`GIT_${role}_EMAIL`, 'stint@localhost'],
    [`GIT_${role}_DATE`, date],
  ])
  return Object.fromEntries(roles) as Record<string, string>
}

/** That of the user, where git knows one; else our own, so that nothing fails for want of a name. */
export function identityFor(root: string): Record<string, string> {
  try {
    runGit(root, ['var', 'GIT_COMMITTER_IDENT'])
    return {}
  } catch (error) {
    if (error instanceof GitFailed) return ownIdentity()
    throw error
  }
}
