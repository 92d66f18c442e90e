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
  around: ProjectEnvironment,
  program: HookProgram | undefined,
): SetupPlan {
  const { scope } = options
  const place = setupPaths(scope, around)
  const home = stateHome(around.env)
  const known = readManifest(home, place.settings)
  const record = known.files[place.settings]

  const mcp = planMcp(around, scope, options.mcp, known)
  const { hasServer } = mcp
  const wanted = resolveWantedSettings(scope, around, { ...options, hasServer }, record)
  const settings = planEdit(place.settings, settingsEdit(place.settings, wanted), record)
  const commands = planOwnedFiles(commandPaths(place), place.commands, known.files)
  const path = instructionsPath(place.instructions)
  const instructions = options.instructions
    ? planEdit(path, instructionsEdit, known.files[path])
    : NO_CHANGES
  const launcher = planLauncher(home, program)
  // Settings come last: hooks are registered once everything they need is there.
  const files = [launcher, commands, instructions, mcp.files, settings]
  const givenUp = mcp.isGivenUp === true ? [mcpPath(around.root)] : []
  const changes = files.flatMap((each) => each.changes)
  const exclude = planExclude(place, around, known, changes, givenUp)
  const kept = Object.entries(known.files).filter(([file]) => !givenUp.includes(file))
  return buildInstallPlan(
    home,
    { ...known, files: Object.fromEntries(kept) },
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
  place: SetupPaths,
  { root, gitCommonDir }: ProjectEnvironment,
  known: Manifest,
  changes: readonly FileChange[],
  givenUp: readonly string[],
) {
  if (gitCommonDir === undefined || place.scope === 'user') return NO_CHANGES
  const path = excludePath(gitCommonDir)
  const excluded = excludedPatterns(readText(path) ?? '')
  const patternsOf = (paths: readonly string[]) => paths.map((each) => excludePattern(root, each))
  if (place.scope === 'shared') {
    const shared = patternsOf([place.settings, mcpPath(root), ...commandPaths(place).keys()])
    const rest = excluded.filter((pattern) => !shared.includes(pattern))
    return planEdit(path, excludeEdit(rest), undefined)
  }
  const made = changes.filter(
    (each) => each.before === undefined && each.path.startsWith(`${root}/`),
  )
  const gone = patternsOf(givenUp)
  const patterns = new Set([...excluded, ...patternsOf(made.map((each) => each.path))])
  const wanted = [...patterns].filter((each) => !gone.includes(each)).toSorted()
  return planEdit(path, excludeEdit(wanted), known.files[path])
}

/** Undoes exactly what setup did, and nothing that others changed since. */
export function planUninstall(scope: SetupScope, around: ProjectEnvironment): SetupPlan {
  const place = setupPaths(scope, around)
  const home = stateHome(around.env)
  const known = readManifest(home, place.settings)

  const edit = settingsEdit(place.settings, { groups: new Map(), hasStatusLine: false })
  const settings = planEditRemoval(place.settings, edit, known.files[place.settings])
  const [{ after } = { after: undefined }] = settings
  const hasApproval =
    after !== undefined && isApprovedByName(parseSettings(place.settings, withoutBom(after)))
  const isExcluded = scope === 'local' && around.gitCommonDir !== undefined
  const sharer = commandsSharedWith(place, around)
  const commands =
    sharer === undefined
      ? planOwnedFileRemoval(commandPaths(place), place.commands, known.files)
      : { ...NO_CHANGES, foreign: [] }
  const changes = [
    ...commands.changes,
    ...instructionFiles(place.instructions).flatMap((file) =>
      planEditRemoval(file, instructionsEdit, known.files[file]),
    ),
    ...(isExcluded ? [excludePath(around.gitCommonDir)] : []).flatMap((file) =>
      planEditRemoval(file, excludeEdit([]), known.files[file]),
    ),
    ...planMcpRemoval(around, scope, known),
    ...settings,
  ]
  const unknown = `in ${place.settings}, which is not known to be ours`
  return buildRemovalPlan(home, known, changes, [
    ...commands.foreign.map((file) => `left alone: ${file} was changed since, or is not ours`),
    ...(after?.includes(TOKEN_EFFICIENT_TOOLS) === true
      ? [`left alone: ${TOKEN_EFFICIENT_TOOLS} ${unknown}`]
      : []),
    ...(hasApproval ? [`left alone: the approval of the MCP server ${unknown}`] : []),
    ...(sharer === undefined || changes.length === 0
      ? []
      : [`the slash commands stay: ${sharer} needs them`]),
  ])
}

/** Both scopes of a project keep their commands in one folder. */
function commandsSharedWith({ scope, commands }: SetupPaths, around: ProjectEnvironment) {
  return SCOPES.filter((each) => each !== scope)
    .map((each) => setupPaths(each, around))
    .filter((other) => other.commands === commands)
    .map(({ settings }) => settings)
    .find((path) => stintHooks(readClaudeSettingsOrEmpty(path)).length > 0)
}

const MARKS = {
  begin: '<!-- stint setup: begin -->',
  end: '<!-- stint setup: end -->',
  isApart: true,
}

export const instructionsEdit = blockEdit(MARKS, [
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
