import type {
  Checked,
  PlaceReport,
  Scope,
  ServerPlace,
  ServerReport,
  SetupReport,
  Surroundings,
} from '../../contract/setup.ts'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isRegisteredIn, problemsOf } from './check-problems.ts'
import { mcpPath, serverStatus } from './mcp-file.ts'
import { SCOPES, managedSettings, setupPlace, startNote } from './places.ts'
import { PLUGIN } from './plugin.ts'
import { probeHookCommand, probeServer } from './probe.ts'
import { approvalIn } from './settings-edit.ts'
import { readSettings } from './settings-file.ts'
import {
  NOTIFICATION_EVENT,
  type Settings,
  areHooksCurrent,
  currentEvents,
  enabledPlugin,
  hookGroups,
  hooksAreDisabled,
  isObject,
  stintHooks,
} from './settings.ts'
import { StintError } from '../../../journal/errors.ts'
import { namesIn, readOrUndefined, statOrUndefined } from '../../../journal/look.ts'
import { defined } from '../../../text/defined.ts'
import { MCP_COMMAND, MCP_SERVER } from '../../setup/mcp-command.ts'

export async function checkSetup(
  around: Surroundings,
  { cwd, conversations, isProject }: Checked,
): Promise<SetupReport> {
  const read = SCOPES.map((scope) => readPlace(scope, around))
  const places = read.map(({ report }) => report)
  const managed = managedSettings().map((path) => ({ path, settings: readOrNothing(path) }))
  const files = [
    ...read.map(({ report, settings }) => ({ path: report.path, settings })),
    ...managed,
  ]
  const disabledBy = files
    .filter(({ settings }) => hooksAreDisabled(settings))
    .map(({ path }) => path)
  const firings = lastFirings(conversations)
  const events = [
    ...hookGroups({
      notify: places.some((place) => place.events.includes(NOTIFICATION_EVENT)),
    }).keys(),
  ]
  const findings = {
    places,
    disabledBy,
    command: probeHookCommand(around),
    server: await checkServer(
      around,
      files.map(({ settings }) => settings),
    ),
    fired: Object.fromEntries(events.map((event) => [event, firings.get(event) ?? null])),
    notes: startNote(
      places.flatMap((place) => (isRegisteredIn(place) ? [place.scope] : [])),
      around,
      cwd,
    ),
  }
  const problems = problemsOf(findings, isProject)
  return { ...findings, problems, isWorking: problems.length === 0 }
}

export function registeredScopes(around: Surroundings): readonly Scope[] {
  return SCOPES.filter((scope) => isRegisteredIn(readPlace(scope, around).report))
}

function readPlace(
  scope: Scope,
  around: Surroundings,
): { report: PlaceReport; settings: Settings } {
  const path = setupPlace(scope, around).settings
  try {
    const settings = readSettings(path)
    return { report: reportOn(scope, path, settings), settings }
  } catch (error) {
    if (!(error instanceof StintError)) throw error
    return {
      report: { scope, path, status: 'unreadable', events: [], reason: error.message },
      settings: {},
    }
  }
}

function reportOn(scope: Scope, path: string, settings: Settings): PlaceReport {
  const ours = stintHooks(settings)
  const groups = hookGroups({ notify: ours.some(({ event }) => event === NOTIFICATION_EVENT) })
  const status =
    ours.length === 0 ? 'none' : areHooksCurrent(settings, groups) ? 'current' : 'outdated'
  const plugin = enabledPlugin(settings, PLUGIN)
  return {
    scope,
    path,
    status,
    events: [...currentEvents(settings, groups)],
    ...defined({ plugin }),
  }
}

function readOrNothing(path: string): Settings {
  try {
    return readSettings(path)
  } catch {
    // The administrator's file; it may be unreadable for us.
    return {}
  }
}

export async function checkServer(
  around: Surroundings,
  settings: readonly Settings[],
): Promise<ServerReport> {
  const path = mcpPath(around.root)
  const status = serverStatus(path)
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
    // Never what the file says: a foreign repository could have anything there.
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
    // Claude Code's own file; it may be unreadable or half-written.
    return {}
  }
}

const LIMIT = 200

export function lastFirings(folder: string): ReadonlyMap<string, string> {
  const latest = new Map<string, string>()
  for (const [event, at] of newestNotes(folder).flatMap(firingsIn)) {
    if ((latest.get(event) ?? '') < at) latest.set(event, at)
  }
  return latest
}

function newestNotes(folder: string): readonly string[] {
  return namesIn(folder)
    .filter((name) => name.endsWith('.json') && !name.startsWith('.'))
    .map((name) => join(folder, name))
    .map((path) => ({ path, writtenAt: statOrUndefined(path)?.mtimeMs ?? 0 }))
    .toSorted((a, b) => b.writtenAt - a.writtenAt)
    .slice(0, LIMIT)
    .map(({ path }) => path)
}

/** State that is unreadable or of another harness counts for nothing. */
function firingsIn(path: string): readonly (readonly [string, string])[] {
  const notes = parsed(readOrUndefined(path)?.toString('utf8') ?? '')
  if (!isObject(notes) || !isObject(notes.fired) || (notes.harness ?? 'claude') !== 'claude')
    return []
  return Object.entries(notes.fired).flatMap(([event, at]) =>
    isTime(at) ? [[event, new Date(at).toISOString()] as const] : [],
  )
}

function isTime(value: unknown): value is string {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Half-written when the power failed.
    return undefined
  }
}
