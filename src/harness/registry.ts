// To add a harness, see "Adding a harness" in AGENTS.md.
import { StintError } from '../journal/errors.ts'
import { apiLimits } from './api/limits.ts'
import { claudeHooks } from './claude/hooks.ts'
import { claudeLimits } from './claude/limits.ts'
import type { DriveRequest, Harness, ModelSettings } from './contract/drive.ts'
import type { HarnessHistory } from './contract/history.ts'
import type { HarnessHooks, HookEvent } from './contract/hooks.ts'
import { type HarnessLimits, limitsByRule } from './contract/limits.ts'
import type { HarnessSetup } from './contract/setup.ts'
import { estimated } from '../context/budget/budget.ts'

export interface HarnessDefinition {
  readonly name: string
  readonly title: string
  readonly argument?: HarnessArgument
  readonly isScripted?: true
  /** How a driven conversation is stored; by default from the driver's events. */
  readonly recording?: 'transcript' | 'history' | 'driver'
  readonly omitsSystemPrompt?: true
  /** Variables it sets for the commands of its agent. */
  readonly variables?: readonly string[]
  /** Loaded eagerly, because a hook cannot wait for an import. */
  readonly hooks?: HarnessHooks
  readonly limits?: HarnessLimits
  readonly drive?: (request: DriveRequest) => Promise<Harness>
  readonly history?: () => Promise<HarnessHistory>
  readonly setup?: () => Promise<HarnessSetup>
}

interface HarnessArgument {
  readonly placeholder: string
  readonly about: string
  /** Present where the name alone is not enough. */
  readonly isRequired?: { readonly problem: string; readonly example: string }
  readonly offered?: (models: ModelSettings) => readonly string[]
}

const HARNESSES: HarnessDefinition[] = [
  {
    name: 'claude',
    title: 'Claude Code',
    recording: 'transcript',
    omitsSystemPrompt: true,
    variables: ['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT'],
    hooks: claudeHooks,
    limits: claudeLimits,
    drive: async () => (await import('./claude/drive.ts')).claudeHarness,
    history: async () => (await import('./claude/history.ts')).claudeHistory,
    setup: async () => (await import('./claude/setup.ts')).claudeSetup,
  },
  {
    name: 'codex',
    title: 'Codex',
    recording: 'history',
    variables: ['CODEX_SANDBOX', 'CODEX_SANDBOX_NETWORK_DISABLED', 'CODEX_THREAD_ID'],
    limits: limitsByRule('codex', '90% of the window', (window) => window * 0.9),
    drive: async () => (await import('./codex/drive.ts')).codexHarness,
    history: async () => (await import('./codex/history.ts')).codexHistory,
    setup: async () => (await import('./codex/setup.ts')).codexSetup,
  },
  {
    name: 'api',
    title: 'bare model',
    argument: {
      placeholder: 'NAME',
      about: 'a model of the configuration',
      offered: ({ providers }) => Object.keys(providers),
    },
    recording: 'driver',
    limits: apiLimits,
    drive: async (request) => (await import('./api/drive.ts')).apiHarnessFor(request),
  },
  {
    name: 'rehearsal',
    title: 'scripted agent',
    isScripted: true,
    drive: async (request) => (await import('./rehearsal/drive.ts')).rehearsalHarness(request),
  },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    variables: ['GEMINI_CLI'],
    limits: limitsByRule('gemini', '50% of the window', (window) => window * 0.5),
    history: async () => (await import('./gemini/history.ts')).geminiHistory,
  },
  {
    name: 'opencode',
    title: 'opencode',
    variables: ['OPENCODE'],
    limits: limitsByRule('opencode', 'window less 20k', (window) => window - 20_000),
    history: async () => (await import('./opencode/history.ts')).opencodeHistory,
  },
  {
    name: 'acp',
    title: 'ACP agent',
    argument: {
      placeholder: 'COMMAND',
      about: 'any agent that speaks ACP',
      isRequired: {
        problem: 'acp: needs the command that starts the agent',
        example: 'stint run --harness "acp:gemini --experimental-acp"',
      },
    },
    drive: async (request) => (await import('./acp/drive.ts')).acpHarnessFor(request),
  },
  {
    name: 'goose',
    title: 'goose',
    limits: limitsByRule('goose', '80% of the window', (window) => window * 0.8),
  },
  {
    name: 'pi',
    title: 'pi',
    limits: limitsByRule('pi', 'window less 16k', (window) => window - 16_384),
  },
]

export const DEFAULT_HARNESS = 'claude'

/** Replaces the harness of that name, if there is one, until the returned function is called. */
export function registerHarness(definition: HarnessDefinition): () => void {
  const at = HARNESSES.findIndex(({ name }) => name === definition.name)
  const replaced = at === -1 ? [] : HARNESSES.splice(at, 1, definition)
  if (at === -1) HARNESSES.push(definition)
  return () => void HARNESSES.splice(HARNESSES.indexOf(definition), 1, ...replaced)
}

export function findHarness(name: string): HarnessDefinition | undefined {
  const base = name.split(':', 1)[0]
  const found = HARNESSES.find((harness) => harness.name === base)
  return found?.argument === undefined && base !== name ? undefined : found
}

/** Set by hooks, and for everything that a run or prompt starts. */
const OWN_VARIABLES = ['STINT_CONVERSATION', 'STINT_MARK', 'STINT_DELEGATE', 'STINT_PROMPT']

/** The title of the agent that started this process, as far as its environment says. */
export function agentInEnv(env: NodeJS.ProcessEnv): string | undefined {
  const isSet = (name: string) => (env[name] ?? '') !== ''
  const known = HARNESSES.find(({ variables = [] }) => variables.some(isSet))
  return known?.title ?? (OWN_VARIABLES.some(isSet) ? 'an agent' : undefined)
}

/** The title of an agent by its program, for one that tells its own commands apart by a variable. */
export function agentByProgram(program: string): string | undefined {
  return HARNESSES.find(({ name, variables }) => variables !== undefined && name === program)?.title
}

export function drivableNames(models?: ModelSettings): readonly string[] {
  const drivable = HARNESSES.filter(({ drive }) => drive !== undefined)
  return [
    ...drivable
      .filter(({ argument }) => argument?.isRequired === undefined)
      .map(({ name }) => name),
    ...drivable.flatMap(({ name, argument }) =>
      models === undefined
        ? []
        : (argument?.offered?.(models) ?? []).map((offered) => `${name}:${offered}`),
    ),
  ]
}

export function checkHarnessName(name: string): string {
  const found = findHarness(name)
  const { argument } = found ?? {}
  const value = argumentFromName(name)
  if (found?.drive === undefined || value === '' || (value === undefined && argument?.isRequired))
    throw unknownHarness(name, value === undefined ? undefined : argument)
  return name
}

function unknownHarness(name: string, argument: HarnessArgument | undefined) {
  if (argument?.isRequired !== undefined)
    return new StintError('NO_HARNESS', argument.isRequired.problem, argument.isRequired.example)
  const forms = HARNESSES.flatMap((each) =>
    each.argument === undefined
      ? []
      : [`${each.name}:${each.argument.placeholder} for ${each.argument.about}`],
  )
  return new StintError(
    'NO_HARNESS',
    `there is no harness "${name}"`,
    `one of ${[...drivableNames(), ...forms.slice(0, -1)].join(', ')}, or ${forms.at(-1)}`,
  )
}

function argumentFromName(name: string) {
  const colon = name.indexOf(':')
  return colon === -1 ? undefined : name.slice(colon + 1).trim()
}

export async function driveHarness(
  name: string,
  request: Omit<DriveRequest, 'name' | 'argument'>,
): Promise<Harness> {
  const { drive, isScripted } = findHarness(checkHarnessName(name))!
  if (request.script !== undefined && isScripted !== true)
    throw new StintError(
      'NO_SCRIPT',
      `${name} follows no script`,
      'leave --script away, or add --harness rehearsal',
    )
  const argument = argumentFromName(name)
  return drive!({ ...request, name, ...(argument === undefined ? {} : { argument }) })
}

export function importableHarnesses(): readonly string[] {
  return HARNESSES.filter(({ history }) => history !== undefined).map(({ name }) => name)
}

export async function loadHistory(name: string): Promise<HarnessHistory> {
  const history = findHarness(name)?.history
  if (history === undefined) throw new Error(`there is no history of ${name}`)
  return history()
}

export function installableHarnesses(): readonly string[] {
  return HARNESSES.filter(({ setup }) => setup !== undefined).map(({ name }) => name)
}

export function harnessesWithoutSystemPrompt(): ReadonlySet<string> {
  return new Set(HARNESSES.filter((each) => each.omitsSystemPrompt).map(({ name }) => name))
}

export function harnessHooks(name: string = DEFAULT_HARNESS): HarnessHooks | undefined {
  return findHarness(name)?.hooks
}

export function readHookEvent(json: string, name?: string): HookEvent | undefined {
  if (name !== undefined) return harnessHooks(name)?.readEvent(json)
  for (const { hooks } of HARNESSES) {
    const event = hooks?.readEvent(json)
    if (event !== undefined) return event
  }
  return undefined
}

type CompactionPointLookup = (
  window: number | undefined,
  model: string | undefined,
) => number | undefined

export function compactionPointFor(
  harness: string,
  env: NodeJS.ProcessEnv,
  root: string,
): CompactionPointLookup {
  const { limits } = findHarness(harness) ?? {}
  const pointOf = limits?.compactionPoint({ root, env })
  return (window, model) => {
    const known = window === undefined ? limits?.windowOf?.(model) : estimated(window, 'stream', '')
    return pointOf?.({ window: known })?.value ?? window
  }
}
