import { type Verdict, shortCommit, unverified, verified } from './claim.ts'
import { type Surroundings, whenAnswered } from './surroundings.ts'

/** Whether the code of a checkpoint is in this repository under its name. */
export function probeKeptCode(
  now: Surroundings,
  code: { readonly commit: string; readonly ref: string },
): Verdict {
  return whenAnswered(now, (git) => {
    if (!code.ref.startsWith('refs/stint/'))
      return unverified(`${code.ref} is no name of kept code`)
    if (!git.ask(['show-ref', '--verify', '--quiet', code.ref]))
      return unverified('this repository does not have it')
    const found = git.run(['rev-parse', '--verify', `${code.ref}^{commit}`]).trim()
    return found === code.commit
      ? verified('kept code', found)
      : unverified(`the name means ${shortCommit(found)} now`)
  })
}
