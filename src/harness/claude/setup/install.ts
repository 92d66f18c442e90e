import { join } from 'node:path'
import { statOrUndefined } from '../../../journal/read-files.ts'
import { stateHome } from '../../../journal/state-home.ts'
import type { SetupScope, SetupRequest, ProjectEnvironment } from '../../contract/setup.ts'
import type { HookProgram } from '../../setup/launcher.ts'
import {
  type FileChange,
  type Manifest,
  type SetupPlan,
  buildInstallPlan,
  planLauncher,
  buildRemovalPlan,
  readManifest,
  readText,
} from '../../setup/plan.ts'
import {
  NO_CHANGES,
  blockEdit,
  excludeEdit,
  excludePath,
  excludePattern,
  excludedPatterns,
  planEdit,
  planOwnedFiles,
  planOwnedFileRemoval,
  planEditRemoval,
  withoutBom,
} from '../../setup/plan-files.ts'
import { mcpPath, planMcp, planMcpRemoval } from './mcp-file.ts'
import { SCOPES, type SetupPaths, setupPaths } from './paths.ts'
import { slashCommandFiles } from './plugin.ts'
import {
  TOKEN_EFFICIENT_TOOLS,
  isApprovedByName,
  settingsEdit,
  resolveWantedSettings,
} from './settings-edit.ts'
import { parseSettings, readClaudeSettingsOrEmpty, stintHooks } from './settings.ts'

type InstallOptions = Omit<SetupRequest, 'into' | 'remove' | 'dryRun'> & {
  readonly scope: SetupScope
}

/** Throws for what cannot be edited, before anything is written. */
export function planInstall(
  options: InstallOptions,
  project: ProjectEnvironment,
  program: HookProgram | undefined,
): SetupPlan {
  const { scope } = options
  const paths = setupPaths(scope, project)
  const home = stateHome(project.env)
  const manifest = readManifest(home, paths.settings)
  const record = manifest.files[paths.settings]

  const mcp = planMcp(project, scope, options.mcp, manifest)
  const { hasServer } = mcp
  const wanted = resolveWantedSettings(scope, project, { ...options, hasServer }, record)
  const settings = planEdit(paths.settings, settingsEdit(paths.settings, wanted), record)
  const commands = planOwnedFiles(commandPaths(paths), paths.commands, manifest.files)
  const path = instructionsPath(paths.instructions)
  const instructions = options.instructions
    ? planEdit(path, instructionsEdit, manifest.files[path])
    : NO_CHANGES
  const launcher = planLauncher(home, program)
  // Settings come last: hooks are registered once everything they need is there.
  const files = [launcher, commands, instructions, mcp.files, settings]
  const released = mcp.isReleased === true ? [mcpPath(project.root)] : []
  const changes = files.flatMap((each) => each.changes)
  const exclude = planExclude(paths, project, manifest, changes, released)
  const kept = Object.entries(manifest.files).filter(([file]) => !released.includes(file))
  return buildInstallPlan(
    home,
    { ...manifest, files: Object.fromEntries(kept) },
    [exclude, ...files],
    [
      ...wanted.notes,
      ...mcp.notes,
      ...commands.foreign.map((file) => `left alone: ${file} is not ours`),
      ...(wanted.plugin === undefined
        ? []
        : [`hooks run twice while the plugin is on: claude plugin uninstall ${wanted.plugin}`]),
      ...launcher.notes,
    ],
  )
}

function commandPaths({ commands }: SetupPaths) {
  return new Map([...slashCommandFiles()].map(([name, text]) => [join(commands, name), text]))
}

/** Files for one person are excluded; those for a team must not be. */
function planExclude(
  paths: SetupPaths,
  { root, gitCommonDir }: ProjectEnvironment,
  manifest: Manifest,
  changes: readonly FileChange[],
  released: readonly string[],
) {
  if (gitCommonDir === undefined || paths.scope === 'user') return NO_CHANGES
  const path = excludePath(gitCommonDir)
  const excluded = excludedPatterns(readText(path) ?? '')
  const patternsOf = (paths: readonly string[]) => paths.map((each) => excludePattern(root, each))
  if (paths.scope === 'shared') {
    const shared = patternsOf([paths.settings, mcpPath(root), ...commandPaths(paths).keys()])
    const rest = excluded.filter((pattern) => !shared.includes(pattern))
    return planEdit(path, excludeEdit(rest), undefined)
  }
  const created = changes.filter(
    (each) => each.before === undefined && each.path.startsWith(`${root}/`),
  )
  const gone = patternsOf(released)
  const patterns = new Set([...excluded, ...patternsOf(created.map((each) => each.path))])
  const wanted = [...patterns].filter((each) => !gone.includes(each)).toSorted()
  return planEdit(path, excludeEdit(wanted), manifest.files[path])
}

/** Undoes exactly what setup did, and nothing that others changed since. */
export function planUninstall(scope: SetupScope, project: ProjectEnvironment): SetupPlan {
  const paths = setupPaths(scope, project)
  const home = stateHome(project.env)
  const manifest = readManifest(home, paths.settings)

  const edit = settingsEdit(paths.settings, { groups: new Map(), hasStatusLine: false })
  const settings = planEditRemoval(paths.settings, edit, manifest.files[paths.settings])
  const [{ after } = { after: undefined }] = settings
  const hasApproval =
    after !== undefined && isApprovedByName(parseSettings(paths.settings, withoutBom(after)))
  const isExcluded = scope === 'local' && project.gitCommonDir !== undefined
  const sharingSettings = settingsSharingCommands(paths, project)
  const commands =
    sharingSettings === undefined
      ? planOwnedFileRemoval(commandPaths(paths), paths.commands, manifest.files)
      : { ...NO_CHANGES, foreign: [] }
  const changes = [
    ...commands.changes,
    ...instructionFiles(paths.instructions).flatMap((file) =>
      planEditRemoval(file, instructionsEdit, manifest.files[file]),
    ),
    ...(isExcluded ? [excludePath(project.gitCommonDir)] : []).flatMap((file) =>
      planEditRemoval(file, excludeEdit([]), manifest.files[file]),
    ),
    ...planMcpRemoval(project, scope, manifest),
    ...settings,
  ]
  const unknown = `in ${paths.settings}, which is not known to be ours`
  return buildRemovalPlan(home, manifest, changes, [
    ...commands.foreign.map((file) => `left alone: ${file} was changed since, or is not ours`),
    ...(after?.includes(TOKEN_EFFICIENT_TOOLS) === true
      ? [`left alone: ${TOKEN_EFFICIENT_TOOLS} ${unknown}`]
      : []),
    ...(hasApproval ? [`left alone: the approval of the MCP server ${unknown}`] : []),
    ...(sharingSettings === undefined || changes.length === 0
      ? []
      : [`the slash commands stay: ${sharingSettings} needs them`]),
  ])
}

/** Both scopes of a project keep their commands in one folder. */
function settingsSharingCommands({ scope, commands }: SetupPaths, project: ProjectEnvironment) {
  return SCOPES.filter((each) => each !== scope)
    .map((each) => setupPaths(each, project))
    .filter((other) => other.commands === commands)
    .map(({ settings }) => settings)
    .find((path) => stintHooks(readClaudeSettingsOrEmpty(path)).length > 0)
}

const MARKERS = {
  begin: '<!-- stint setup: begin -->',
  end: '<!-- stint setup: end -->',
  hasBlankLineBefore: true,
}

export const instructionsEdit = blockEdit(MARKERS, [
  '## Sessions',
  '',
  'Work on this project is recorded in Stint sessions, which survive compaction. What a session holds is shown when a',
  'conversation starts; `stint resume` shows all of it. Record what the next reader would need, at the moment it is known:',
  '',
  '- `stint log --decision "…" --rationale "…"` for a choice and why it was made',
  '- `stint log --discovery "…"` for something found out, `--gotcha "…"` for a trap',
  '- `stint log --blocker "…"` for what stands in the way, `--next "…"` for what is to be done next',
  '- `stint log --done "…"` for a step that is done',
])

/** The preferred file first. */
function instructionFiles(folder: string) {
  return [join(folder, 'CLAUDE.md'), join(folder, 'AGENTS.md')]
}

function instructionsPath(folder: string) {
  const paths = instructionFiles(folder)
  return paths.find((path) => statOrUndefined(path)?.isFile() === true) ?? paths[0]!
}
