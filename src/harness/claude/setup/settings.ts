// The parts of Claude Code's settings that concern us.
import { isDeepStrictEqual } from 'node:util'
import { StintError } from '../../../journal/errors.ts'
import {
  AFTER_COMMAND,
  HOOK_COMMAND,
  STATUS_LINE_COMMAND,
  isStintCommand,
} from '../../setup/hook-command.ts'
import { syntaxErrorLine } from '../../setup/edit-json.ts'
import { readText } from '../../setup/plan.ts'
import { withoutBom } from '../../setup/plan-files.ts'

export type ClaudeSettings = Readonly<Record<string, unknown>>

/** An empty file counts as empty settings. */
export function parseSettings(path: string, text: string): ClaudeSettings {
  if (text.trim() === '') return {}
  const settings = parse(path, text)
  if (!isPlainObject(settings)) throw invalidSettings(path, 'it is not a JSON object')
  const { hooks } = settings
  if (hooks === undefined) return settings
  if (!isPlainObject(hooks)) throw invalidSettings(path, '"hooks" is not an object')
  const malformed = Object.entries(hooks).find(([, groups]) => !Array.isArray(groups))
  if (malformed !== undefined) throw invalidSettings(path, `"hooks.${malformed[0]}" is not a list`)
  return settings
}

function parse(path: string, text: string) {
  try {
    return JSON.parse(text)
  } catch (error) {
    const line = syntaxErrorLine(text)
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

export function readClaudeSettings(path: string): ClaudeSettings {
  return parseSettings(path, withoutBom(readText(path) ?? ''))
}

/** Claude Code ignores settings that it cannot read. */
export function readClaudeSettingsOrEmpty(path: string): ClaudeSettings {
  try {
    return readClaudeSettings(path)
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

/** Our hooks, in file order. */
export function stintHooks(settings: ClaudeSettings): readonly HookPosition[] {
  return hookEvents(settings).flatMap(([event, groups]) =>
    groups.flatMap((entry, group) =>
      hooksInGroup(entry).flatMap((each, hook) =>
        isPlainObject(each) && isStintCommand(each.command) ? [{ event, group, hook }] : [],
      ),
    ),
  )
}

/** The events whose registered hooks match the wanted ones. */
export function currentEvents(
  settings: ClaudeSettings,
  wanted: ReadonlyMap<string, HookGroup>,
): readonly string[] {
  const ours = stintHooks(settings)
  return [...wanted].flatMap(([event, { matcher, hooks }]) => {
    const positions = ours.filter((each) => each.event === event)
    // A foreign hook in the same group does not matter.
    const areCurrent = positions.every((position, index) => {
      const group = groupAt(settings, position)
      return (
        isPlainObject(group) &&
        group.matcher === matcher &&
        position.group === positions[0]!.group &&
        isDeepStrictEqual(hooksInGroup(group)[position.hook], hooks[index])
      )
    })
    return areCurrent && positions.length === hooks.length ? [event] : []
  })
}

export function areHooksCurrent(
  settings: ClaudeSettings,
  wanted: ReadonlyMap<string, HookGroup>,
): boolean {
  const isForOtherEvent = stintHooks(settings).some(({ event }) => !wanted.has(event))
  return currentEvents(settings, wanted).length === wanted.size && !isForOtherEvent
}

export const STATUS_LINE = { type: 'command', command: STATUS_LINE_COMMAND }

export function statusLineOwner({
  statusLine,
}: ClaudeSettings): 'none' | 'ours' | 'outdated' | 'theirs' {
  if (statusLine === undefined) return 'none'
  if (!isPlainObject(statusLine) || !isStintCommand(statusLine.command)) return 'theirs'
  return isDeepStrictEqual(statusLine, STATUS_LINE) ? 'ours' : 'outdated'
}

export const PLUGIN = 'stint'

/** Our plugin, if a settings file enables it. */
export function enabledPlugin({ enabledPlugins }: ClaudeSettings): string | undefined {
  return Object.entries(isPlainObject(enabledPlugins) ? enabledPlugins : {}).find(
    ([name, isOn]) => name.startsWith(`${PLUGIN}@`) && isOn !== false,
  )?.[0]
}

export function hookEvents({
  hooks,
}: ClaudeSettings): readonly (readonly [string, readonly unknown[]])[] {
  return Object.entries(isPlainObject(hooks) ? hooks : {}).flatMap(([event, groups]) =>
    Array.isArray(groups) ? [[event, groups] as const] : [],
  )
}

export function groupAt(settings: ClaudeSettings, { event, group }: HookPosition): unknown {
  return hookEvents(settings).find(([name]) => name === event)?.[1][group]
}

export function hooksInGroup(group: unknown): readonly unknown[] {
  return isPlainObject(group) && Array.isArray(group.hooks) ? group.hooks : []
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reading and searching are not worth starting a process for. */
const OBSERVED_TOOLS =
  'Edit|MultiEdit|Write|NotebookEdit|Bash|TodoWrite|TaskCreate|TaskUpdate|ExitPlanMode|AskUserQuestion|Task|Agent'

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
// Old versions do not know `async` and wait for it.
const AFTER_HOOK = { type: 'command', command: AFTER_COMMAND, async: true, timeout: 30 }

/** The value under one event in a settings file. */
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
        { ...(matcher ? { matcher } : {}), hooks: isFollowed ? [HOOK, AFTER_HOOK] : [HOOK] },
      ],
    ),
  )
}

export function groupsByEvent(
  groups: ReadonlyMap<string, HookGroup>,
): Readonly<Record<string, readonly HookGroup[]>> {
  return Object.fromEntries([...groups].map(([event, group]) => [event, [group]]))
}
