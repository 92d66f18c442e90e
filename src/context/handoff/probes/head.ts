import { type Verdict, couldNotBeChecked, shortCommit, unverified, verified } from './claim.ts'
import { type Surroundings, whenAnswered } from './surroundings.ts'

/** Whether HEAD is the commit named, in full or by its beginning. */
export function probeHead(now: Surroundings, commit: string): Verdict {
  return whenAnswered(now, () => {
    const { commit: head } = now.head
    if (head === undefined) return couldNotBeChecked('HEAD names no commit')
    const isSame = commit.length >= 7 && head.startsWith(commit)
    return isSame ? verified('HEAD', head) : unverified(`HEAD is ${shortCommit(head)}`)
  })
}
