import { isAbsolute } from 'node:path'
import type { HookEvent } from '../harness/claude/events.ts'
import { statOrUndefined } from '../journal/look.ts'
import { type Place, findPlace } from '../project/store/place.ts'

/**
 * The project that a conversation was started in. The folder that an event names follows the agent's `cd`, and a
 * repository inside the project is not the project.
 */
export function placeOf(event: HookEvent, env: NodeJS.ProcessEnv): Place {
  const { CLAUDE_PROJECT_DIR: started } = env
  if (
    started !== undefined &&
    isAbsolute(started) &&
    statOrUndefined(started)?.isDirectory() === true
  )
    return findPlace(started)
  return findPlace(event.cwd)
}
