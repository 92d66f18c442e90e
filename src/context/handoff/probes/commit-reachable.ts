import { type Verdict, couldNotBeChecked, unverified, verified } from './claim.ts'
import { type Surroundings, whenAnswered } from './surroundings.ts'

/** Whether HEAD builds on a commit: work that is on a lost branch is done and still not there. */
export function probeReachable(now: Surroundings, commit: string): Verdict {
  return whenAnswered(now, (git) => {
    const { commit: head } = now.head
    if (!/^[0-9a-f]{4,64}$/.test(commit)) return couldNotBeChecked('it is no name of a commit')
    if (head === undefined) return couldNotBeChecked('HEAD names no commit')
    if (!git.ask(['cat-file', '-e', `${commit}^{commit}`]))
      return unverified('this repository does not have it')
    const isBehind = git.ask(['merge-base', '--is-ancestor', commit, head])
    return isBehind ? verified('history', head) : unverified('it is not in the history of HEAD')
  })
}
