import { rememberProject } from '../index/projects.ts'
import { mintId } from '../journal/ids.ts'
import { LiveSession } from '../project/store/live-session.ts'
import { announceSession, claimOpening, readOpenSessions } from '../project/store/open-sessions.ts'
import { prepareSessionsFolder } from '../project/store/project-paths.ts'
import { draftEntry } from '../session/entries.ts'
import { oneLine, shorten, slug } from '../text/clean.ts'
import { defined } from '../text/defined.ts'
import { redactInTime } from './clip.ts'
import { openSessionById, findSessionsHere } from './find-session.ts'
import { joinSession } from './join-session.ts'
import { type SessionContext, writeQuickViews } from './session-context.ts'

const LONGEST_GOAL = 240

/** Does not wait for another hook that opens one. */
export function openSession(context: SessionContext): 'opened' | 'busy' {
  const { place, config } = context
  prepareSessionsFolder(place, config)
  const claim = claimOpening(place, context.head.branch)
  if (claim === undefined) return 'busy'
  try {
    // The hook that had the claim before may have opened one meanwhile.
    const { active } = findSessionsHere(place, config, context.head)
    if (active !== undefined) {
      context.bindTo(active)
      return 'opened'
    }
    const { branch } = context.head
    // Earlier requests were questions, or other things.
    const last = context.tracking.requests.at(-1)?.text ?? ''
    const name = freeName(context, sessionNameFrom(branch, redactInTime(last, config)))
    const { repository } = place
    const session = new LiveSession(mintId(undefined), place, config)
    const worktree = repository?.isLinked === true ? { worktree: repository.worktree } : {}
    // First: a session that is not announced, because its maker was killed, would be opened once more.
    const open = { id: session.id, name, status: 'active' as const, updatedAt: context.now }
    announceSession(place, { ...open, ...defined({ branch }), ...worktree })
    const goal = shorten(oneLine(last), LONGEST_GOAL)
    const opened = { name, goal, ...context.git, ...worktree }
    session.create([draftEntry('session.opened', opened, { by: 'hook' })])
    writeQuickViews({ session, ...session.openTo() })
    session.close()
    rememberProject(place.root)
    context.bindTo(openSessionById(place, config, session.id)!)
    joinSession(context, 'first edit')
    context.respond({
      person: `📋 Session opened: ${name} (first edit${branch === undefined ? '' : ` on ${branch}`}); /session-view shows it`,
    })
    return 'opened'
  } finally {
    claim.release()
  }
}

const TRUNKS = new Set(['main', 'master', 'trunk', 'develop', 'dev', 'default'])

/** A branch made for the work names it best; a trunk says nothing. */
export function sessionNameFrom(branch: string | undefined, request: string): string {
  if (branch !== undefined && !TRUNKS.has(branch)) return slug(branch)
  return slug(request)
}

function freeName(context: SessionContext, name: string): string {
  const taken = new Set(readOpenSessions(context.place).map((open) => open.name))
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? name : `${name}-${number}`
    if (!taken.has(candidate)) return candidate
  }
}
