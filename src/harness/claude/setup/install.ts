import { join } from 'node:path'
import { slashCommandFiles } from '../slash-commands.ts'
import { type FileChange, readText } from './changes.ts'
import { type PlannedFile, planEdit } from './edited-file.ts'
import { excludeEdit, excludePath, excludePattern, excludedIn } from './exclude.ts'
import { instructionsEdit, instructionsPath } from './instructions.ts'
import { loadJsonText } from './json-text.ts'
import { type McpWish, mcpPath, planMcp } from './mcp-file.ts'
import { planLauncher } from './launcher-file.ts'
import { type HookProgram } from './launcher.ts'
import { type Manifest, manifestPath, readManifest } from './manifest.ts'
import { planOwned } from './owned-file.ts'
import {
  type Scope,
  type SetupPlace,
  type Surroundings,
  machineFolder,
  setupPlace,
} from './places.ts'
import { type Plan, recordOf } from './plan.ts'
import { settingsEdit, wantedOf } from './settings-file.ts'

export interface InstallOptions {
  readonly scope: Scope
  /** Also be told when an agent waits. */
  readonly notify: boolean
  /** Also put a few lines into the file of instructions. */
  readonly instructions: boolean
  readonly statusLine: boolean
  /** Also ask the model's API for calls of tools in fewer tokens. */
  readonly tokenEfficientTools: boolean
  readonly mcp: McpWish
}

/** What it takes to set Claude Code up. Refuses what cannot be edited before anything is written. */
export async function planInstall(
  options: InstallOptions,
  around: Surroundings,
  program: HookProgram | undefined,
): Promise<Plan> {
  const { scope } = options
  const json = await loadJsonText()
  const place = setupPlace(scope, around)
  const machine = machineFolder(around)
  const known = readManifest(manifestPath(machine, place.settings), place.settings)

  const mcp = planMcp(json, around, scope, options.mcp, known)
  const wanted = wantedOf(
    json,
    scope,
    around,
    { ...options, hasServer: mcp.hasServer },
    known.files[place.settings],
  )
  const settings = planEdit(
    place.settings,
    settingsEdit(json, place.settings, wanted),
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
  // The settings come last: hooks are registered when everything that they need is there.
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

/** The slash commands of a place, by path. */
export function commandPaths({ commands }: SetupPlace): ReadonlyMap<string, string> {
  return new Map([...slashCommandFiles()].map(([name, text]) => [join(commands, name), text]))
}

function planInstructions(place: SetupPlace, known: Manifest): PlannedFile {
  const path = instructionsPath(place.instructions)
  return planEdit(path, instructionsEdit, known.files[path])
}

/** What we make for one person is excluded; what a team is to share must not be. */
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

/** What is known but for these files, which are nothing of this setup's any more. */
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
