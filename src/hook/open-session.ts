import { rememberProject } from '../index/projects.ts'
import { mintId } from '../journal/ids.ts'
import { LiveSession } from '../project/store/live-session.ts'
import { announceSession, claimOpening, readOpenSessions } from '../project/store/open-sessions.ts'
import { prepareSessionsFolder } from '../project/store/project-paths.ts'
import { draftEntry } from '../session/entries.ts'
import { oneLine, shorten } from '../text/clean.ts'
import { nameFrom } from '../text/redact.ts'
import { defined } from '../text/defined.ts'
import { redactInTime } from './redact-and-clip.ts'
import { openSessionById, findSessionsHere } from './find-session.ts'
import { joinSession } from './join-session.ts'
import { type SessionContext, writeQuickViews } from './session-context.ts'

const MAX_GOAL_LENGTH = 240

/** Does not wait for a concurrent hook that opens one. */
export function openSession(context: SessionContext): 'opened' | 'busy' {
  const { paths, config } = context
  prepareSessionsFolder(paths, config)
  const claim = claimOpening(paths, context.head.branch)
  if (claim === undefined) return 'busy'
  try {
    // The previous holder of the claim may have opened one.
    const { active } = findSessionsHere(paths, config, context.head)
    if (active !== undefined) {
      context.bindTo(active)
      return 'opened'
    }
    const { branch } = context.head
    // Earlier requests may be about something else.
    const last = context.conversationState.requests.at(-1)?.text ?? ''
    const name = freeName(context, sessionNameFrom(branch, redactInTime(last, config)))
    const { repository } = paths
    const session = new LiveSession(mintId(undefined), paths, config)
    const worktree = repository?.isLinked === true ? { worktree: repository.worktree } : {}
    // Announced first: otherwise a kill in between would open a second session.
    const open = { id: session.id, name, status: 'active' as const, updatedAt: context.now }
    announceSession(paths, { ...open, ...defined({ branch }), ...worktree })
    const goal = shorten(oneLine(last), MAX_GOAL_LENGTH)
    const opened = { name, goal, ...context.git, ...worktree }
    session.create([draftEntry('session.opened', opened, { by: 'hook' })])
    writeQuickViews({ session, ...session.openTo() })
    session.close()
    rememberProject(paths.root)
    context.bindTo(openSessionById(paths, config, session.id)!)
    joinSession(context, 'first edit')
    context.respond({
      person: `📋 Session opened: ${name} (first edit${branch === undefined ? '' : ` on ${branch}`}); /session-view shows it`,
    })
    return 'opened'
  } finally {
    claim.release()
  }
}

const MAIN_BRANCHES = new Set(['main', 'master', 'trunk', 'develop', 'dev', 'default'])

/** A feature branch names the work best; a main branch says nothing. */
export function sessionNameFrom(branch: string | undefined, request: string): string {
  if (branch !== undefined && !MAIN_BRANCHES.has(branch)) return nameFrom(branch)
  return nameFrom(request)
}

function freeName(context: SessionContext, name: string): string {
  const taken = new Set(readOpenSessions(context.paths).map((open) => open.name))
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? name : `${name}-${number}`
    if (!taken.has(candidate)) return candidate
  }
}
