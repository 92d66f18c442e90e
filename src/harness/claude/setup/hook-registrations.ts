// Which events are registered, as data. Only names that old clients know: one that they do not know makes them
// run no hook at all, and say nothing.
import { HOOK_COMMAND, AFTER_COMMAND } from '../../setup/hook-command.ts'

/** The tools that change something or carry a plan. Reading and searching tell nothing that is worth a process. */
export const OBSERVED_TOOLS =
  'Edit|MultiEdit|Write|NotebookEdit|Bash|TodoWrite|TaskCreate|TaskUpdate|ExitPlanMode|Task|Agent'

interface HookRegistration {
  readonly event: string
  readonly matcher?: string
  /** What stands beside the command; `timeout` is in seconds. */
  readonly options: Readonly<Record<string, unknown>>
  /** Whether there is work to do beside the agent's afterwards. */
  readonly isFollowed?: boolean
}

const OPTIONS = { timeout: 5 }
// Clients that do not know `async` run it beside the hook and wait for it.
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

/** For a notification on the desktop when an agent waits. */
const ON_REQUEST: HookRegistration = { event: 'Notification', options: OPTIONS }

export const NOTIFICATION_EVENT = ON_REQUEST.event

/** What stands in a settings file under one event. */
export interface HookGroup {
  readonly matcher?: string
  readonly hooks: readonly Readonly<Record<string, unknown>>[]
}

/** The groups to register, by event. */
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
