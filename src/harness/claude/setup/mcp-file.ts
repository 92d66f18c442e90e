// Our MCP server in the project's `.mcp.json`. Claude Code rewrites the user's own file of servers
// all the time, so setup does not edit that.
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isTracked } from '../../../git/status.ts'
import { StintError } from '../../../journal/errors.ts'
import { stateHome } from '../../../journal/state-home.ts'
import type {
  McpOption,
  SetupScope,
  ServerRegistration,
  ProjectEnvironment,
} from '../../contract/setup.ts'
import { addMember, removeAt } from '../../setup/edit-json.ts'
import { MCP_COMMAND, MCP_FILE, MCP_SERVER, isStintServer } from '../../setup/launcher.ts'
import {
  type FileChange,
  type Manifest,
  type PlannedFiles,
  type WrittenFile,
  readManifest,
  readText,
  sumOf,
} from '../../setup/plan.ts'
import {
  NO_CHANGES,
  type TextEdit,
  planEdit,
  planEditRemoval,
  withoutBom,
} from '../../setup/plan-files.ts'
import { setupPaths } from './paths.ts'
import {
  type ClaudeSettings,
  invalidSettings,
  isPlainObject,
  parseSettings,
  readClaudeSettingsOrEmpty,
  stintHooks,
} from './settings.ts'

const SERVERS = 'mcpServers'

export function mcpPath(root: string): string {
  return join(root, '.mcp.json')
}

interface PlannedMcp {
  readonly files: PlannedFiles
  /** Whether the project has the server afterwards. */
  readonly hasServer: boolean
  /** The file no longer belongs to this setup. */
  readonly isGivenUp?: boolean
  readonly notes: readonly string[]
}

export function planMcp(
  around: ProjectEnvironment,
  scope: SetupScope,
  wish: McpOption,
  known: Manifest,
): PlannedMcp {
  const path = mcpPath(around.root)
  const without = (...notes: string[]) => ({ files: NO_CHANGES, hasServer: false, notes })
  if (scope === 'user') {
    if (wish === 'no') return without()
    const command = `claude mcp add --scope user ${MCP_SERVER} -- stint mcp`
    return without(`no MCP server: Claude Code keeps those for every project itself: ${command}`)
  }
  if (wish === 'no') return planGivingUp(around, scope, known)
  const status = serverStatus(path)
  if (status === 'unreadable' && wish === 'yes')
    return without(`no MCP server: ${path} cannot be read; correct it and run this again`)
  if (status === 'other')
    return without(`left alone: ${path} has a server named ${MCP_SERVER} that is not ours`)
  const isThere = readText(path) !== undefined
  if (isThere && scope === 'local' && wish === 'yes' && !isOurs(around, known)) {
    // A foreign file, and a local setup did not ask to edit it.
    if (status === 'none')
      return without(
        `no MCP server: ${path} is not ours; --mcp adds it there for you, --shared for everybody`,
      )
    const outdated = `left alone: ${path} has the server of another version of Stint; --shared brings it up to date`
    const notes = status === 'current' ? [] : [outdated]
    return { files: NO_CHANGES, hasServer: true, notes }
  }
  const files = planEdit(path, mcpEdit(path), known.files[path])
  const isChanged = files.changes.length > 0
  // Written by a local setup, and shared with the team from now on.
  const claimed =
    scope === 'shared' && !isChanged ? writtenElsewhere(around, scope, path) : undefined
  if (claimed !== undefined)
    return { files: { changes: [], written: { [path]: claimed } }, hasServer: true, notes: [] }
  const isSeen = scope === 'local' && isThere && isChanged && known.files[path]?.undo !== 'delete'
  const notes = isSeen ? [`${path} was there before, so that git may see this change of it`] : []
  return { files, hasServer: true, notes }
}

/** Only if this setup owns it and no other setup of the project needs it. */
export function planMcpRemoval(
  around: ProjectEnvironment,
  scope: SetupScope,
  known: Manifest,
): readonly FileChange[] {
  const path = mcpPath(around.root)
  if (scope === 'user' || writtenElsewhere(around, scope, path) !== undefined) return []
  const record = known.files[path]
  const isTakenOut =
    scope === 'local' ? isOurs(around, known) : record !== undefined || hasStintServer(path)
  return isTakenOut ? planEditRemoval(path, mcpEdit(path), record ?? madeAlone(path)) : []
}

function planGivingUp(around: ProjectEnvironment, scope: SetupScope, known: Manifest): PlannedMcp {
  const path = mcpPath(around.root)
  const changes = planMcpRemoval(around, scope, known)
  const isLeft = changes.length === 0 && hasStintServer(path)
  return {
    files: { changes, written: {} },
    hasServer: false,
    isGivenUp: true,
    notes: isLeft ? [`the MCP server stays: ${path} is not this setup's alone`] : [],
  }
}

/**
 * A file that setup created is the user's own until git tracks it. Without a manifest, its content
 * decides.
 */
function isOurs(around: ProjectEnvironment, { files }: Manifest): boolean {
  const path = mcpPath(around.root)
  const known = files[path]
  if (known !== undefined && known.undo !== 'delete') return true
  if (isKeptByGit(around, path)) return false
  if (known !== undefined) return true
  const isTeams =
    stintHooks(readClaudeSettingsOrEmpty(setupPaths('shared', around).settings)).length > 0
  return !isTeams && hasStintServer(path)
}

function isKeptByGit({ root, gitCommonDir }: ProjectEnvironment, path: string) {
  try {
    return gitCommonDir !== undefined && isTracked(root, path)
  } catch (error) {
    // Without git, the manifest decides.
    if (error instanceof StintError) return false
    throw error
  }
}

/** The manifest record of a file that holds exactly what setup would write. */
function madeAlone(path: string): WrittenFile | undefined {
  const text = readText(path)
  const isAsMade = text !== undefined && text === mcpEdit(path).add('').at(-1)
  return isAsMade ? { sum: sumOf(text), undo: 'delete' } : undefined
}

function writtenElsewhere(around: ProjectEnvironment, scope: SetupScope, path: string) {
  const other = setupPaths(scope === 'local' ? 'shared' : 'local', around).settings
  return readManifest(stateHome(around.env), other).files[path]
}

function mcpEdit(path: string): TextEdit {
  const servers = (text: string) => serversIn(path, text)
  return {
    isCurrent: (text) => isDeepStrictEqual(servers(text)?.[MCP_SERVER], MCP_COMMAND),
    add(text) {
      const texts = text.trim() === '' ? [text, '{}\n'] : [text]
      const last = texts.at(-1)!
      const added =
        servers(last) === undefined
          ? addMember(last, [], SERVERS, MCP_FILE[SERVERS])
          : addMember(last, [SERVERS], MCP_SERVER, MCP_COMMAND)
      return [...texts, added]
    },
    takeOut(text, known) {
      if (!isStintServer(servers(text)?.[MCP_SERVER])) return text
      const rest = removeAt(text, [SERVERS, MCP_SERVER])
      const isEmptied = Object.keys(servers(rest) ?? {}).length === 0
      return isEmptied && known?.kept?.includes(SERVERS) !== true ? removeAt(rest, [SERVERS]) : rest
    },
    containers: (text) => (servers(text) === undefined ? [] : [SERVERS]),
    added: () => [],
    isEmpty: (text) => Object.keys(parseSettings(path, text)).length === 0,
  }
}

function hasStintServer(path: string): boolean {
  return ['current', 'outdated'].includes(serverStatus(path))
}

export function serverStatus(path: string): ServerRegistration['status'] | 'none' {
  try {
    const server = serversIn(path, withoutBom(readText(path) ?? ''))?.[MCP_SERVER]
    if (server === undefined) return 'none'
    if (!isStintServer(server)) return 'other'
    return isDeepStrictEqual(server, MCP_COMMAND) ? 'current' : 'outdated'
  } catch (error) {
    if (error instanceof StintError) return 'unreadable'
    throw error
  }
}

function serversIn(path: string, text: string): ClaudeSettings | undefined {
  const { [SERVERS]: servers } = parseSettings(path, text)
  if (servers !== undefined && !isPlainObject(servers))
    throw invalidSettings(path, `"${SERVERS}" is not an object`)
  return servers
}
