// Whether hooks are registered, find a Stint, and really fire, and what there is of the MCP server, each from evidence.
import { StintError } from '../../../journal/errors.ts'
import { isRegisteredIn, problemsOf } from './check-problems.ts'
import type { PlaceReport, SetupReport } from './check-report.ts'
import { lastFirings } from './firings.ts'
import { NOTIFICATION_EVENT, hookGroups } from './hook-registrations.ts'
import { type JsonText, loadJsonText } from './json-text.ts'
import { SCOPES, type Scope, type Surroundings, managedSettings, setupPlace } from './places.ts'
import { PLUGIN } from './plugin.ts'
import { probeHookCommand } from './probe.ts'
import { checkServer } from './check-server.ts'
import { readSettings } from './settings-file.ts'
import {
  type Settings,
  areHooksCurrent,
  currentEvents,
  enabledPlugin,
  hooksAreDisabled,
  stintHooks,
} from './settings.ts'
import { startNote } from './start-folder.ts'
import { defined } from '../../../text/defined.ts'

interface Checked {
  /** The folder that it is asked in, which may lie inside the project. */
  readonly cwd: string
  /** Where hooks note that they fired. */
  readonly conversations: string
  /** Whether hooks do anything here: in a repository, or a folder that has sessions. */
  readonly isProject: boolean
}

/** Looks at everything, changes nothing. */
export async function checkSetup(
  around: Surroundings,
  { cwd, conversations, isProject }: Checked,
): Promise<SetupReport> {
  const json = await loadJsonText()
  const read = SCOPES.map((scope) => readPlace(json, scope, around))
  const places = read.map(({ report }) => report)
  const managed = managedSettings().map((path) => ({ path, settings: readOrNothing(json, path) }))
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
      json,
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

/** The settings that have our hooks. */
export async function registeredScopes(around: Surroundings): Promise<readonly Scope[]> {
  const json = await loadJsonText()
  return SCOPES.filter((scope) => isRegisteredIn(readPlace(json, scope, around).report))
}

function readPlace(
  json: JsonText,
  scope: Scope,
  around: Surroundings,
): { report: PlaceReport; settings: Settings } {
  const path = setupPlace(scope, around).settings
  try {
    const settings = readSettings(json, path)
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

function readOrNothing(json: JsonText, path: string): Settings {
  try {
    return readSettings(json, path)
  } catch {
    // Not ours to judge: the machine's administrator keeps it, and it may be barred to us.
    return {}
  }
}
