// The user's own file of servers is rewritten by Claude Code all the time, so setup does not edit
// it.
import { stateHome } from '../../../journal/state-home.ts'
import type { McpWish, Scope, Surroundings } from '../../contract/setup.ts'
import { addMember, removeAt } from '../../setup/json-text.ts'
import { isDeepStrictEqual } from 'node:util'
import { join } from 'node:path'
import { isTracked } from '../../../git/status.ts'
import { StintError } from '../../../journal/errors.ts'
import { MCP_COMMAND, MCP_FILE, MCP_SERVER, isStintServer } from '../../setup/launcher.ts'
import {
  type FileChange,
  type Manifest,
  type WrittenFile,
  manifestPath,
  readManifest,
  readText,
  sumOf,
} from '../../setup/plan.ts'
import {
  type PlannedFile,
  type TextEdit,
  planEdit,
  planTakingOut,
} from '../../setup/planned-file.ts'
import { setupPlace } from './places.ts'
import { behindMark, readOtherSettings } from './settings-edit.ts'
import { parseSettings, refuseOddServers, stintHooks } from './settings.ts'

const SERVERS = 'mcpServers'
const FOR_EVERY_PROJECT = `claude mcp add --scope user ${MCP_SERVER} -- stint mcp`

export function mcpPath(root: string): string {
  return join(root, '.mcp.json')
}

interface PlannedMcp {
  readonly file: PlannedFile
  /** Written by a setup for one person, and shared with the team from now on. */
  readonly claimed?: Readonly<Record<string, WrittenFile>>
  readonly hasServer: boolean
  readonly isGivenUp?: boolean
  readonly notes: readonly string[]
}

export function planMcp(
  around: Surroundings,
  scope: Scope,
  wish: McpWish,
  known: Manifest,
): PlannedMcp {
  const path = mcpPath(around.root)
  if (scope === 'user') {
    return nothing(
      wish === 'no'
        ? []
        : [`no MCP server: Claude Code keeps those for every project itself: ${FOR_EVERY_PROJECT}`],
    )
  }
  if (wish === 'no') return planGivingUp(around, scope, known)
  const server = serverIn(path)
  if (server === UNREADABLE && wish === 'yes')
    return nothing([`no MCP server: ${path} cannot be read; correct it and run this again`])
  if (server !== undefined && server !== UNREADABLE && !isStintServer(server)) {
    return nothing([`left alone: ${path} has a server named ${MCP_SERVER} that is not ours`])
  }
  const before = readText(path)
  const isTheirs =
    before !== undefined && scope === 'local' && wish === 'yes' && !isOurs(around, known)
  if (isTheirs) return besideOthers(path, server)
  const file = planEdit(path, mcpEdit(path), known.files[path])
  const claimed =
    scope === 'shared' && file.change === undefined
      ? writtenElsewhere(around, scope, path)
      : undefined
  if (claimed !== undefined)
    return { file, claimed: { [path]: claimed }, hasServer: true, notes: [] }
  const isSeen =
    scope === 'local' &&
    before !== undefined &&
    file.change !== undefined &&
    known.files[path]?.undo !== 'delete'
  return {
    file,
    hasServer: true,
    notes: isSeen ? [`${path} was there before, so that git may see this change of it`] : [],
  }
}

export function planMcpRemoval(
  around: Surroundings,
  scope: Scope,
  known: Manifest,
): FileChange | undefined {
  const path = mcpPath(around.root)
  if (scope === 'user' || writtenElsewhere(around, scope, path) !== undefined) return undefined
  const isTakenOut =
    scope === 'local'
      ? isOurs(around, known)
      : known.files[path] !== undefined || hasStintServer(path)
  return isTakenOut
    ? planTakingOut(path, mcpEdit(path), known.files[path] ?? madeAlone(path))
    : undefined
}

function planGivingUp(around: Surroundings, scope: Scope, known: Manifest): PlannedMcp {
  const path = mcpPath(around.root)
  const change = planMcpRemoval(around, scope, known)
  const isLeft = change === undefined && hasStintServer(path)
  return {
    file: change === undefined ? {} : { change },
    hasServer: false,
    isGivenUp: true,
    notes: isLeft ? [`the MCP server stays: ${path} is not this setup's alone`] : [],
  }
}

function besideOthers(path: string, server: unknown): PlannedMcp {
  if (server === undefined) {
    return nothing([
      `no MCP server: ${path} is not ours; --mcp adds it there for you, --shared for everybody`,
    ])
  }
  const isCurrent = isDeepStrictEqual(server, MCP_COMMAND)
  const notes = [
    `left alone: ${path} has the server of another version of Stint; --shared brings it up to date`,
  ]
  return { file: {}, hasServer: true, notes: isCurrent ? [] : notes }
}

function nothing(notes: readonly string[]): PlannedMcp {
  return { file: {}, hasServer: false, notes }
}

/** What setup made is this person's until git tracks it. Without a record, its content decides. */
function isOurs(around: Surroundings, { files }: Manifest): boolean {
  const path = mcpPath(around.root)
  const known = files[path]
  if (known !== undefined && known.undo !== 'delete') return true
  if (isKeptByGit(around, path)) return false
  if (known !== undefined) return true
  const isTeams = stintHooks(readOtherSettings(setupPlace('shared', around).settings)).length > 0
  return !isTeams && hasStintServer(path)
}

function isKeptByGit({ root, gitCommonDir }: Surroundings, path: string): boolean {
  try {
    return gitCommonDir !== undefined && isTracked(root, path)
  } catch (error) {
    // Without git, the record has to do.
    if (error instanceof StintError) return false
    throw error
  }
}

function madeAlone(path: string): WrittenFile | undefined {
  const text = readText(path)
  const isAsMade = text !== undefined && text === mcpEdit(path).add('').at(-1)
  return isAsMade ? { sum: sumOf(text), undo: 'delete' } : undefined
}

function writtenElsewhere(
  around: Surroundings,
  scope: Scope,
  path: string,
): WrittenFile | undefined {
  const other = setupPlace(scope === 'local' ? 'shared' : 'local', around).settings
  return readManifest(manifestPath(stateHome(around.env), other), other).files[path]
}

function mcpEdit(path: string): TextEdit {
  const servers = (text: string) => serversIn(path, text)
  return behindMark({
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
    isEmpty: (text) => text.trim() === '' || Object.keys(parse(path, text)).length === 0,
  })
}

const UNREADABLE = Symbol('unreadable')

function serverIn(path: string): unknown {
  try {
    return serversIn(path, readText(path) ?? '')?.[MCP_SERVER]
  } catch (error) {
    if (error instanceof StintError) return UNREADABLE
    throw error
  }
}

function hasStintServer(path: string): boolean {
  return ['current', 'outdated'].includes(serverStatus(path))
}

export function serverStatus(
  path: string,
): 'current' | 'outdated' | 'other' | 'none' | 'unreadable' {
  const server = serverIn(path)
  if (server === undefined) return 'none'
  if (server === UNREADABLE) return 'unreadable'
  if (!isStintServer(server)) return 'other'
  return isDeepStrictEqual(server, MCP_COMMAND) ? 'current' : 'outdated'
}

function serversIn(path: string, text: string): Readonly<Record<string, unknown>> | undefined {
  const parsed = parse(path, text.replace(/^\uFEFF/, ''))
  refuseOddServers(path, parsed)
  return parsed[SERVERS] as Readonly<Record<string, unknown>> | undefined
}

function parse(path: string, text: string): Readonly<Record<string, unknown>> {
  return text.trim() === '' ? {} : parseSettings(path, text)
}
