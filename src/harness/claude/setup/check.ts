import { homedir } from 'node:os'
import { join } from 'node:path'
import { StintError } from '../../../journal/errors.ts'
import { listFolder, readOrUndefined, statOrUndefined } from '../../../journal/read-files.ts'
import { defined } from '../../../text/defined.ts'
import { asObject, parseJson } from '../../../text/json-fields.ts'
import type {
  SetupCheckOptions,
  SettingsFileReport,
  SetupScope,
  ServerReport,
  SetupProblem,
  SetupReport,
  ProjectEnvironment,
} from '../../contract/setup.ts'
import { PROBE_ANSWER } from '../../setup/hook-command.ts'
import { MCP_COMMAND, MCP_SERVER } from '../../setup/launcher.ts'
import { mcpPath, serverStatus } from './mcp-file.ts'
import { SCOPES, managedSettingsPaths, setupPaths, startFolderNote } from './paths.ts'
import { probeHookCommand, probeServer } from './probe.ts'
import { mcpApproval } from './settings-edit.ts'
import {
  NOTIFICATION_EVENT,
  type ClaudeSettings,
  areHooksCurrent,
  currentEvents,
  enabledPlugin,
  hookGroups,
  readClaudeSettings,
  stintHooks,
} from './settings.ts'

export async function checkClaudeSetup(
  project: ProjectEnvironment,
  { cwd, conversations, isProject }: SetupCheckOptions,
): Promise<SetupReport> {
  const read = SCOPES.map((scope) => readSettingsFile(scope, project))
  const places = read.map(({ report }) => report)
  const files = [
    ...read.map(({ report, settings }) => ({ path: report.path, settings })),
    ...managedSettingsPaths().map((path) => ({ path, settings: readManaged(path) })),
  ]
  const firings = lastFiredTimes(conversations)
  const notify = places.some((report) => report.events.includes(NOTIFICATION_EVENT))
  const events = [...hookGroups({ notify }).keys()]
  const registered = places.filter(isRegisteredIn).map(({ scope }) => scope)
  const findings = {
    places,
    disabledBy: files
      .filter(({ settings }) => settings.disableAllHooks === true)
      .map(({ path }) => path),
    command: probeHookCommand(project),
    server: await checkServer(
      project,
      files.map(({ settings }) => settings),
    ),
    fired: Object.fromEntries(events.map((event) => [event, firings.get(event) ?? null])),
    notes: startFolderNote(registered, project, cwd),
  }
  const problems = findProblems(findings, isProject)
  return { ...findings, problems, isWorking: problems.length === 0 }
}

export function registeredScopes(project: ProjectEnvironment): readonly SetupScope[] {
  return SCOPES.filter((scope) => isRegisteredIn(readSettingsFile(scope, project).report))
}

function readSettingsFile(
  scope: SetupScope,
  project: ProjectEnvironment,
): { report: SettingsFileReport; settings: ClaudeSettings } {
  const path = setupPaths(scope, project).settings
  try {
    const settings = readClaudeSettings(path)
    const stintHookPositions = stintHooks(settings)
    const groups = hookGroups({
      notify: stintHookPositions.some(({ event }) => event === NOTIFICATION_EVENT),
    })
    const registered = areHooksCurrent(settings, groups) ? 'current' : 'outdated'
    const status = stintHookPositions.length === 0 ? 'none' : registered
    const plugin = enabledPlugin(settings)
    const events = currentEvents(settings, groups)
    return { report: { scope, path, status, events, ...defined({ plugin }) }, settings }
  } catch (error) {
    if (!(error instanceof StintError)) throw error
    const reason = error.message
    return { report: { scope, path, status: 'unreadable', events: [], reason }, settings: {} }
  }
}

function readManaged(path: string) {
  try {
    return readClaudeSettings(path)
  } catch {
    // The administrator's file may be unreadable for us.
    return {}
  }
}

async function checkServer(
  project: ProjectEnvironment,
  settings: readonly ClaudeSettings[],
): Promise<ServerReport> {
  const path = mcpPath(project.root)
  const status = serverStatus(path)
  const ownPath = join(
    project.env.CLAUDE_CONFIG_DIR || project.env.HOME || homedir(),
    '.claude.json',
  )
  const own = readClaudeState(ownPath)
  const projectState = asObject(asObject(own.projects)?.[project.root]) ?? {}
  const isOurs = status === 'current' || status === 'outdated'
  const hasServer = [own, projectState].some(
    ({ mcpServers }) => asObject(mcpServers)?.[MCP_SERVER] !== undefined,
  )
  return {
    places: [
      ...(status === 'none' ? [] : [{ path, status }]),
      ...(hasServer ? [{ path: ownPath, status: 'other' as const }] : []),
    ],
    approval: isOurs ? approvalBy([...settings, projectState]) : null,
    // Never starts the command in the file: a foreign repository could put anything there.
    answer: isOurs ? await probeServer(MCP_COMMAND, project) : null,
  }
}

function approvalBy(settings: readonly ClaudeSettings[]) {
  const decisions = new Set(settings.map(mcpApproval))
  const isOff = settings.some(
    ({ disabledMcpServers: list }) => Array.isArray(list) && list.includes(MCP_SERVER),
  )
  if (isOff || decisions.has('refused')) return 'refused'
  return decisions.has('approved') ? 'approved' : 'asked'
}

function readClaudeState(path: string) {
  try {
    return asObject(parseJson(readOrUndefined(path)?.toString('utf8') ?? '')) ?? {}
  } catch {
    // Stint may not be allowed to read Claude Code's own file.
    return {}
  }
}

const MAX_CONVERSATIONS = 200

/** When each event last fired in a project, from the conversation states that hooks write. */
function lastFiredTimes(folder: string): ReadonlyMap<string, string> {
  const latest = new Map<string, string>()
  const newest = listFolder(folder)
    .filter((name) => /^[^.].*\.json$/.test(name))
    .map((name) => join(folder, name))
    .map((path) => ({ path, writtenAt: statOrUndefined(path)?.mtimeMs ?? 0 }))
    .toSorted((a, b) => b.writtenAt - a.writtenAt)
    .slice(0, MAX_CONVERSATIONS)
  for (const { path } of newest) {
    // Unreadable states and those of other harnesses are skipped.
    const state = asObject(parseJson(readOrUndefined(path)?.toString('utf8') ?? ''))
    if ((state?.harness ?? 'claude') !== 'claude') continue
    for (const [event, value] of Object.entries(asObject(state?.fired) ?? {})) {
      const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
      const at = Number.isNaN(time) ? '' : new Date(time).toISOString()
      if (at > (latest.get(event) ?? '')) latest.set(event, at)
    }
  }
  return latest
}

type SetupFindings = Omit<SetupReport, 'problems' | 'isWorking'>

const FLAG = { local: '', shared: ' --shared', user: ' --user' }

function findProblems(
  { places, disabledBy, command, server, fired }: SetupFindings,
  isProject: boolean,
): readonly SetupProblem[] {
  const problems: SetupProblem[] = []
  const add = (kind: SetupProblem['kind'], what: string, advice: string) =>
    problems.push({ kind, what, advice })
  const isRegistered = places.some(isRegisteredIn)
  for (const { status, scope, path, reason } of places) {
    if (status === 'unreadable')
      add('unreadable', reason ?? path, 'Claude Code ignores such a file; correct it')
    if (status === 'outdated')
      add(
        'outdated',
        `${path} is from another version of Stint`,
        `stint setup claude${FLAG[scope]}`,
      )
  }
  if (!isRegistered) add('not registered', 'no hooks are registered', 'stint setup claude')
  for (const path of disabledBy)
    add('disabled', `${path} turns every hook off`, 'take "disableAllHooks" out of it')
  // Claude Code runs identical commands of several settings files once, but those of a plugin
  // again.
  const settings = places.find(({ status }) => status === 'current' || status === 'outdated')
  const plugin = places.find((report) => report.plugin !== undefined)?.plugin
  if (settings !== undefined && plugin !== undefined)
    add(
      'twice',
      `hooks run twice: ${settings.path} registers them, and so does the plugin ${plugin}`,
      `stint setup claude${FLAG[settings.scope]} --remove, or: claude plugin uninstall ${plugin}`,
    )
  const { program, exitCode, output } = command
  if (program === null)
    add(
      'not found',
      'no launcher on this machine names a Stint and its Node, so that hooks do nothing',
      'stint setup claude',
    )
  else if (exitCode !== 0 || output !== PROBE_ANSWER) {
    const printed = output === '' ? ' and said nothing' : `, saying: ${output.slice(0, 200)}`
    add(
      'not answering',
      `the hook command ended with ${exitCode ?? 'a signal'}${printed}`,
      'stint doctor shows what went wrong',
    )
  }
  // Only a server that setup registered is checked: leaving it out or refusing it is no problem.
  for (const { status, path } of server.places)
    if (status === 'outdated')
      add(
        'server outdated',
        `the MCP server in ${path} is from another version of Stint`,
        'stint setup claude, or with --shared',
      )
  if (server.answer?.isWell === false && program !== null)
    add(
      'server not answering',
      `the MCP server does not answer: ${server.answer.said}`,
      'stint mcp < /dev/null says why; stint setup claude --no-mcp leaves it out',
    )
  if (!isProject)
    add(
      'no project',
      'this folder is neither a git repository nor has sessions (.sessions/), so that hooks do nothing here',
      'git init, or: stint setup claude, which makes the folder for sessions',
    )
  else if (isRegistered && Object.values(fired).every((at) => at === null))
    add(
      'never fired',
      'no hook has fired in this project yet',
      'start claude here, accept that the folder is trusted, type a prompt, and check again',
    )
  return problems
}

/** A plugin registers hooks just as settings do. */
function isRegisteredIn({ status, plugin }: SettingsFileReport): boolean {
  return status === 'current' || status === 'outdated' || plugin !== undefined
}
