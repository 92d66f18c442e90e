// `stint setup`: the harness's own setup, and the folder that hooks need in a project without git.
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { HarnessSetup, SetupReport, SetupRequest } from '../harness/contract/setup.ts'
import type { SetupPlan } from '../harness/setup/plan.ts'
import { removeEmptyFolder, removeFile } from '../journal/write-files.ts'
import { listFolder, readOrUndefined } from '../journal/read-files.ts'
import { DEFAULT_CONFIG } from './config/config.ts'
import { conversationStateFolder } from './store/conversation-binding.ts'
import { refuseInRun } from './store/run-environment.ts'
import {
  type ProjectPaths,
  findProjectPaths,
  prepareSessionsFolder,
} from './store/project-paths.ts'

interface SetupLocation {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

export async function setUpHarness(
  setUp: HarnessSetup,
  request: SetupRequest,
  location: SetupLocation,
) {
  if (!request.dryRun) refuseInRun(location, 'setting up an agent program')
  const { paths, cwd, context } = setupContext(location)
  const done = await setUp.setUp(request, context, cwd)
  const isStillRegistered = setUp
    .registeredScopes?.(context)
    .some((scope) => scope !== request.into && scope !== 'user')
  // Only hooks need a folder.
  const folder =
    isStillRegistered === undefined ? [] : setUpFolder(request, done, paths, isStillRegistered)
  return { root: context.root, plan: { ...done, changes: [...folder, ...done.changes] } }
}

export async function checkHarnessSetup(
  setUp: HarnessSetup,
  location: SetupLocation,
): Promise<{ root: string; report: SetupReport }> {
  const { paths, cwd, context } = setupContext(location)
  const report = await setUp.check!(context, {
    cwd,
    conversations: conversationStateFolder(paths),
    // Hooks do nothing where there is neither git nor a folder for sessions.
    isProject: paths.repository !== undefined || existsSync(paths.sessions),
  })
  return { root: context.root, report }
}

function setupContext({ cwd, env }: SetupLocation) {
  const paths = findProjectPaths(cwd)
  // Claude Code reads the settings of the worktree that it is started in.
  const root = paths.repository?.worktree ?? paths.root
  const context = { root, gitCommonDir: paths.repository?.commonDir, env }
  return { paths, cwd: realpathSync(cwd), context }
}

/** All that a new sessions folder holds. */
const IGNORE_ALL = '*\n'

function setUpFolder(
  { into, remove, dryRun }: SetupRequest,
  done: SetupPlan,
  paths: ProjectPaths,
  isStillRegistered: boolean,
) {
  if (paths.repository !== undefined || (into !== 'local' && into !== 'shared')) return []
  const path = join(paths.sessions, '.gitignore')
  const exists = existsSync(paths.sessions)
  if (!remove) {
    if (exists) return []
    if (!dryRun) prepareSessionsFolder(paths, DEFAULT_CONFIG)
    return [{ path, before: undefined, after: IGNORE_ALL }]
  }
  const wasSetUp = done.changes.length > 0 || done.record !== undefined
  const isUnchanged = () =>
    listFolder(paths.sessions).join() === '.gitignore' &&
    readOrUndefined(path)?.toString() === IGNORE_ALL
  if (!wasSetUp || isStillRegistered || !exists || !isUnchanged()) return []
  if (!dryRun) {
    removeFile(path)
    removeEmptyFolder(paths.sessions)
  }
  return [{ path, before: IGNORE_ALL, after: undefined }]
}
