// Most of what an agent does tells a hook nothing new: another edit of a file that is recorded, a command that is neither
// a test nor git's. That is seen here from the notes alone.
import { isAbsolute, join, relative } from 'node:path'
import { noteCost } from '../project/conversation/costs.ts'
import {
  type Settled,
  type Tracking,
  readTracking,
  trackingFolder,
  writeTracking,
} from '../project/conversation/tracking.ts'
import { type Repository, findRepository } from '../git/repository.ts'
import { isConversationId } from '../history/conversation-id.ts'
import { mayBeTests } from '../command/may-be-tests.ts'
import { readOrUndefined, statOrUndefined } from '../journal/look.ts'
import { LARGE_OUTPUT } from './large-output.ts'
import { mayBeFuller } from './quick/fullness.ts'
import { UNLOGGED_EDITS } from './unlogged-edits.ts'

/** Whether the use of a tool is nothing new. If so, it is counted, and that is all. */
export function isNothingNew(input: string, env: NodeJS.ProcessEnv): boolean {
  try {
    return isSettledUse(input, env)
  } catch {
    // Whatever is wrong, with the event or the notes, is for the program to find.
    return false
  }
}

function isSettledUse(input: string, env: NodeJS.ProcessEnv): boolean {
  const event = JSON.parse(input) as Record<string, unknown>
  const { session_id: conversation, tool_name: tool, agent_id: delegate, cwd } = event
  if (!isConversationId(conversation)) return false
  if (
    env.STINT_HOOKS === 'off' ||
    (env.STINT_SESSION ?? '') !== '' ||
    delegate !== undefined ||
    typeof cwd !== 'string' ||
    !isAbsolute(cwd)
  )
    return false
  const started = env.CLAUDE_PROJECT_DIR ?? cwd
  const repository = isAbsolute(started) ? findRepository(started) : undefined
  if (repository === undefined) return false
  const sessions = join(repository.mainRoot, '.sessions')
  const folder = trackingFolder(sessions, repository.commonDir)
  const tracking = readTracking(folder, conversation)
  const settled = tracking?.settled
  if (
    tracking?.session === undefined ||
    settled?.session !== tracking.session ||
    isOpenQuestion(tracking)
  )
    return false
  if (!isStillSettled(settled, repository, sessions) || mayBeFuller(folder, tracking)) return false
  const used = (typeof event.tool_input === 'object' ? event.tool_input : undefined) as
    | Record<string, unknown>
    | undefined
  if (tool === 'Bash') {
    if (typeof used?.command !== 'string' || MAY_MATTER.test(used.command)) return false
    if (!tracking.nudged.includes('output') && lengthOf(event.tool_response) >= LARGE_OUTPUT)
      return false
    // How tests went is read from the transcript when it is looked at next.
    if (mayBeTests(used.command) && !isLookedAt(tracking)) return false
    noteCost(folder, conversation, EVENT, 0)
    return true
  }
  if (tool !== 'Edit' && tool !== 'Write' && tool !== 'MultiEdit') return false
  const path = used?.file_path
  if (typeof path !== 'string' || !settled.files.includes(relative(repository.worktree, path)))
    return false
  const edits = tracking.edits + 1
  // One at which a reminder is due is not for here.
  if (edits >= UNLOGGED_EDITS && !tracking.nudged.includes('edits')) return false
  writeTracking(folder, { ...tracking, edits })
  noteCost(folder, conversation, EVENT, 0)
  return true
}

const EVENT = 'PostToolUse'

const MAY_MATTER = /git|stint|hub|merge|rebase|commit/

/** Whether git and the settings are as they were when everything was recorded. */
export function isStillSettled(
  settled: Settled,
  repository: Repository,
  sessions: string,
): boolean {
  return settled.head === headOf(repository) && settled.config === configOf(sessions)
}

function lengthOf(response: unknown): number {
  const { stdout } = (typeof response === 'object' && response !== null ? response : {}) as {
    stdout?: unknown
  }
  return typeof stdout === 'string' ? stdout.length : 0
}

function isLookedAt({ transcript, looked }: Tracking): boolean {
  return (
    transcript !== undefined && looked !== undefined && statOrUndefined(transcript) !== undefined
  )
}

function isOpenQuestion(tracking: Tracking): boolean {
  const { given, awaitsBoundary, isOwed, files, requests } = tracking
  return (
    given?.isProved === false ||
    awaitsBoundary === true ||
    isOwed === true ||
    files !== undefined ||
    requests.length > 0
  )
}

export function headOf({ gitDir, commonDir }: Repository): string {
  const head = readOrUndefined(join(gitDir, 'HEAD'))?.toString('utf8').trim() ?? ''
  const ref = /^ref: (\S+)$/.exec(head)?.[1]
  // A commit by somebody else moves the branch.
  return ref === undefined
    ? head
    : `${head} ${readOrUndefined(join(commonDir, ref))?.toString('utf8').trim() ?? ''}`
}

export function configOf(sessions: string): string {
  const stat = statOrUndefined(join(sessions, 'config.yaml'))
  return stat === undefined ? '' : `${stat.ino}:${stat.size}:${stat.mtimeMs}`
}
