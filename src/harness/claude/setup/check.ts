import type {
  Checked,
  PlaceReport,
  Scope,
  ServerPlace,
  ServerReport,
  SetupProblem,
  SetupReport,
  Surroundings,
} from '../../contract/setup.ts'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { mcpPath, serverStatus } from './mcp-file.ts'
import { SCOPES, managedSettings, setupPlace, startNote } from './places.ts'
import { probeHookCommand, probeServer } from './probe.ts'
import { approvalIn, readSettings } from './settings-edit.ts'
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
import { MCP_COMMAND, MCP_SERVER } from '../../setup/launcher.ts'
import { PROBE_ANSWER } from '../../setup/hook-command.ts'

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
  const plugin = enabledPlugin(settings)
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

export function problemsOf(
  findings: Omit<SetupReport, 'problems' | 'isWorking'>,
  isProject: boolean,
): readonly SetupProblem[] {
  const ofUse = isProject ? ofFirings(findings) : [NO_PROJECT]
  return [
    ...ofFiles(findings),
    ...ofBoth(findings),
    ...ofCommand(findings),
    ...ofServer(findings),
    ...ofUse,
  ]
}

const NO_PROJECT: SetupProblem = {
  kind: 'no project',
  what: 'this folder is neither a git repository nor has sessions (.sessions/), so that hooks do nothing here',
  advice: 'git init, or: stint setup claude, which makes the folder for sessions',
}

const FLAG = { local: '', shared: ' --shared', user: ' --user' }

type Findings = Parameters<typeof problemsOf>[0]

function ofFiles({ places, disabledBy }: Findings): readonly SetupProblem[] {
  const each = places.flatMap(({ status, scope, path, reason }): SetupProblem[] => {
    if (status === 'unreadable') {
      return [
        {
          kind: 'unreadable',
          what: reason ?? path,
          advice: 'Claude Code ignores such a file; correct it',
        },
      ]
    }
    if (status !== 'outdated') return []
    return [
      {
        kind: 'outdated',
        what: `${path} is from another version of Stint`,
        advice: `stint setup claude${FLAG[scope]}`,
      },
    ]
  })
  const missing: SetupProblem = {
    kind: 'not registered',
    what: 'no hooks are registered',
    advice: 'stint setup claude',
  }
  const disabled = disabledBy.map((path): SetupProblem => ({
    kind: 'disabled',
    what: `${path} turns every hook off`,
    advice: 'take "disableAllHooks" out of it',
  }))
  return [...each, ...(isRegistered({ places }) ? [] : [missing]), ...disabled]
}

/**
 * Claude Code runs identical commands of several settings files once, but those of a plugin again.
 */
function ofBoth({ places }: Findings): readonly SetupProblem[] {
  const settings = places.find(({ status }) => status === 'current' || status === 'outdated')
  const plugin = places.find((place) => place.plugin !== undefined)?.plugin
  if (settings === undefined || plugin === undefined) return []
  return [
    {
      kind: 'twice',
      what: `hooks run twice: ${settings.path} registers them, and so does the plugin ${plugin}`,
      advice: `stint setup claude${FLAG[settings.scope]} --remove, or: claude plugin uninstall ${plugin}`,
    },
  ]
}

function ofCommand({ command }: Findings): readonly SetupProblem[] {
  const { foundBy, exitCode, output } = command
  if (foundBy !== null && (exitCode !== 0 || output !== PROBE_ANSWER)) {
    const said = output === '' ? ' and said nothing' : `, saying: ${output.slice(0, 200)}`
    return [
      {
        kind: 'not answering',
        what: `the hook command ended with ${exitCode ?? 'a signal'}${said}`,
        advice: 'stint doctor shows what went wrong',
      },
    ]
  }
  if (foundBy !== null) return []
  return [
    {
      kind: 'not found',
      what: 'the hook command finds no Stint on this machine',
      advice: 'npm install --global stint, then: stint setup claude',
    },
  ]
}

/** Only a server that setup registered: leaving it out or refusing it is no problem. */
function ofServer({ server, command }: Findings): readonly SetupProblem[] {
  const outdated = server.places
    .filter(({ status }) => status === 'outdated')
    .map(({ path }): SetupProblem => ({
      kind: 'server outdated',
      what: `the MCP server in ${path} is from another version of Stint`,
      advice: 'stint setup claude, or with --shared',
    }))
  if (server.answer === null || server.answer.isWell || command.foundBy === null) return outdated
  return [
    ...outdated,
    {
      kind: 'server not answering',
      what: `the MCP server does not answer: ${server.answer.said}`,
      advice: 'stint mcp < /dev/null says why; stint setup claude --no-mcp leaves it out',
    },
  ]
}

function ofFirings({ places, fired }: Findings): readonly SetupProblem[] {
  if (!isRegistered({ places }) || Object.values(fired).some((at) => at !== null)) return []
  return [
    {
      kind: 'never fired',
      what: 'no hook has fired in this project yet',
      advice:
        'start claude here, accept that the folder is trusted, type a prompt, and check again',
    },
  ]
}

function isRegistered({ places }: Pick<Findings, 'places'>): boolean {
  return places.some(isRegisteredIn)
}

export function isRegisteredIn({ status, plugin }: PlaceReport): boolean {
  return status === 'current' || status === 'outdated' || plugin !== undefined
}
