import { faultyLine } from '../../setup/json-text.ts'
import { isDeepStrictEqual } from 'node:util'
import { StintError } from '../../../journal/errors.ts'
import { AFTER_COMMAND, HOOK_COMMAND, isStintCommand } from '../../setup/hook-command.ts'

export type Settings = Readonly<Record<string, unknown>>

interface HookPosition {
  readonly event: string
  readonly group: number
  readonly hook: number
}

export function parseSettings(path: string, text: string): Settings {
  if (text.trim() === '') return {}
  const settings = parse(path, text)
  if (!isObject(settings)) throw new InvalidSettings(path, 'it is not a JSON object')
  const { hooks } = settings
  if (hooks === undefined) return settings
  if (!isObject(hooks)) throw new InvalidSettings(path, '"hooks" is not an object')
  const odd = Object.entries(hooks).find(([, groups]) => !Array.isArray(groups))
  if (odd !== undefined) throw new InvalidSettings(path, `"hooks.${odd[0]}" is not a list`)
  return settings
}

export function refuseOddEnvironment(path: string, { env }: Settings, name: string): void {
  if (env === undefined) return
  if (!isObject(env)) throw new InvalidSettings(path, '"env" is not an object')
  if (env[name] !== undefined && typeof env[name] !== 'string')
    throw new InvalidSettings(path, `"env.${name}" is not a text`)
}

export function refuseOddServers(path: string, { mcpServers }: Settings): void {
  if (mcpServers !== undefined && !isObject(mcpServers))
    throw new InvalidSettings(path, '"mcpServers" is not an object')
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const line = faultyLine(text)
    throw new InvalidSettings(
      path,
      `it is not valid JSON${line === undefined ? '' : ` (line ${line})`}`,
      { cause: error },
    )
  }
}

class InvalidSettings extends StintError {
  override readonly name = 'InvalidSettings'
  constructor(path: string, reason: string, options?: ErrorOptions) {
    super(
      'SETTINGS_INVALID',
      `${path} cannot be edited: ${reason}; nothing was changed`,
      'Claude Code ignores such a file; correct it and run this again',
      options,
    )
  }
}

export function stintHooks(settings: Settings): readonly HookPosition[] {
  return eventsOf(settings).flatMap(([event, groups]) =>
    groups.flatMap((entry, group) =>
      hooksOf(entry).flatMap((each, hook) =>
        isObject(each) && isStintCommand(each.command) ? [{ event, group, hook }] : [],
      ),
    ),
  )
}

export function currentEvents(
  settings: Settings,
  wanted: ReadonlyMap<string, HookGroup>,
): ReadonlySet<string> {
  const ours = stintHooks(settings)
  const current = [...wanted].filter(([event, group]) => {
    const positions = ours.filter((each) => each.event === event)
    return positions.length === group.hooks.length && areAsWanted(settings, positions, group)
  })
  return new Set(current.map(([event]) => event))
}

export function areHooksCurrent(
  settings: Settings,
  wanted: ReadonlyMap<string, HookGroup>,
): boolean {
  const isElsewhere = stintHooks(settings).some(({ event }) => !wanted.has(event))
  return currentEvents(settings, wanted).size === wanted.size && !isElsewhere
}

/** A foreign hook in the same group does not matter. */
function areAsWanted(
  settings: Settings,
  positions: readonly HookPosition[],
  wanted: HookGroup,
): boolean {
  return positions.every((position, index) => {
    const group = groupAt(settings, position)
    if (
      !isObject(group) ||
      group.matcher !== wanted.matcher ||
      position.group !== positions[0]!.group
    )
      return false
    return isDeepStrictEqual(hooksOf(group)[position.hook], wanted.hooks[index])
  })
}

export type StatusLine = 'none' | 'ours' | 'outdated' | 'theirs'

export function statusLineOf({ statusLine }: Settings, wanted: object): StatusLine {
  if (statusLine === undefined) return 'none'
  if (!isObject(statusLine) || !isStintCommand(statusLine.command)) return 'theirs'
  return isDeepStrictEqual(statusLine, wanted) ? 'ours' : 'outdated'
}

export function enabledPlugin({ enabledPlugins }: Settings): string | undefined {
  if (!isObject(enabledPlugins)) return undefined
  return Object.entries(enabledPlugins).find(
    ([name, isOn]) => name.startsWith(`${PLUGIN}@`) && isOn !== false,
  )?.[0]
}

export function hooksAreDisabled(settings: Settings): boolean {
  return settings.disableAllHooks === true
}

export function eventsOf({ hooks }: Settings): readonly (readonly [string, readonly unknown[]])[] {
  if (!isObject(hooks)) return []
  return Object.entries(hooks).flatMap(([event, groups]) =>
    Array.isArray(groups) ? [[event, groups] as const] : [],
  )
}

export function groupAt(settings: Settings, { event, group }: HookPosition): unknown {
  return eventsOf(settings).find(([name]) => name === event)?.[1][group]
}

export function hooksOf(group: unknown): readonly unknown[] {
  return isObject(group) && Array.isArray(group.hooks) ? group.hooks : []
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// Only events that old clients know: an unknown name makes them silently run no hook at all.

export const OBSERVED_TOOLS =
  'Edit|MultiEdit|Write|NotebookEdit|Bash|TodoWrite|TaskCreate|TaskUpdate|ExitPlanMode|Task|Agent'

interface HookRegistration {
  readonly event: string
  readonly matcher?: string
  readonly options: Readonly<Record<string, unknown>>
  readonly isFollowed?: boolean
}

const OPTIONS = { timeout: 5 }
// Clients that do not know `async` wait for it.
const AFTER_OPTIONS = { async: true, timeout: 30 }

const ALWAYS: readonly HookRegistration[] = [
  { event: 'SessionStart', options: OPTIONS, isFollowed: true },
  { event: 'UserPromptSubmit', options: OPTIONS, isFollowed: true },
  { event: 'PreCompact', options: OPTIONS, isFollowed: true },
  { event: 'PostToolUse', matcher: OBSERVED_TOOLS, options: OPTIONS },
  { event: 'Stop', options: OPTIONS, isFollowed: true },
  { event: 'SubagentStop', options: OPTIONS, isFollowed: true },
  { event: 'SessionEnd', options: OPTIONS },
]

const ON_REQUEST: HookRegistration = { event: 'Notification', options: OPTIONS }

export const NOTIFICATION_EVENT = ON_REQUEST.event

export interface HookGroup {
  readonly matcher?: string
  readonly hooks: readonly Readonly<Record<string, unknown>>[]
}

export function hookGroups({ notify }: { notify: boolean }): ReadonlyMap<string, HookGroup> {
  const registrations = notify ? [...ALWAYS, ON_REQUEST] : ALWAYS
  return new Map(registrations.map((registration) => [registration.event, groupOf(registration)]))
}

function groupOf({ matcher, options, isFollowed }: HookRegistration): HookGroup {
  const after =
    isFollowed === true ? [{ type: 'command', command: AFTER_COMMAND, ...AFTER_OPTIONS }] : []
  const hooks = [{ type: 'command', command: HOOK_COMMAND, ...options }, ...after]
  return matcher === undefined ? { hooks } : { matcher, hooks }
}

export const PLUGIN = 'stint'

export function byEvent(
  groups: ReadonlyMap<string, HookGroup>,
): Readonly<Record<string, readonly HookGroup[]>> {
  return Object.fromEntries([...groups].map(([event, group]) => [event, [group]]))
}
