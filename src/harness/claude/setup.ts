import { removeTree } from '../../journal/write-files.ts'
import { readOrUndefined } from '../../journal/read-files.ts'
import { stateHome } from '../../journal/state-home.ts'
import type { HarnessSetup, SetupRequest, ProjectEnvironment } from '../contract/setup.ts'
import { findHookProgram, stintVersion } from '../process/find-program.ts'
import { type HookProgram, launcherPath } from '../setup/launcher.ts'
import { type SetupPlan, applyPlan, assertWritable } from '../setup/plan.ts'
import { checkClaudeSetup, registeredScopes } from './setup/check.ts'
import { planInstall, planUninstall } from './setup/install.ts'
import { startFolderNote } from './setup/paths.ts'
import { planPlugin, planPluginRemoval } from './setup/plugin.ts'
import { compiledFolder, warmUpHooks } from './setup/probe.ts'

export const claudeSetup: HarnessSetup = {
  supportedFlags: new Set([
    'shared',
    'user',
    'plugin',
    'remove',
    'dryRun',
    'check',
    'notify',
    'instructions',
    'noStatusLine',
    'tokenEfficientTools',
    'mcp',
    'noMcp',
    'yes',
    'json',
  ]),
  async setUp(request, project, cwd) {
    const plan = setUpClaude(request, project)
    const { into, remove } = request
    if (typeof into !== 'string' || remove) return plan
    return { ...plan, notes: [...plan.notes, ...startFolderNote([into], project, cwd)] }
  },
  nextStep: ({ into }) =>
    typeof into === 'string'
      ? 'Start claude, type a prompt, and then ask: stint setup --check'
      : [
          `Try it:      claude --plugin-dir ${into.plugin}/stint`,
          `Install it:  claude plugin marketplace add ${into.plugin} && claude plugin install stint@stint`,
          'Its slash commands are called /stint:session-init and so on.',
        ].join('\n'),
  registeredScopes,
  check: checkClaudeSetup,
}

export function setUpClaude(
  request: SetupRequest,
  project: ProjectEnvironment,
  program: HookProgram | undefined = findHookProgram(),
): SetupPlan {
  const plan = buildPlan(request, project, program)
  assertWritable(plan, request, project.root)
  if (request.dryRun) return plan
  applyPlan(plan)
  const home = stateHome(project.env)
  const isInstalled = readOrUndefined(launcherPath(home)) !== undefined
  if (!isInstalled) removeTree(compiledFolder(home))
  // Warm up only after the setup changed.
  else if (program !== undefined && plan.changes.length > 0 && !request.remove)
    warmUpHooks(program, home)
  return plan
}

function buildPlan(
  request: SetupRequest,
  project: ProjectEnvironment,
  program: HookProgram | undefined,
) {
  const { into, remove, notify, mcp } = request
  if (typeof into === 'string')
    return remove
      ? planUninstall(into, project)
      : planInstall({ ...request, scope: into }, project, program)
  const options = { version: stintVersion(), notify, mcp: mcp !== 'no' }
  return remove
    ? planPluginRemoval(into.plugin, project, options)
    : planPlugin(into.plugin, project, program, options)
}
