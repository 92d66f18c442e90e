// One prompt at a time in a session: two agents in one conversation would write over each other.
import type { ProcessMark } from '../../harness/contract/drive.ts'
import { endStrays } from '../../harness/process/strays.ts'
import { StintError } from '../../journal/errors.ts'
import type { Place } from '../../project/store/place.ts'
import { Claims } from '../loop/claims.ts'

/** In the environment of whatever a prompt starts. */
export const PROMPT_VARIABLE = 'STINT_PROMPT'

export interface HeldSession {
  release(): void
}

/** Takes the session for a prompt. What one left that was killed in it is ended first. */
export async function holdSession(
  place: Place,
  session: { readonly id: string; readonly name: string },
  prompt: string,
  owner: ProcessMark,
): Promise<HeldSession> {
  const claims = new Claims(place, prompt, owner)
  const key = `session:${session.id}`
  if (!claims.take(key)) {
    const pid = claims.holderOf(key)?.runner.pid
    claims.releaseAll()
    throw new StintError(
      'SESSION_BUSY',
      `${session.name} is answering another prompt${pid === undefined ? '' : `, in process ${pid}`}`,
      'wait until it is over, or interrupt it; stint prompt --new TEXT begins another session',
    )
  }
  for (const dead of claims.takeFromDead(key))
    await endStrays({ ...owner, mark: `${PROMPT_VARIABLE}=${dead}` })
  return { release: () => claims.releaseAll() }
}
