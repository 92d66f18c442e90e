import { budgetLine } from '../context/budget/banner.ts'
import { computeBudget } from '../project/conversation/compute-budget.ts'
import {
  type ContextWindow,
  appendHookError,
  readConversationState,
  writeContextWindow,
} from '../project/conversation/conversation-state.ts'
import { readHead } from '../git/head.ts'
import type { StatusInput } from '../harness/contract/hooks.ts'
import { DEFAULT_HARNESS, harnessHooks } from '../harness/registry.ts'
import { StintError } from '../journal/errors.ts'
import { type Config, DEFAULT_CONFIG } from '../project/config/config.ts'
import { conversationStateFolder } from '../project/store/conversation-binding.ts'
import { type ProjectPaths, findProjectPaths } from '../project/store/project-paths.ts'
import { type SessionState, currentStep, openBlockers, stepCounts } from '../session/state.ts'
import { oneLine, shorten } from '../text/clean.ts'
import { openSessionById, findSessionsHere } from './find-session.ts'
import { isInvalidConfig, readConfigWithCache } from '../project/config/cached-config.ts'
import { isProjectFolder } from './session-context.ts'

/** git is asked only where its files do not say it; the line is drawn after every response. */
const GIT_MS = 400

/** Also stores how full the context is, for hooks. */
export async function statusLine(
  input: string,
  env: NodeJS.ProcessEnv,
  now: string,
): Promise<string> {
  const told = harnessHooks()!.readStatus(input)
  const window: ContextWindow = { at: now, ...told.figures }
  let place: ProjectPaths | undefined
  try {
    place = findProjectPaths(told.cwd ?? process.cwd())
    if (isProjectFolder(place)) return await lineIn(place, told, window, env)
  } catch (error) {
    // A broken configuration, journal or disk: what the harness told can be shown all the same. Hooks note the
    // expected ones, and not after every answer.
    if (place !== undefined && !(error instanceof StintError) && !isInvalidConfig(error))
      noteFailure(place, told, now, error)
  }
  return [
    NO_SESSION,
    ...contextLine(window, place?.root ?? '', DEFAULT_CONFIG, env, undefined),
  ].join(' · ')
}

const NO_SESSION = '📋 no session'

async function lineIn(
  place: ProjectPaths,
  told: StatusInput,
  window: ContextWindow,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const { conversation } = told
  const notes = conversationStateFolder(place)
  const tracking =
    conversation === undefined ? undefined : readConversationState(notes, conversation)
  // Only for one that hooks follow, so that nothing is littered where nobody reads it.
  if (tracking !== undefined) writeContextWindow(notes, tracking.conversation, window)
  const config = await readConfigWithCache(place.sessions, notes)
  const state = sessionHere(place, config, tracking?.session)
  const seen =
    state?.lastAutomatic?.conversation === conversation ? state?.lastAutomatic : undefined
  const context = contextLine(window, place.repository?.worktree ?? place.root, config, env, seen)
  return [...(state === undefined ? [NO_SESSION] : sessionLine(state)), ...context].join(' · ')
}

function sessionHere(
  place: ProjectPaths,
  config: Config,
  bound: string | undefined,
): SessionState | undefined {
  const head = place.repository === undefined ? {} : readHead(place.repository, GIT_MS)
  const found =
    (bound === undefined ? undefined : openSessionById(place, config, bound)) ??
    findSessionsHere(place, config, head).active
  found?.session.close()
  return found?.state
}

function sessionLine(state: SessionState): readonly string[] {
  const { done, total } = stepCounts(state)
  const current = currentStep(state)?.text
  const blockers = openBlockers(state).length
  return [
    `📋 ${shorten(oneLine(state.name), 60)}${state.status === 'paused' ? ' (paused)' : ''}`,
    ...(total === 0 ? [] : [`${done}/${total}`]),
    ...(current === undefined ? [] : [shorten(oneLine(current), 40)]),
    ...(blockers === 0 ? [] : [`⛔ ${blockers}`]),
  ]
}

/** Nothing until the harness has reported it. */
function contextLine(
  window: ContextWindow,
  root: string,
  config: Config,
  env: NodeJS.ProcessEnv,
  lastAutomatic: SessionState['lastAutomatic'],
): readonly string[] {
  if (window.used === undefined) {
    return window.usedPercent === undefined
      ? []
      : [`ctx ${Math.round(window.usedPercent)}% of the window`]
  }
  const { window: configured } = config.budget
  return [
    budgetLine(
      computeBudget({
        harness: DEFAULT_HARNESS,
        window,
        configured,
        lastAutomatic,
        root,
        env,
        now: window.at,
      }),
    ),
  ]
}

function noteFailure(
  place: ProjectPaths,
  { conversation }: StatusInput,
  at: string,
  error: unknown,
): void {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  appendHookError(conversationStateFolder(place), {
    at,
    event: 'status line',
    conversation: conversation ?? '',
    message: message.slice(0, 2000),
  })
}
