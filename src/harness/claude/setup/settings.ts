// What a settings file of Claude Code says about us.
import { isDeepStrictEqual } from 'node:util'
import { StintError } from '../../../journal/errors.ts'
import {
  AFTER_COMMAND,
  HOOK_COMMAND,
  STATUS_LINE_COMMAND,
  isStintCommand,
} from '../../setup/hook-command.ts'
import { faultyLine } from '../../setup/json-text.ts'
import { readText } from '../../setup/plan.ts'
import { withoutMark } from '../../setup/planned-file.ts'

export type Settings = Readonly<Record<string, unknown>>

/** An empty file says nothing. */
export function parseSettings(path: string, text: string): Settings {
  if (text.trim() === '') return {}
  const settings = parse(path, text)
  if (!isObject(settings)) throw invalidSettings(path, 'it is not a JSON object')
  const { hooks } = settings
  if (hooks === undefined) return settings
  if (!isObject(hooks)) throw invalidSettings(path, '"hooks" is not an object')
  const odd = Object.entries(hooks).find(([, groups]) => !Array.isArray(groups))
  if (odd !== undefined) throw invalidSettings(path, `"hooks.${odd[0]}" is not a list`)
  return settings
}

function parse(path: string, text: string) {
  try {
    return JSON.parse(text)
  } catch (error) {
    const line = faultyLine(text)
    const where = line === undefined ? '' : ` (line ${line})`
    throw invalidSettings(path, `it is not valid JSON${where}`, { cause: error })
  }
}

export function invalidSettings(path: string, reason: string, options?: ErrorOptions): StintError {
  return new StintError(
    'SETTINGS_INVALID',
    `${path} cannot be edited: ${reason}; nothing was changed`,
    'Claude Code ignores such a file; correct it and run this again',
    options,
  )
}

export function readSettings(path: string): Settings {
  return parseSettings(path, withoutMark(readText(path) ?? ''))
}

/** Claude Code ignores settings that it cannot read. */
export function readOtherSettings(path: string): Settings {
  try {
    return readSettings(path)
  } catch (error) {
    if (error instanceof StintError) return {}
    throw error
  }
}

interface HookPosition {
  readonly event: string
  readonly group: number
  readonly hook: number
}

/** Our hooks, in order. */
export function stintHooks(settings: Settings): readonly HookPosition[] {
  return eventsOf(settings).flatMap(([event, groups]) =>
    groups.flatMap((entry, group) =>
      hooksOf(entry).flatMap((each, hook) =>
        isObject(each) && isStintCommand(each.command) ? [{ event, group, hook }] : [],
      ),
    ),
  )
}

/** The events that our hooks are registered for as they should be. */
export function currentEvents(
  settings: Settings,
  wanted: ReadonlyMap<string, HookGroup>,
): readonly string[] {
  const ours = stintHooks(settings)
  return [...wanted].flatMap(([event, { matcher, hooks }]) => {
    const positions = ours.filter((each) => each.event === event)
    // A foreign hook in the same group does not matter.
    const areCurrent = positions.every((position, index) => {
      const group = groupAt(settings, position)
      return (
        isObject(group) &&
        group.matcher === matcher &&
        position.group === positions[0]!.group &&
        isDeepStrictEqual(hooksOf(group)[position.hook], hooks[index])
      )
    })
    return areCurrent && positions.length === hooks.length ? [event] : []
  })
}

export function areHooksCurrent(
  settings: Settings,
  wanted: ReadonlyMap<string, HookGroup>,
): boolean {
  const isElsewhere = stintHooks(settings).some(({ event }) => !wanted.has(event))
  return currentEvents(settings, wanted).length === wanted.size && !isElsewhere
}

export const STATUS_LINE = { type: 'command', command: STATUS_LINE_COMMAND }

export function statusLineOf({ statusLine }: Settings): 'none' | 'ours' | 'outdated' | 'theirs' {
  if (statusLine === undefined) return 'none'
  if (!isObject(statusLine) || !isStintCommand(statusLine.command)) return 'theirs'
  return isDeepStrictEqual(statusLine, STATUS_LINE) ? 'ours' : 'outdated'
}

export const PLUGIN = 'stint'

/** The plugin of ours that a settings file turns on. */
export function enabledPlugin({ enabledPlugins }: Settings): string | undefined {
  return Object.entries(isObject(enabledPlugins) ? enabledPlugins : {}).find(
    ([name, isOn]) => name.startsWith(`${PLUGIN}@`) && isOn !== false,
  )?.[0]
}

export function eventsOf({ hooks }: Settings): readonly (readonly [string, readonly unknown[]])[] {
  return Object.entries(isObject(hooks) ? hooks : {}).flatMap(([event, groups]) =>
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

/** Reading and searching tell nothing that is worth a process. */
const OBSERVED_TOOLS =
  'Edit|MultiEdit|Write|NotebookEdit|Bash|TodoWrite|TaskCreate|TaskUpdate|ExitPlanMode|Task|Agent'

// Only events that old clients know: an unknown name makes them silently run no hook at all.
const EVENTS = [
  { event: 'SessionStart', isFollowed: true },
  { event: 'UserPromptSubmit', isFollowed: true },
  { event: 'PreCompact', isFollowed: true },
  { event: 'PostToolUse', matcher: OBSERVED_TOOLS },
  { event: 'Stop', isFollowed: true },
  { event: 'SubagentStop', isFollowed: true },
  { event: 'SessionEnd' },
]

export const NOTIFICATION_EVENT = 'Notification'

const HOOK = { type: 'command', command: HOOK_COMMAND, timeout: 5 }
// Clients that do not know `async` wait for it.
const AFTER = { type: 'command', command: AFTER_COMMAND, async: true, timeout: 30 }

/** What stands in a settings file under one event. */
export interface HookGroup {
  readonly matcher?: string
  readonly hooks: readonly Readonly<Record<string, unknown>>[]
}

/** The groups to register, by event. */
export function hookGroups({ notify }: { notify: boolean }): ReadonlyMap<string, HookGroup> {
  return new Map(
    [...EVENTS, ...(notify ? [{ event: NOTIFICATION_EVENT }] : [])].map(
      ({ event, matcher, isFollowed }: (typeof EVENTS)[number]) => [
        event,
        { ...(matcher ? { matcher } : {}), hooks: isFollowed ? [HOOK, AFTER] : [HOOK] },
      ],
    ),
  )
}

export function byEvent(
  groups: ReadonlyMap<string, HookGroup>,
): Readonly<Record<string, readonly HookGroup[]>> {
  return Object.fromEntries([...groups].map(([event, group]) => [event, [group]]))
}
