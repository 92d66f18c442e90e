// `codex mcp add` would write into the user's own file, for every project; Codex reads this one in
// trusted projects.
import { join } from 'node:path'
import { StintError } from '../../journal/errors.ts'
import { stateHome } from '../../journal/state-home.ts'
import type { HarnessSetup, SetupRequest, ProjectEnvironment } from '../contract/setup.ts'
import { findHookProgram } from '../process/find-program.ts'
import { MCP_COMMAND, MCP_ENVIRONMENT, MCP_SERVER } from '../setup/launcher.ts'
import {
  applyPlan,
  buildInstallPlan,
  planLauncher,
  buildRemovalPlan,
  readManifest,
  readText,
  assertWritable,
} from '../setup/plan.ts'
import {
  NO_CHANGES,
  blockEdit,
  excludeEdit,
  excludePath,
  excludePattern,
  planEdit,
  planEditRemoval,
} from '../setup/plan-files.ts'

export const codexSetup: HarnessSetup = {
  supportedFlags: new Set(['shared', 'remove', 'dryRun', 'mcp', 'yes', 'json']),
  setUp: (request, project) => setUpCodex(request, project),
  nextStep: () =>
    'Codex reads it in projects that you trust. Start codex here, and then look: codex mcp list',
}

function setUpCodex(request: SetupRequest, project: ProjectEnvironment) {
  const plan = request.remove ? planUninstall(project) : planInstall(request, project)
  assertWritable(plan, request, project.root)
  if (!request.dryRun) applyPlan(plan)
  return plan
}

const EXCLUDED = ' codex'

/** TOML shares JSON's strings and arrays. */
const edit = blockEdit(
  { begin: '# stint setup: begin', end: '# stint setup: end', hasBlankLineBefore: true },
  [
    `[mcp_servers.${MCP_SERVER}]`,
    `command = ${JSON.stringify(MCP_COMMAND.command)}`,
    `args = ${JSON.stringify(MCP_COMMAND.args)}`,
    `env_vars = ${JSON.stringify(MCP_ENVIRONMENT)}`,
  ],
)

function configPath(root: string) {
  return join(root, '.codex', 'config.toml')
}

function planInstall({ into }: SetupRequest, project: ProjectEnvironment) {
  const { root, gitCommonDir, env } = project
  const path = configPath(root)
  const home = stateHome(env)
  const known = readManifest(home, path)
  refuseOther(path)
  const config = planEdit(path, edit, known.files[path])
  const isHidden = into === 'local' && config.changes.some(({ before }) => before === undefined)
  // Files for one person are excluded; those for a team must not be.
  const exclude =
    gitCommonDir === undefined || (!isHidden && into !== 'shared')
      ? NO_CHANGES
      : planEdit(
          excludePath(gitCommonDir),
          excludeEdit(isHidden ? [excludePattern(root, path)] : [], EXCLUDED),
          undefined,
        )
  const launcher = planLauncher(home, findHookProgram())
  return buildInstallPlan(home, known, [launcher, exclude, config], launcher.notes)
}

function planUninstall({ root, gitCommonDir, env }: ProjectEnvironment) {
  const path = configPath(root)
  const known = readManifest(stateHome(env), path)
  const excluded = gitCommonDir === undefined ? [] : [excludePath(gitCommonDir)]
  return buildRemovalPlan(stateHome(env), known, [
    ...excluded.flatMap((file) =>
      planEditRemoval(file, excludeEdit([], EXCLUDED), known.files[file]),
    ),
    ...planEditRemoval(path, edit, known.files[path]),
  ])
}

/** A second table of the same name would make the whole file unreadable for Codex. */
function refuseOther(path: string) {
  const others = edit.remove(readText(path) ?? '')
  if (!/^\s*(?:\[\s*)?mcp_servers\s*(?:\.\s*["']?stint["']?\s*[\].=]|=)/m.test(others)) return
  throw new StintError(
    'NOT_OURS',
    `${path} has a server named ${MCP_SERVER}, or a list of servers that nothing can be added to; nothing was changed`,
    'take it out, or write it as [mcp_servers.NAME], and run this again',
  )
}
