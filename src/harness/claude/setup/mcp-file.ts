// Our MCP server in the project's `.mcp.json`. The other place that Claude Code reads is a file of the user's own that it
// rewrites all the time, and which is not ours to edit.
import { isDeepStrictEqual } from 'node:util'
import { join } from 'node:path'
import { MCP_COMMAND, MCP_FILE, MCP_SERVER, isStintServer } from '../../mcp-command.ts'
import { readText } from './changes.ts'
import { type PlannedFile, type TextEdit, planEdit, planTakingOut } from './edited-file.ts'
import type { JsonText } from './json-text.ts'
import { type Manifest, type WrittenFile, manifestPath, readManifest } from './manifest.ts'
import { type Scope, type Surroundings, machineFolder, setupPlace } from './places.ts'
import { parseSettings } from './settings.ts'
import { behindMark } from './settings-file.ts'

const SERVERS = 'mcpServers'

export function mcpPath(root: string): string {
  return join(root, '.mcp.json')
}

interface PlannedMcp {
  readonly file: PlannedFile
  /** What is there already by a setup for one person, and is the team's from now on too. */
  readonly claimed?: Readonly<Record<string, WrittenFile>>
  readonly notes: readonly string[]
}

/** What comes of registering the server, when it is asked for or was once. */
export function planMcp(json: JsonText, around: Surroundings, scope: Scope, isWanted: boolean, known: Manifest): PlannedMcp {
  const path = mcpPath(around.root)
  if (scope === 'user' || (!isWanted && known.files[path] === undefined)) return { file: {}, notes: [] }
  const before = readText(path)
  const edit = mcpEdit(json, path)
  const present = before === undefined ? undefined : serversIn(json, path, before)?.[MCP_SERVER]
  if (present !== undefined && !isStintServer(present)) {
    return { file: {}, notes: [`left alone: ${path} has a server named ${MCP_SERVER} that is not ours`] }
  }
  const file = planEdit(path, edit, known.files[path])
  const claimed = scope === 'shared' && file.change === undefined ? writtenElsewhere(around, scope, path) : undefined
  if (claimed !== undefined) return { file, claimed: { [path]: claimed }, notes: [] }
  const isSeen = scope === 'local' && before !== undefined && file.change !== undefined
  return { file, notes: isSeen ? [`${path} was there before, so that git may see this change of it`] : [] }
}

/** What comes of taking it out again, if it is this setup's, and no other of the project needs it. */
export function planMcpRemoval(json: JsonText, around: Surroundings, scope: Scope, known: Manifest) {
  const path = mcpPath(around.root)
  const isOurs = known.files[path] !== undefined || (scope === 'shared' && readText(path) !== undefined)
  if (scope === 'user' || !isOurs || writtenElsewhere(around, scope, path) !== undefined) return undefined
  return planTakingOut(path, mcpEdit(json, path), known.files[path])
}

function writtenElsewhere(around: Surroundings, scope: Scope, path: string): WrittenFile | undefined {
  const other = setupPlace(scope === 'local' ? 'shared' : 'local', around).settings
  return readManifest(manifestPath(machineFolder(around), other), other).files[path]
}

function mcpEdit(json: JsonText, path: string): TextEdit {
  const servers = (text: string) => serversIn(json, path, text)
  return behindMark({
    isCurrent: (text) => isDeepStrictEqual(servers(text)?.[MCP_SERVER], MCP_COMMAND),
    add(text) {
      const texts = text.trim() === '' ? [text, '{}\n'] : [text]
      const last = texts.at(-1)!
      const added =
        servers(last) === undefined
          ? json.addMember(last, [], SERVERS, MCP_FILE[SERVERS])
          : json.addMember(last, [SERVERS], MCP_SERVER, MCP_COMMAND)
      return [...texts, added]
    },
    takeOut(text, known) {
      if (!isStintServer(servers(text)?.[MCP_SERVER])) return text
      const rest = json.remove(text, [SERVERS, MCP_SERVER])
      const isEmptied = Object.keys(servers(rest) ?? {}).length === 0
      return isEmptied && known?.kept?.includes(SERVERS) !== true ? json.remove(rest, [SERVERS]) : rest
    },
    containers: (text) => (servers(text) === undefined ? [] : [SERVERS]),
    added: () => [],
    isEmpty: (text) => text.trim() === '' || Object.keys(parse(json, path, text)).length === 0,
  })
}

function serversIn(json: JsonText, path: string, text: string): Readonly<Record<string, unknown>> | undefined {
  const servers = parse(json, path, text.replace(/^\uFEFF/, ''))[SERVERS]
  return typeof servers === 'object' && servers !== null ? (servers as Readonly<Record<string, unknown>>) : undefined
}

function parse(json: JsonText, path: string, text: string): Readonly<Record<string, unknown>> {
  return text.trim() === '' ? {} : parseSettings(path, text, json.faultyLine)
}
