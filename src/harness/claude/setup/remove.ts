import { TOKEN_EFFICIENT_TOOLS } from './betas.ts'
import type { FileChange } from './changes.ts'
import { planTakingOut } from './edited-file.ts'
import { excludeEdit, excludePath } from './exclude.ts'
import { commandPaths } from './install.ts'
import { instructionFiles, instructionsEdit } from './instructions.ts'
import { type JsonText, loadJsonText } from './json-text.ts'
import { isApprovedByName } from './mcp-approval.ts'
import { planMcpRemoval } from './mcp-file.ts'
import { planLastRemoval } from './launcher-file.ts'
import { manifestPath, readManifest } from './manifest.ts'
import { type OwnedFiles, planOwnedRemoval, retiredPaths } from './owned-file.ts'
import {
  type Scope,
  type SetupPlace,
  type Surroundings,
  machineFolder,
  setupPlace,
} from './places.ts'
import { type Plan, innermostFirst, recordRemoval } from './plan.ts'
import { readOtherSettings, settingsEdit } from './settings-file.ts'
import { parseSettings, stintHooks } from './settings.ts'

/** What it takes to undo a setup: exactly what it did, and nothing that somebody else did since. */
export async function planRemove(scope: Scope, around: Surroundings): Promise<Plan> {
  const json = await loadJsonText()
  const place = setupPlace(scope, around)
  const machine = machineFolder(around)
  const path = manifestPath(machine, place.settings)
  const known = readManifest(path, place.settings)

  const edit = settingsEdit(json, place.settings, { groups: new Map(), hasStatusLine: false })
  const settings = planTakingOut(place.settings, edit, known.files[place.settings])
  const instructions = instructionFiles(place.instructions).map((file) =>
    planTakingOut(file, instructionsEdit, known.files[file]),
  )
  const mcp = planMcpRemoval(json, around, scope, known)
  const beta =
    settings?.after !== undefined && settings.after.includes(TOKEN_EFFICIENT_TOOLS)
      ? [place.settings]
      : []
  const approval = isApprovalLeft(json, place, settings) ? [place.settings] : []
  const exclude = excludeFiles(place, around).map((file) =>
    planTakingOut(file, excludeEdit([]), known.files[file]),
  )
  const sharer = commandsSharedWith(json, place, around)
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

/** Whether somebody's settings still approve a server that may be gone. */
function isApprovalLeft(
  json: JsonText,
  { settings }: SetupPlace,
  change: FileChange | undefined,
): boolean {
  return (
    change?.after !== undefined &&
    isApprovedByName(parseSettings(settings, change.after.replace(/^\uFEFF/, ''), json.faultyLine))
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

/** What was excluded is so for the setup of one person only. */
function excludeFiles({ scope }: SetupPlace, { gitCommonDir }: Surroundings): readonly string[] {
  return scope === 'local' && gitCommonDir !== undefined ? [excludePath(gitCommonDir)] : []
}

/** The other settings of this project, if they have our hooks as well: both have their commands in one folder. */
function commandsSharedWith(
  json: JsonText,
  { scope, commands }: SetupPlace,
  around: Surroundings,
): string | undefined {
  const others = (['local', 'shared', 'user'] as const)
    .filter((each) => each !== scope)
    .map((each) => setupPlace(each, around))
  const sharers = others.filter((other) => other.commands === commands)
  return sharers
    .map(({ settings }) => settings)
    .find((path) => stintHooks(readOtherSettings(json, path)).length > 0)
}
