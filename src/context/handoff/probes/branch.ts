import { type Verdict, unverified, verified } from './claim.ts'
import { type Surroundings, whenAnswered } from './surroundings.ts'

/** Whether the branch exists and is the one checked out. */
export function probeBranch(now: Surroundings, branch: string): Verdict {
  return whenAnswered(now, (git) => {
    if (now.head.branch === branch) return verified('branch', now.head.commit)
    const exists = git.ask(['show-ref', '--verify', '--quiet', `refs/heads/${branch}`])
    if (!exists) return unverified('there is no such branch')
    return unverified(
      now.head.branch === undefined
        ? 'no branch is checked out'
        : `${now.head.branch} is checked out`,
    )
  })
}
