import { budgetLine } from '../context/budget/banner.ts'
import { computeBudget } from '../project/conversation/compute-budget.ts'
import {
  type ContextWindow,
  readConversationState,
  writeContextWindow,
} from '../project/conversation/conversation-state.ts'
import { readHead } from '../git/head.ts'
import type { StatusInput } from '../harness/contract/hooks.ts'
import { DEFAULT_HARNESS, harnessHooks } from '../harness/registry.ts'
import { StintError } from '../journal/errors.ts'
import { type Config, DEFAULT_CONFIG } from '../project/config/config.ts'
import { conversationStateFolder } from '../project/store/conversation-binding.ts'
import {
  type ProjectPaths,
  findProjectPaths,
  workingFolder,
} from '../project/store/project-paths.ts'
import { type SessionState, currentStep, openBlockers, stepCounts } from '../session/state.ts'
import { oneLine, shorten } from '../text/clean.ts'
import { printable } from '../text/printable.ts'
import { openSessionById, findSessionsHere } from './find-session.ts'
import { isInvalidConfig, readConfigWithCache } from '../project/config/cached-config.ts'
import { GIT_TIMEOUT_MS, recordHookError } from './hook-context.ts'
import { isProjectFolder } from './session-context.ts'

/** Also stores the context size for hooks. */
export async function statusLine(
  input: string,
  env: NodeJS.ProcessEnv,
  now: string,
): Promise<string> {
  const status = harnessHooks()!.readStatus(input)
  const window: ContextWindow = { at: now, ...status.figures }
  let paths: ProjectPaths | undefined
  try {
    paths = findProjectPaths(status.cwd ?? process.cwd())
    if (isProjectFolder(paths)) return await projectLine(paths, status, window, env)
  } catch (error) {
    // The input of the harness can still be shown. Expected errors are recorded by hooks, not after
    // every response.
    if (paths !== undefined && !(error instanceof StintError) && !isInvalidConfig(error))
      recordHookError(
        conversationStateFolder(paths),
        { name: 'status line', conversation: status.conversation ?? '' },
        error,
        now,
      )
  }
  return [
    NO_SESSION,
    ...contextLine(window, paths?.root ?? '', DEFAULT_CONFIG, env, undefined),
  ].join(' · ')
}

const NO_SESSION = '📋 no session'

async function projectLine(
  paths: ProjectPaths,
  status: StatusInput,
  window: ContextWindow,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const { conversation } = status
  const stateFolder = conversationStateFolder(paths)
  const conversationState =
    conversation === undefined ? undefined : readConversationState(stateFolder, conversation)
  // Only if hooks follow the conversation, because nothing else reads the file.
  if (conversationState !== undefined)
    writeContextWindow(stateFolder, conversationState.conversation, window)
  const config = await readConfigWithCache(paths, stateFolder)
  const state = sessionHere(paths, config, conversationState?.session)
  const seen =
    state?.lastAutomatic?.conversation === conversation ? state?.lastAutomatic : undefined
  const context = contextLine(window, workingFolder(paths), config, env, seen)
  return [...(state === undefined ? [NO_SESSION] : sessionLine(state)), ...context].join(' · ')
}

function sessionHere(
  paths: ProjectPaths,
  config: Config,
  bound: string | undefined,
): SessionState | undefined {
  const head = paths.repository === undefined ? {} : readHead(paths.repository, GIT_TIMEOUT_MS)
  const found =
    (bound === undefined ? undefined : openSessionById(paths, config, bound)) ??
    findSessionsHere(paths, config, head).active
  found?.session.close()
  return found?.state
}

function sessionLine(state: SessionState): readonly string[] {
  const { done, total } = stepCounts(state)
  const current = currentStep(state)?.text
  const blockers = openBlockers(state).length
  return [
    `📋 ${shorten(printable(oneLine(state.name)), 60)}${state.status === 'paused' ? ' (paused)' : ''}`,
    ...(total === 0 ? [] : [`${done}/${total}`]),
    ...(current === undefined ? [] : [shorten(printable(oneLine(current)), 40)]),
    ...(blockers === 0 ? [] : [`⛔ ${blockers}`]),
  ]
}

/** Empty until the harness has reported a size. */
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
