import { stateHome } from '../../../journal/state-home.ts'
import type { McpWish, Scope, Surroundings } from '../../contract/setup.ts'
import { join } from 'node:path'
import { mcpPath, planMcp, planMcpRemoval } from './mcp-file.ts'
import { type SetupPlace, setupPlace } from './places.ts'
import {
  TOKEN_EFFICIENT_TOOLS,
  isApprovedByName,
  readOtherSettings,
  settingsEdit,
  wantedOf,
} from './settings-edit.ts'
import { parseSettings, stintHooks } from './settings.ts'
import { slashCommandFiles } from './plugin.ts'
import { statOrUndefined } from '../../../journal/look.ts'
import { type HookProgram, planLastRemoval, planLauncher } from '../../setup/launcher.ts'
import {
  type FileChange,
  type Manifest,
  type Plan,
  innermostFirst,
  manifestPath,
  readManifest,
  readText,
  recordOf,
  recordRemoval,
} from '../../setup/plan.ts'
import {
  type OwnedFiles,
  type PlannedFile,
  type TextEdit,
  addBlock,
  blockIn,
  excludeEdit,
  excludePath,
  excludePattern,
  excludedIn,
  planEdit,
  planOwned,
  planOwnedRemoval,
  planTakingOut,
  retiredPaths,
  takeOutBlock,
} from '../../setup/planned-file.ts'

export interface InstallOptions {
  readonly scope: Scope
  readonly notify: boolean
  readonly instructions: boolean
  readonly statusLine: boolean
  readonly tokenEfficientTools: boolean
  readonly mcp: McpWish
}

export function planInstall(
  options: InstallOptions,
  around: Surroundings,
  program: HookProgram | undefined,
): Plan {
  const { scope } = options
  const place = setupPlace(scope, around)
  const machine = stateHome(around.env)
  const known = readManifest(manifestPath(machine, place.settings), place.settings)

  const mcp = planMcp(around, scope, options.mcp, known)
  const wanted = wantedOf(
    scope,
    around,
    { ...options, hasServer: mcp.hasServer },
    known.files[place.settings],
  )
  const settings = planEdit(
    place.settings,
    settingsEdit(place.settings, wanted),
    known.files[place.settings],
  )
  const commands = planOwned(commandPaths(place), place.commands, known.files)
  const instructions = options.instructions ? planInstructions(place, known) : {}
  const launcher = planLauncher(machine, program)

  const edits = [instructions, mcp.file, settings]
  const changes = [
    ...launcher.changes,
    ...commands.changes,
    ...edits.flatMap(({ change }) => change ?? []),
  ]
  const givenUp = mcp.isGivenUp === true ? [mcpPath(around.root)] : []
  const exclude = planExclude(place, around, known, changes, givenUp)
  // Settings come last: hooks are registered once everything they need is there.
  const planned = [...(exclude.change === undefined ? [] : [exclude.change]), ...changes]
  const written = {
    ...commands.written,
    ...mcp.claimed,
    ...Object.fromEntries([...edits, exclude].flatMap(writtenOf)),
  }
  return {
    changes: planned,
    record: recordOf(machine, without(known, givenUp), planned, written),
    folders: [],
    notes: [
      ...(wanted.statusLineElsewhere === undefined
        ? []
        : [`no status line: ${wanted.statusLineElsewhere} has one`]),
      ...wanted.notes,
      ...mcp.notes,
      ...commands.foreign.map((path) => `left alone: ${path} is not ours`),
      ...(wanted.plugin === undefined
        ? []
        : [`hooks run twice while the plugin is on: claude plugin uninstall ${wanted.plugin}`]),
      ...launcher.notes,
    ],
  }
}

export function commandPaths({ commands }: SetupPlace): ReadonlyMap<string, string> {
  return new Map([...slashCommandFiles()].map(([name, text]) => [join(commands, name), text]))
}

function planInstructions(place: SetupPlace, known: Manifest): PlannedFile {
  const path = instructionsPath(place.instructions)
  return planEdit(path, instructionsEdit, known.files[path])
}

/** Files for one person are excluded; those for a team must not be. */
function planExclude(
  place: SetupPlace,
  around: Surroundings,
  known: Manifest,
  changes: readonly FileChange[],
  givenUp: readonly string[],
): PlannedFile {
  const { root, gitCommonDir } = around
  if (gitCommonDir === undefined || place.scope === 'user') return {}
  const path = excludePath(gitCommonDir)
  const excluded = excludedIn(readText(path) ?? '')
  if (place.scope === 'shared') {
    const shared = new Set(
      [place.settings, mcpPath(root), ...commandPaths(place).keys()].map((each) =>
        excludePattern(root, each),
      ),
    )
    return planEdit(
      path,
      excludeEdit(excluded.filter((pattern) => !shared.has(pattern))),
      undefined,
    )
  }
  const made = changes.filter(
    ({ path: each, before }) => before === undefined && each.startsWith(`${root}/`),
  )
  const gone = new Set(givenUp.map((each) => excludePattern(root, each)))
  const patterns = [...excluded, ...made.map((change) => excludePattern(root, change.path))].filter(
    (each) => !gone.has(each),
  )
  return planEdit(path, excludeEdit([...new Set(patterns)].toSorted()), known.files[path])
}

function without(known: Manifest, paths: readonly string[]): Manifest {
  return {
    ...known,
    files: Object.fromEntries(
      Object.entries(known.files).filter(([path]) => !paths.includes(path)),
    ),
  }
}

function writtenOf({ change, written }: PlannedFile) {
  return change === undefined || written === undefined ? [] : [[change.path, written] as const]
}

export function planRemove(scope: Scope, around: Surroundings): Plan {
  const place = setupPlace(scope, around)
  const machine = stateHome(around.env)
  const path = manifestPath(machine, place.settings)
  const known = readManifest(path, place.settings)

  const edit = settingsEdit(place.settings, { groups: new Map(), hasStatusLine: false })
  const settings = planTakingOut(place.settings, edit, known.files[place.settings])
  const instructions = instructionFiles(place.instructions).map((file) =>
    planTakingOut(file, instructionsEdit, known.files[file]),
  )
  const mcp = planMcpRemoval(around, scope, known)
  const beta =
    settings?.after !== undefined && settings.after.includes(TOKEN_EFFICIENT_TOOLS)
      ? [place.settings]
      : []
  const approval = isApprovalLeft(place, settings) ? [place.settings] : []
  const exclude = excludeFiles(place, around).map((file) =>
    planTakingOut(file, excludeEdit([]), known.files[file]),
  )
  const sharer = commandsSharedWith(place, around)
  const commands =
    sharer === undefined
      ? planCommandRemoval(place, known.files)
      : { changes: [], written: {}, foreign: [] }

  const changes = [
    ...commands.changes,
    ...[...instructions, ...exclude, mcp, settings].flatMap((change) => change ?? []),
  ]
  return {
    changes: [...changes, ...planLastRemoval(machine, path, changes)],
    record: recordRemoval(machine, known),
    folders: innermostFirst(known.folders),
    notes: [
      ...commands.foreign.map((file) => `left alone: ${file} was changed since, or is not ours`),
      ...beta.map(
        (file) => `left alone: ${TOKEN_EFFICIENT_TOOLS} in ${file}, which is not known to be ours`,
      ),
      ...approval.map(
        (file) =>
          `left alone: the approval of the MCP server in ${file}, which is not known to be ours`,
      ),
      ...(sharer === undefined || changes.length === 0
        ? []
        : [`the slash commands stay: ${sharer} needs them`]),
    ],
  }
}

function isApprovalLeft({ settings }: SetupPlace, change: FileChange | undefined): boolean {
  return (
    change?.after !== undefined &&
    isApprovedByName(parseSettings(settings, change.after.replace(/^\uFEFF/, '')))
  )
}

function planCommandRemoval(
  place: SetupPlace,
  known: Parameters<typeof planOwnedRemoval>[1],
): OwnedFiles {
  const files = commandPaths(place)
  return planOwnedRemoval(
    new Map<string, string | undefined>([...files, ...retiredPaths(files, place.commands, known)]),
    known,
  )
}

function excludeFiles({ scope }: SetupPlace, { gitCommonDir }: Surroundings): readonly string[] {
  return scope === 'local' && gitCommonDir !== undefined ? [excludePath(gitCommonDir)] : []
}

/** Both scopes of a project keep their commands in one folder. */
function commandsSharedWith(
  { scope, commands }: SetupPlace,
  around: Surroundings,
): string | undefined {
  const others = (['local', 'shared', 'user'] as const)
    .filter((each) => each !== scope)
    .map((each) => setupPlace(each, around))
  const sharers = others.filter((other) => other.commands === commands)
  return sharers
    .map(({ settings }) => settings)
    .find((path) => stintHooks(readOtherSettings(path)).length > 0)
}

const MARKS = {
  begin: '<!-- stint setup: begin -->',
  end: '<!-- stint setup: end -->',
  isApart: true,
}

const LINES = [
  '## Sessions',
  '',
  'Work on this project is recorded in Stint sessions, which survive compaction. What a session holds is shown when a',
  'conversation starts; `stint resume` shows all of it. Record what the next reader would need, at the moment it is known:',
  '',
  '- `stint log --decision "…" --rationale "…"` for a choice and why it was made',
  '- `stint log --discovery "…"` for something found out, `--gotcha "…"` for a trap',
  '- `stint log --blocker "…"` for what stands in the way, `--next "…"` for what is to be done next',
  '- `stint log --done "…"` for a step that is done',
]

export const instructionsEdit: TextEdit = {
  isCurrent: (text) => blockIn(text, MARKS)?.join('\n') === LINES.join('\n'),
  add: (text) => addBlock(text, MARKS, LINES),
  takeOut: (text) => takeOutBlock(text, MARKS),
  isEmpty: (text) => text.trim() === '',
}

export function instructionFiles(folder: string): readonly string[] {
  return [join(folder, 'CLAUDE.md'), join(folder, 'AGENTS.md')]
}

export function instructionsPath(folder: string): string {
  const paths = instructionFiles(folder)
  return paths.find((path) => statOrUndefined(path)?.isFile() === true) ?? paths[0]!
}
