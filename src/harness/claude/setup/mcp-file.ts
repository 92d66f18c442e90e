// Our MCP server in the project's `.mcp.json`. Claude Code rewrites the user's own file of servers
// all the time, so setup does not edit that.
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isTracked } from '../../../git/status.ts'
import { sha256 } from '../../../history/blobs.ts'
import { StintError } from '../../../journal/errors.ts'
import { stateHome } from '../../../journal/state-home.ts'
import type {
  McpOption,
  SetupScope,
  ServerRegistration,
  ProjectEnvironment,
} from '../../contract/setup.ts'
import { findStintProgram } from '../../process/find-program.ts'
import { addMember, removeAt } from '../../setup/edit-json.ts'
import { MCP_COMMAND, MCP_FILE, MCP_SERVER, isStintServer } from '../../setup/launcher.ts'
import {
  type FileChange,
  type Manifest,
  type PlannedFiles,
  type WrittenFile,
  readManifest,
  readText,
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
  readonly isReleased?: boolean
  readonly notes: readonly string[]
}

export function planMcp(
  project: ProjectEnvironment,
  scope: SetupScope,
  option: McpOption,
  manifest: Manifest,
): PlannedMcp {
  const path = mcpPath(project.root)
  const without = (...notes: string[]) => ({ files: NO_CHANGES, hasServer: false, notes })
  if (scope === 'user') {
    if (option === 'no') return without()
    const program = `${process.execPath} ${findStintProgram()}`
    const command = `claude mcp add --scope user ${MCP_SERVER} -- ${program} mcp`
    return without(`no MCP server: Claude Code keeps those for every project itself: ${command}`)
  }
  if (option === 'no') return planRelease(project, scope, manifest)
  const status = serverStatus(path)
  if (status === 'unreadable' && option === 'yes')
    return without(`no MCP server: ${path} cannot be read; correct it and run this again`)
  if (status === 'other')
    return without(`left alone: ${path} has a server named ${MCP_SERVER} that is not ours`)
  const isThere = readText(path) !== undefined
  if (isThere && scope === 'local' && option === 'yes' && !isOwnFile(project, manifest)) {
    // A foreign file, and a local setup did not ask to edit it.
    if (status === 'none')
      return without(
        `no MCP server: ${path} is not ours; --mcp adds it there for you, --shared for everybody`,
      )
    const outdated = `left alone: ${path} has the server of another version of Stint; --shared brings it up to date`
    const notes = status === 'current' ? [] : [outdated]
    return { files: NO_CHANGES, hasServer: true, notes }
  }
  const files = planEdit(path, mcpEdit(path), manifest.files[path])
  const isChanged = files.changes.length > 0
  // Written by a local setup, and shared with the team from now on.
  const claimed =
    scope === 'shared' && !isChanged ? recordOfOtherScope(project, scope, path) : undefined
  if (claimed !== undefined)
    return { files: { changes: [], written: { [path]: claimed } }, hasServer: true, notes: [] }
  const isSeen =
    scope === 'local' && isThere && isChanged && manifest.files[path]?.undo !== 'delete'
  const notes = isSeen ? [`${path} was there before, so that git may see this change of it`] : []
  return { files, hasServer: true, notes }
}

/** Only if this setup owns it and no other setup of the project needs it. */
export function planMcpRemoval(
  project: ProjectEnvironment,
  scope: SetupScope,
  manifest: Manifest,
): readonly FileChange[] {
  const path = mcpPath(project.root)
  if (scope === 'user' || recordOfOtherScope(project, scope, path) !== undefined) return []
  const record = manifest.files[path]
  const isRemoved =
    scope === 'local' ? isOwnFile(project, manifest) : record !== undefined || hasStintServer(path)
  return isRemoved ? planEditRemoval(path, mcpEdit(path), record ?? recordIfUnmodified(path)) : []
}

function planRelease(
  project: ProjectEnvironment,
  scope: SetupScope,
  manifest: Manifest,
): PlannedMcp {
  const path = mcpPath(project.root)
  const changes = planMcpRemoval(project, scope, manifest)
  const isLeft = changes.length === 0 && hasStintServer(path)
  return {
    files: { changes, written: {} },
    hasServer: false,
    isReleased: true,
    notes: isLeft ? [`the MCP server stays: ${path} is not this setup's alone`] : [],
  }
}

/**
 * A file that setup created is the user's own until git tracks it. Without a manifest, its content
 * decides.
 */
function isOwnFile(project: ProjectEnvironment, { files }: Manifest): boolean {
  const path = mcpPath(project.root)
  const known = files[path]
  if (known !== undefined && known.undo !== 'delete') return true
  if (isTrackedByGit(project, path)) return false
  if (known !== undefined) return true
  const isShared =
    stintHooks(readClaudeSettingsOrEmpty(setupPaths('shared', project).settings)).length > 0
  return !isShared && hasStintServer(path)
}

function isTrackedByGit({ root, gitCommonDir }: ProjectEnvironment, path: string) {
  try {
    return gitCommonDir !== undefined && isTracked(root, path)
  } catch (error) {
    // Without git, the manifest decides.
    if (error instanceof StintError) return false
    throw error
  }
}

/** The manifest record of a file that holds exactly what setup would write. */
function recordIfUnmodified(path: string): WrittenFile | undefined {
  const text = readText(path)
  const isUnmodified = text !== undefined && text === mcpEdit(path).add('').at(-1)
  return isUnmodified ? { sum: sha256(text), undo: 'delete' } : undefined
}

function recordOfOtherScope(project: ProjectEnvironment, scope: SetupScope, path: string) {
  const other = setupPaths(scope === 'local' ? 'shared' : 'local', project).settings
  return readManifest(stateHome(project.env), other).files[path]
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
    remove(text, written) {
      if (!isStintServer(servers(text)?.[MCP_SERVER])) return text
      const rest = removeAt(text, [SERVERS, MCP_SERVER])
      const isEmptied = Object.keys(servers(rest) ?? {}).length === 0
      return isEmptied && written?.kept?.includes(SERVERS) !== true
        ? removeAt(rest, [SERVERS])
        : rest
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
