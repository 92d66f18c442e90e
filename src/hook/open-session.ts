import { rememberProject } from '../index/projects.ts'
import { mintId } from '../journal/ids.ts'
import { LiveSession } from '../project/store/live-session.ts'
import { announceSession, claimOpening, readOpenSessions } from '../project/store/open-sessions.ts'
import { readPending } from '../project/store/outbox.ts'
import { prepareSessionsFolder } from '../project/store/project-paths.ts'
import { draftEntry } from '../session/entries.ts'
import { askedIn } from '../session/kinds/statements.ts'
import { shorten } from '../text/clean.ts'
import { nameFrom } from '../text/redact.ts'
import { defined } from '../text/defined.ts'
import { redactInTime } from '../project/store/redact-and-clip.ts'
import { openSessionById, findSessionsHere } from './find-session.ts'
import { joinSessionIfNew } from './join-session.ts'
import { type SessionContext, writeQuickViews } from './session-context.ts'

const MAX_GOAL_LENGTH = 240

/** Opens a session for a conversation that is no longer trivial, or asks, as the user chose. */
export function openSession(context: SessionContext): void {
  const { ended, nudged } = context.conversationState
  // What follows right after closing a session is not new work, unless there is a new request.
  if (ended !== undefined && !ended.askedSince) return
  if (context.sessionsHere.several.length > 0) return
  // STINT_SESSION names a session that is not open; opening another would be wrong.
  if ((context.env.STINT_SESSION ?? '') !== '') return
  // If a concurrent hook opens one, the captures wait for the next hook.
  if (context.config.auto === 'on') createSession(context)
  const isSubagent = context.event.kind === 'toolUsed' && context.event.agent !== undefined
  if (context.config.auto !== 'ask' || isSubagent || nudged.includes('ask')) return
  context.update({ nudged: [...nudged, 'ask'] })
  context.respond({
    person: '📋 No session is open here; /session-init starts one',
    model:
      'Stint: no session covers this work. The user has chosen to be asked before one is opened: `stint init --name NAME --goal TEXT` opens it.',
  })
}

/** Does not wait for a concurrent hook that opens one. */
function createSession(context: SessionContext): void {
  const { paths, config } = context
  prepareSessionsFolder(paths, config)
  const claim = claimOpening(paths, context.head.branch)
  if (claim === undefined) return
  try {
    // The previous holder of the claim may have opened one.
    const { active } = findSessionsHere(paths, config, context.head)
    if (active !== undefined) return context.bindTo(active)
    const { branch } = context.head
    const first = firstRequest(context)
    const goal = goalFrom(first)
    const name = freeName(
      context,
      sessionNameFrom(branch, redactInTime(goal === '' ? first : goal, config)),
    )
    const { repository } = paths
    const session = new LiveSession(mintId(undefined), paths, config)
    const worktree = repository?.isLinked === true ? { worktree: repository.worktree } : {}
    // Announced first: otherwise a kill in between would open a second session.
    const open = { id: session.id, name, status: 'active' as const, updatedAt: context.now }
    announceSession(paths, { ...open, ...defined({ branch }), ...worktree })
    const opened = { name, goal, ...context.git, ...worktree }
    session.create([draftEntry('session.opened', opened, { by: 'hook' })])
    writeQuickViews({ session, ...session.openTo() })
    session.close()
    rememberProject(paths.root)
    context.bindTo(openSessionById(paths, config, session.id)!)
    joinSessionIfNew(context, 'opened')
    context.respond({
      person: `📋 Session opened: ${name}${branch === undefined ? '' : ` on ${branch}`}; /session-view shows it`,
    })
  } finally {
    claim.release()
  }
}

/** The first request gives the purpose of a conversation. */
function firstRequest({ paths, event, drafts }: SessionContext): string {
  const captured = [...readPending(paths, event.conversation), ...drafts]
  const request = captured.find(({ kind }) => kind === 'request.made')
  return request === undefined ? '' : (request.data as { readonly text: string }).text
}

/** What the user asked for: what they stated beside it may be corrected later. */
function goalFrom(request: string): string {
  return shorten(askedIn(request), MAX_GOAL_LENGTH)
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
