import { budgetLine } from '../context/budget/banner.ts'
import { knownBudget } from '../project/conversation/known-budget.ts'
import {
  type Window,
  noteTrouble,
  readTracking,
  writeWindow,
} from '../project/conversation/tracking.ts'
import { readHead } from '../git/head.ts'
import type { StatusInput } from '../harness/contract/hooks.ts'
import { DEFAULT_HARNESS, hooksOf } from '../harness/registry.ts'
import { StintError } from '../journal/errors.ts'
import { type Config, DEFAULTS } from '../project/config/config.ts'
import { trackingFolderOf } from '../project/store/conversation-binding.ts'
import { type Place, findPlace } from '../project/store/place.ts'
import { type SessionState, currentStep, openBlockers, stepCounts } from '../session/state.ts'
import { oneLine, shorten } from '../text/clean.ts'
import { openById, sessionsHere } from './find-session.ts'
import { isInvalidConfig, readConfigOnce } from '../project/config/cached-config.ts'
import { isOurs } from './session-context.ts'

/** git is asked only where its files do not say it; the line is drawn after every response. */
const GIT_MS = 400

/** Also stores how full the context is, for hooks. */
export async function statusLine(
  input: string,
  env: NodeJS.ProcessEnv,
  now: string,
): Promise<string> {
  const told = hooksOf()!.readStatus(input)
  const window: Window = { at: now, ...told.figures }
  let place: Place | undefined
  try {
    place = findPlace(told.cwd ?? process.cwd())
    if (isOurs(place)) return await lineIn(place, told, window, env)
  } catch (error) {
    // A broken configuration, journal or disk: what the harness told can be shown all the same. Hooks note the
    // expected ones, and not after every answer.
    if (place !== undefined && !(error instanceof StintError) && !isInvalidConfig(error))
      noteFailure(place, told, now, error)
  }
  return [NO_SESSION, ...contextLine(window, place?.root ?? '', DEFAULTS, env, undefined)].join(
    ' · ',
  )
}

const NO_SESSION = '📋 no session'

async function lineIn(
  place: Place,
  told: StatusInput,
  window: Window,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const { conversation } = told
  const notes = trackingFolderOf(place)
  const tracking = conversation === undefined ? undefined : readTracking(notes, conversation)
  // Only for one that hooks follow, so that nothing is littered where nobody reads it.
  if (tracking !== undefined) writeWindow(notes, tracking.conversation, window)
  const config = await readConfigOnce(place.sessions, notes)
  const state = sessionHere(place, config, tracking?.session)
  const seen =
    state?.lastAutomatic?.conversation === conversation ? state?.lastAutomatic : undefined
  const context = contextLine(window, place.repository?.worktree ?? place.root, config, env, seen)
  return [...(state === undefined ? [NO_SESSION] : sessionLine(state)), ...context].join(' · ')
}

function sessionHere(
  place: Place,
  config: Config,
  bound: string | undefined,
): SessionState | undefined {
  const head = place.repository === undefined ? {} : readHead(place.repository, GIT_MS)
  const found =
    (bound === undefined ? undefined : openById(place, config, bound)) ??
    sessionsHere(place, config, head).active
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
  window: Window,
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
      knownBudget({
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
  place: Place,
  { conversation }: StatusInput,
  at: string,
  error: unknown,
): void {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  noteTrouble(trackingFolderOf(place), {
    at,
    event: 'status line',
    conversation: conversation ?? '',
    message: message.slice(0, 2000),
  })
}
