// The flags that run and plan share, and what is wrong with what was given.
import { MOST_AT_ONCE, checkHarnessName, findHarness } from '../../core.ts'
import type { RunOptions } from '../../library.ts'
import { StintError } from '../../public.ts'
import { Misuse } from './errors.ts'
import { text, texts, toggle } from './flags.ts'
import { propose } from './propose.ts'
import { defined } from '../../text/defined.ts'

export interface PlanFlags {
  readonly backlog?: string
  readonly harness?: string
  readonly model?: string
  readonly task?: readonly string[]
  readonly label?: readonly string[]
  readonly batch?: string
  readonly parallel?: string
  readonly json?: boolean
}

export interface RunFlags extends PlanFlags {
  readonly maxTasks?: string
  readonly maxSessions?: string
  readonly budgetTokens?: string
  readonly budgetUsd?: string
  readonly maxMinutes?: string
  readonly verify?: string
  readonly onFailure?: string
  readonly onLimit?: string
  readonly permissions?: string
  readonly inPlace?: boolean
  readonly branch?: string
  readonly once?: boolean
  readonly dryRun?: boolean
  readonly resume?: string
  readonly script?: string
}

const BATCHES = ['forecast', 'fixed', 'one'] as const
const ON_FAILURE = ['retry', 'continue', 'stop'] as const
const ON_LIMIT = ['wait', 'end'] as const
const PERMISSIONS = ['ask', 'edits', 'all'] as const

export const PLAN_FLAGS = {
  backlog: text(
    'Where the tasks are: a JSONL or Markdown file, beads, or github (default: .tasks)',
    'SOURCE',
  ),
  harness: text(
    'The agent: claude, codex, rehearsal, acp:COMMAND for any that speaks ACP, api or api:NAME for a bare model',
    'NAME',
  ),
  model: text('The model, as the agent program calls it', 'MODEL'),
  task: {
    ...texts('Only this task and what it depends on; may be given several times', 'TASK'),
    proposeCompletions: propose.tasks,
  },
  label: texts('Only tasks with this label; may be given several times', 'LABEL'),
  batch: text(
    'How many tasks a conversation takes: forecast (by size and cost), fixed (by count), one',
    'HOW',
  ),
  parallel: text(
    `Work on so many tasks at once, each by a delegate of its own (at most ${MOST_AT_ONCE})`,
    'N',
  ),
} as const

export const RUN_FLAGS = {
  ...PLAN_FLAGS,
  maxTasks: text('End after so many tasks', 'N'),
  maxSessions: text('End after so many sessions', 'N'),
  budgetTokens: text('End, to be resumed, once so many tokens are spent: 500000, 500k, 2M', 'N'),
  budgetUsd: text('End, to be resumed, once so many dollars are spent', 'USD'),
  maxMinutes: text('End, to be resumed, after so many minutes', 'N'),
  verify: text('The command that shows a task is done, where the task has none of its own', 'CMD'),
  onFailure: text(
    'When a task fails: retry (then park it and go on), continue (park it at once), stop',
    'HOW',
  ),
  onLimit: text('When the usage limit is reached: wait for its reset, or end', 'HOW'),
  permissions: text(
    'What the agent may do: ask (you, each time), edits (edit, git, verify; default), all',
    'WHAT',
  ),
  inPlace: toggle('Work in this checkout, which has to be clean, and not on a branch of its own'),
  branch: text('The name of the branch to work on', 'NAME'),
  once: toggle('One task, then the end'),
  dryRun: toggle('Start nothing and show the plan'),
  resume: {
    kind: 'parsed',
    parse: String,
    inferEmpty: true,
    optional: true,
    brief: 'Go on with a run, the last one that can be unless named',
    placeholder: 'RUN',
  },
  script: text('What the rehearsal harness is to do', 'FILE'),
} as const

/** What the flags of `plan` ask for. */
export function planOptions(flags: PlanFlags): RunOptions {
  const { backlog, model, label: labels } = flags
  return {
    ...defined({
      backlog: given('backlog', backlog),
      harness: harnessOf(flags.harness),
      model: given('model', model),
    }),
    ...defined({
      tasks: flags.task,
      labels,
      batch: choice('batch', flags.batch, BATCHES),
      parallel: atOnce(flags),
    }),
  }
}

/** What the flags of `run` ask for; misuse is said before anything is opened. */
export function runOptions(flags: RunFlags): RunOptions & { readonly resume?: string | true } {
  refuseTogether(flags)
  const resume =
    flags.resume === undefined ? undefined : flags.resume === '' ? (true as const) : flags.resume
  return {
    ...planOptions(flags),
    ...defined({
      maxTasks: whole('max-tasks', flags.maxTasks),
      maxSessions: whole('max-sessions', flags.maxSessions),
      budgetTokens: tokenCount('budget-tokens', flags.budgetTokens),
      budgetUsd: amount('budget-usd', flags.budgetUsd, '2.50'),
      maxMinutes: amount('max-minutes', flags.maxMinutes, '90'),
    }),
    ...defined({
      verify: given('verify', flags.verify),
      onFailure: choice('on-failure', flags.onFailure, ON_FAILURE),
      onLimit: choice('on-limit', flags.onLimit, ON_LIMIT),
      permissions: choice('permissions', flags.permissions, PERMISSIONS),
    }),
    ...defined({
      isInPlace: flags.inPlace,
      branch: given('branch', flags.branch),
      once: flags.once,
    }),
    ...defined({ script: given('script', flags.script), resume }),
  }
}

/** What chooses tasks or where they are worked: a run that goes on has settled it. */
const SETTLED = ['backlog', 'task', 'label', 'inPlace', 'branch', 'dryRun'] as const

function refuseTogether(flags: RunFlags): void {
  const settled = SETTLED.filter((flag) => flags[flag] !== undefined && flags[flag] !== false)
  if (flags.resume !== undefined && settled.length > 0) {
    const names = settled.map(dashed).join(' and ')
    throw new Misuse(
      `--resume goes on with the run as it was begun, so ${names} cannot go with it`,
      'leave it out, or start another run',
    )
  }
  if (flags.inPlace === true && flags.branch !== undefined) {
    throw new Misuse(
      '--in-place works on the branch that is checked out',
      'leave --branch out, or --in-place',
    )
  }
  if (flags.parallel !== undefined && flags.permissions === 'ask') {
    throw new Misuse(
      'several agents at once cannot ask one person',
      'use --permissions edits, or leave --parallel out',
    )
  }
  if (flags.once === true && flags.maxTasks !== undefined) {
    throw new Misuse('--once is --max-tasks 1', 'leave one of them out')
  }
  refuseScript(flags, 'stint run --harness rehearsal --script FILE')
}

/** How many tasks at once. */
function atOnce({ batch, parallel }: PlanFlags): number | undefined {
  const count = whole('parallel', parallel)
  if (count === undefined) return undefined
  if (count > MOST_AT_ONCE) {
    throw new Misuse(
      `--parallel ${count} is more than ${MOST_AT_ONCE}: with so many, merging is what everything waits for`,
      `--parallel ${MOST_AT_ONCE} is the most`,
    )
  }
  if (batch !== undefined && batch !== 'one') {
    throw new Misuse(
      `--parallel gives each task a conversation of its own, and not --batch ${batch}`,
      'leave one of them out',
    )
  }
  return count
}

export function harnessOf(name: string | undefined): string | undefined {
  if (name === undefined) return undefined
  try {
    return checkHarnessName(name)
  } catch (error) {
    if (error instanceof StintError) throw new Misuse(error.message, error.hint)
    throw error
  }
}

/** Only a scripted harness follows a script. */
export function refuseScript(
  { harness, script }: { readonly harness?: string; readonly script?: string },
  example?: string,
): void {
  if (script === undefined || harness === undefined || findHarness(harness)?.isScripted === true)
    return
  throw new Misuse(
    `only the rehearsal harness follows a script, and --harness is ${harness}`,
    example,
  )
}

export function choice<T extends string>(
  flag: string,
  value: string | undefined,
  choices: readonly T[],
): T | undefined {
  if (value === undefined) return undefined
  const found = choices.find((candidate) => candidate === value)
  if (found === undefined)
    throw new Misuse(`--${flag} is not "${value}"`, `one of ${choices.join(', ')}`)
  return found
}

export function given(flag: string, value: string | undefined): string | undefined {
  if (value?.trim() === '') throw new Misuse(`--${flag} is empty`, 'leave it out, or say something')
  return value
}

function whole(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  if (!/^\d+$/.test(value) || !(Number(value) > 0))
    throw new Misuse(`--${flag} is a whole number above 0, not "${value}"`)
  return Number(value)
}

export function amount(
  flag: string,
  value: string | undefined,
  example: string,
): number | undefined {
  if (value === undefined) return undefined
  if (!/^\d*\.?\d+$/.test(value) || !(Number(value) > 0)) {
    throw new Misuse(`--${flag} is a number above 0, not "${value}"`, `write it like ${example}`)
  }
  return Number(value)
}

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1000, m: 1_000_000 }

export function tokenCount(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const [, digits = '', unit = ''] = /^(\d*\.?\d+)([km]?)$/i.exec(value) ?? []
  const count = Math.round(Number(digits) * (UNITS[unit.toLowerCase()] ?? Number.NaN))
  if (!(count > 0))
    throw new Misuse(
      `--${flag} is a number of tokens above 0, not "${value}"`,
      'write it like 500000, 500k or 2M',
    )
  return count
}

function dashed(flag: string): string {
  return `--${flag.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}
