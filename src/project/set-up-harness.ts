// `stint setup`: what a harness's own setup does, and the folder that a project without git needs for its hooks.
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { HarnessSetup, SetupReport, SetupRequest } from '../harness/contract/setup.ts'
import type { SetupPlan } from '../harness/setup/plan.ts'
import { removeEmptyFolder, removeFile } from '../journal/files.ts'
import { readOrUndefined } from '../journal/read-files.ts'
import { DEFAULT_CONFIG } from './config/config.ts'
import { conversationStateFolder } from './store/conversation-binding.ts'
import { refuseInRun } from './store/in-run.ts'
import { type ProjectPaths, findProjectPaths } from './store/project-paths.ts'
import { prepareSessionsFolder } from './store/project-paths.ts'

interface Where {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** Does it; with `dryRun` only says what would be done. */
export async function setUpHarness(setUp: HarnessSetup, request: SetupRequest, where: Where) {
  if (!request.dryRun) refuseInRun(where, 'setting up an agent program')
  const { place, cwd, around } = surroundingsOf(where)
  const done = await setUp.setUp(request, around, cwd)
  const isLeft = setUp
    .registeredScopes?.(around)
    .some((scope) => scope !== request.into && scope !== 'user')
  // Only hooks need a folder.
  const folder = isLeft === undefined ? [] : setUpFolder(request, done, place, isLeft)
  return { root: around.root, plan: { ...done, changes: [...folder, ...done.changes] } }
}

/** Inspects everything, changes nothing. */
export async function checkHarnessSetup(
  setUp: HarnessSetup,
  where: Where,
): Promise<{ root: string; report: SetupReport }> {
  const { place, cwd, around } = surroundingsOf(where)
  const report = await setUp.check!(around, {
    cwd,
    conversations: conversationStateFolder(place),
    // Hooks do nothing where there is neither git nor a folder for sessions.
    isProject: place.repository !== undefined || existsSync(place.sessions),
  })
  return { root: around.root, report }
}

function surroundingsOf({ cwd, env }: Where) {
  const place = findProjectPaths(cwd)
  // Claude Code reads the settings of the worktree that it is started in.
  const root = place.repository?.worktree ?? place.root
  const around = { root, gitCommonDir: place.repository?.commonDir, env }
  return { place, cwd: realpathSync(cwd), around }
}

/** What the folder of sessions holds when it was just made. */
const IGNORE = '*\n'

function setUpFolder(
  { into, remove, dryRun }: SetupRequest,
  done: SetupPlan,
  place: ProjectPaths,
  isLeft: boolean,
) {
  if (place.repository !== undefined || (into !== 'local' && into !== 'shared')) return []
  const path = join(place.sessions, '.gitignore')
  const isThere = existsSync(place.sessions)
  if (!remove) {
    if (isThere) return []
    if (!dryRun) prepareSessionsFolder(place, DEFAULT_CONFIG)
    return [{ path, before: undefined, after: IGNORE }]
  }
  const wasSetUp = done.changes.length > 0 || done.record !== undefined
  const isAsMade = () =>
    readdirSync(place.sessions).join() === '.gitignore' &&
    readOrUndefined(path)?.toString() === IGNORE
  if (!wasSetUp || isLeft || !isThere || !isAsMade()) return []
  if (!dryRun) {
    removeFile(path)
    removeEmptyFolder(place.sessions)
  }
  return [{ path, before: IGNORE, after: undefined }]
}
