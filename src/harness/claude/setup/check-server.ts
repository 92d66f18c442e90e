// Where the MCP server is registered, whether it may be started, and whether it answers.
import { homedir } from 'node:os'
import { join } from 'node:path'
import { readOrUndefined } from '../../../journal/look.ts'
import { MCP_COMMAND, MCP_SERVER } from '../../setup/mcp-command.ts'
import type { ServerPlace, ServerReport } from './check-report.ts'
import type { JsonText } from './json-text.ts'
import { approvalIn } from './mcp-approval.ts'
import { mcpPath, serverStatus } from './mcp-file.ts'
import type { Surroundings } from './places.ts'
import { probeServer } from './server-probe.ts'
import { type Settings, isObject } from './settings.ts'

/** Looks into the project's file and the user's own, which Claude Code keeps, and starts what a setup registered. */
export async function checkServer(
  json: JsonText,
  around: Surroundings,
  settings: readonly Settings[],
): Promise<ServerReport> {
  const path = mcpPath(around.root)
  const status = serverStatus(json, path)
  const own = readOwn(around)
  const places: readonly ServerPlace[] = [
    ...(status === 'none' ? [] : [{ path, status }]),
    ...(hasServer(own) || hasServer(ofProject(own, around))
      ? [{ path: ownPath(around), status: 'other' as const }]
      : []),
  ]
  const isOurs = status === 'current' || status === 'outdated'
  return {
    places,
    approval: isOurs ? approvalBy([...settings, ofProject(own, around)]) : null,
    // Never what stands in the file: a repository from elsewhere could have anything there.
    answer: isOurs ? await probeServer(MCP_COMMAND, around) : null,
  }
}

function approvalBy(settings: readonly Settings[]): 'approved' | 'refused' | 'asked' {
  const said = new Set(settings.map(approvalIn))
  const isOff = settings.some(
    ({ disabledMcpServers: list }) => Array.isArray(list) && list.includes(MCP_SERVER),
  )
  if (isOff || said.has('refused')) return 'refused'
  return said.has('approved') ? 'approved' : 'asked'
}

function hasServer({ mcpServers }: Settings): boolean {
  return isObject(mcpServers) && mcpServers[MCP_SERVER] !== undefined
}

/** What Claude Code keeps about one project. */
function ofProject({ projects }: Settings, { root }: Surroundings): Settings {
  const project = isObject(projects) ? projects[root] : undefined
  return isObject(project) ? project : {}
}

function ownPath({ env: { CLAUDE_CONFIG_DIR: folder, HOME: home } }: Surroundings): string {
  return join(folder || home || homedir(), '.claude.json')
}

function readOwn(around: Surroundings): Settings {
  try {
    const own: unknown = JSON.parse(readOrUndefined(ownPath(around))?.toString('utf8') ?? '{}')
    return isObject(own) ? own : {}
  } catch {
    // Claude Code's own, and not ours to judge: it may be barred to us, or just being written.
    return {}
  }
}
