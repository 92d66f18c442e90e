// `codex mcp add` would write into the user's own file, for every project; Codex reads this one in
// trusted projects.
import { stateHome } from '../../journal/state-home.ts'
import type { HarnessSetup, SetupRequest, Surroundings } from '../contract/setup.ts'
import { join } from 'node:path'
import { StintError } from '../../journal/errors.ts'
import {
  type Plan,
  carryOut,
  innermostFirst,
  manifestPath,
  readManifest,
  readText,
  recordOf,
  recordRemoval,
  refuseImpossible,
} from '../setup/plan.ts'
import {
  type PlannedFile,
  type TextEdit,
  addBlock,
  blockIn,
  excludeEdit,
  excludePath,
  excludePattern,
  planEdit,
  planTakingOut,
  takeOutBlock,
} from '../setup/planned-file.ts'
import {
  type HookProgram,
  MCP_COMMAND,
  MCP_ENVIRONMENT,
  MCP_SERVER,
  planLastRemoval,
  planLauncher,
} from '../setup/launcher.ts'
import { findHookProgram } from '../process/find-program.ts'

export const codexSetup: HarnessSetup = {
  takes: new Set(['shared', 'remove', 'dryRun', 'mcp', 'json']),
  setUp: (request, around) => setUpCodex(request, around),
  nextStep: () =>
    'Codex reads it in projects that you trust. Start codex here, and then look: codex mcp list',
}

type CodexRequest = Pick<SetupRequest, 'into' | 'remove' | 'dryRun'>

export function setUpCodex(
  request: CodexRequest,
  around: Surroundings,
  program: HookProgram | undefined = findHookProgram(),
): Plan {
  const plan = request.remove ? planRemoval(around) : planInstall(request, around, program)
  refuseImpossible(plan)
  if (!request.dryRun) carryOut(plan)
  return plan
}

const EXCLUDED = ' codex'
const MARKS = { begin: '# stint setup: begin', end: '# stint setup: end', isApart: true }

/** TOML has JSON's strings and lists. */
const LINES = [
  `[mcp_servers.${MCP_SERVER}]`,
  `command = ${JSON.stringify(MCP_COMMAND.command)}`,
  `args = ${JSON.stringify(MCP_COMMAND.args)}`,
  `env_vars = ${JSON.stringify(MCP_ENVIRONMENT)}`,
]

const edit: TextEdit = {
  isCurrent: (text) => blockIn(text, MARKS)?.join('\n') === LINES.join('\n'),
  add: (text) => addBlock(text, MARKS, LINES),
  takeOut: (text) => takeOutBlock(text, MARKS),
  isEmpty: (text) => text.trim() === '',
}

function configPath(root: string): string {
  return join(root, '.codex', 'config.toml')
}

function planInstall(
  { into }: CodexRequest,
  around: Surroundings,
  program: HookProgram | undefined,
): Plan {
  const path = configPath(around.root)
  const machine = stateHome(around.env)
  const known = readManifest(manifestPath(machine, path), path)
  refuseOther(path)
  const config = planEdit(path, edit, known.files[path])
  const isMade = config.change?.before === undefined && config.change !== undefined
  const exclude = planExclude(around, into === 'local' && isMade, into === 'shared')
  const launcher = planLauncher(machine, program)
  const changes = [...launcher.changes, ...[exclude, config].flatMap(({ change }) => change ?? [])]
  const written = Object.fromEntries(
    [exclude, config].flatMap(({ change, written: how }) =>
      change === undefined || how === undefined ? [] : [[change.path, how]],
    ),
  )
  return {
    changes,
    record: recordOf(machine, known, changes, written),
    folders: [],
    notes: launcher.notes,
  }
}

/** Files for one person are excluded; those for a team must not be. */
function planExclude(
  { root, gitCommonDir }: Surroundings,
  isHidden: boolean,
  isShared: boolean,
): PlannedFile {
  if (gitCommonDir === undefined || (!isHidden && !isShared)) return {}
  const patterns = isHidden ? [excludePattern(root, configPath(root))] : []
  return planEdit(excludePath(gitCommonDir), excludeEdit(patterns, EXCLUDED), undefined)
}

function planRemoval(around: Surroundings): Plan {
  const path = configPath(around.root)
  const machine = stateHome(around.env)
  const manifest = manifestPath(machine, path)
  const known = readManifest(manifest, path)
  const excluded = around.gitCommonDir === undefined ? undefined : excludePath(around.gitCommonDir)
  const changes = [
    ...(excluded === undefined
      ? []
      : [planTakingOut(excluded, excludeEdit([], EXCLUDED), known.files[excluded])]),
    planTakingOut(path, edit, known.files[path]),
  ].flatMap((change) => change ?? [])
  return {
    changes: [...changes, ...planLastRemoval(machine, manifest, changes)],
    record: recordRemoval(machine, known),
    folders: innermostFirst(known.folders),
    notes: [],
  }
}

/** A second table of the same name would make the whole file unreadable for Codex. */
function refuseOther(path: string): void {
  const others = takeOutBlock(readText(path) ?? '', MARKS)
  if (!/^\s*(?:\[\s*)?mcp_servers\s*(?:\.\s*["']?stint["']?\s*[\].=]|=)/m.test(others)) return
  throw new StintError(
    'NOT_OURS',
    `${path} has a server named ${MCP_SERVER}, or a list of servers that nothing can be added to; nothing was changed`,
    'take it out, or write it as [mcp_servers.NAME], and run this again',
  )
}
