// Installing Stint into Claude Code, and taking it out.
import { removeTree } from '../../../journal/files.ts'
import { readOrUndefined } from '../../../journal/look.ts'
import { planInstall } from './install.ts'
import { type HookProgram, launcherPath } from './launcher.ts'
import type { McpWish } from './mcp-file.ts'
import { type Scope, type Surroundings, machineFolder } from './places.ts'
import { type Plan, carryOut, refuseImpossible } from './plan.ts'
import { planPlugin, planPluginRemoval } from './plugin.ts'
import { findHookProgram, findVersion } from './program.ts'
import { planRemove } from './remove.ts'
import { compiledFolder, warmUpHooks } from './warm-up.ts'

export interface SetupRequest {
  /** Into which settings, or into which folder as a plugin. */
  readonly into: Scope | { readonly plugin: string }
  readonly remove: boolean
  readonly dryRun: boolean
  readonly notify: boolean
  readonly instructions: boolean
  readonly statusLine: boolean
  readonly tokenEfficientTools: boolean
  readonly mcp: McpWish
}

/** Does it, and answers what was done; with `dryRun` what would be. */
export async function setUpClaude(
  request: SetupRequest,
  around: Surroundings,
  program: HookProgram | undefined = findHookProgram(),
): Promise<Plan> {
  const plan = await planFor(request, around, program)
  refuseImpossible(plan)
  if (request.dryRun) return plan
  carryOut(plan)
  const home = machineFolder(around)
  const isInstalled = readOrUndefined(launcherPath(home)) !== undefined
  if (!isInstalled) removeTree(compiledFolder(home))
  // Once is enough, unless this is another Stint than last time.
  else if (program !== undefined && plan.changes.length > 0 && !request.remove)
    warmUpHooks(program, home)
  return plan
}

async function planFor(
  request: SetupRequest,
  around: Surroundings,
  program: HookProgram | undefined,
): Promise<Plan> {
  const { into, remove } = request
  if (typeof into === 'string') {
    return remove
      ? planRemove(into, around)
      : planInstall({ ...request, scope: into }, around, program)
  }
  const options = { version: findVersion(), notify: request.notify, mcp: request.mcp !== 'no' }
  return remove
    ? planPluginRemoval(into.plugin, around, options)
    : planPlugin(into.plugin, around, program, options)
}
