import { rememberProject } from '../index/projects.ts'
import { mintId } from '../journal/ids.ts'
import { LiveSession } from '../project/store/live-session.ts'
import { announceSession, readOpenSessions } from '../project/store/open-sessions.ts'
import { claimOpening } from '../project/store/opening-claim.ts'
import { prepareFolder } from '../project/store/prepare-folder.ts'
import { draft } from '../session/entries.ts'
import { oneLine, shorten, slug } from '../text/clean.ts'
import { secretless } from './clip.ts'
import { openById, sessionsHere } from './find-session.ts'
import { joinAgain } from './join.ts'
import { writeQuickViews } from './quick-views.ts'
import type { Scene } from './scene.ts'

const LONGEST_GOAL = 240

/** Opens a session for this branch, because work began that none covers. Another hook that is at it is not waited for. */
export function openSession(scene: Scene): 'opened' | 'busy' {
  const { place, config } = scene
  prepareFolder(place, config)
  const claim = claimOpening(place, scene.head.branch)
  if (claim === undefined) return 'busy'
  try {
    // Whoever had the claim before us may have opened one since we looked.
    const { active } = sessionsHere(place, config, scene.head)
    if (active !== undefined) {
      scene.workOn(active)
      return 'opened'
    }
    const { branch } = scene.head
    // What came before it were questions, or other things.
    const last = scene.tracking.requests.at(-1)?.text ?? ''
    const name = freeName(scene, nameFrom(branch, secretless(last, config)))
    const { repository } = place
    const session = new LiveSession(mintId(undefined), place, config)
    const git = repository === undefined ? {} : { git: scene.head }
    const worktree = repository?.isLinked === true ? { worktree: repository.worktree } : {}
    // First: a session that nobody finds, because its maker was killed, would be opened once more.
    const bound = branch === undefined ? {} : { branch }
    announceSession(place, {
      id: session.id,
      name,
      status: 'active',
      ...bound,
      ...worktree,
      updatedAt: scene.now,
    })
    const goal = shorten(oneLine(last), LONGEST_GOAL)
    session.create([draft('session.opened', { name, goal, ...git, ...worktree }, { by: 'hook' })])
    writeQuickViews(session)
    session.close()
    rememberProject(place.root)
    scene.workOn(openById(place, config, session.id)!)
    joinAgain(scene, 'first edit')
    scene.say({
      person: `📋 Session opened: ${name} (first edit${branch === undefined ? '' : ` on ${branch}`}); /session-view shows it`,
    })
    return 'opened'
  } finally {
    claim.release()
  }
}

const TRUNKS = new Set(['main', 'master', 'trunk', 'develop', 'dev', 'default'])

/** A branch made for the work says best what it is; a trunk says nothing, and the request does. */
export function nameFrom(branch: string | undefined, request: string): string {
  if (branch !== undefined && !TRUNKS.has(branch)) return slug(branch)
  return slug(request)
}

function freeName(scene: Scene, name: string): string {
  const taken = new Set(readOpenSessions(scene.place).map((open) => open.name))
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? name : `${name}-${number}`
    if (!taken.has(candidate)) return candidate
  }
}
