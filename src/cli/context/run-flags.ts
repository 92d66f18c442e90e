// The flags of what starts agents, and what cannot go together.
import { MOST_AT_ONCE, checkHarnessName, findHarness } from '../../core.ts'
import type { Permissions, RunOptions } from '../../library.ts'
import { StintError } from '../../public.ts'
import { defined } from '../../text/defined.ts'
import { type Flags, flagName } from './command.ts'
import { Misuse } from './context.ts'
import {
  amount,
  checked,
  choice,
  filled,
  propose,
  text,
  texts,
  toggle,
  tokenCount,
  wholeAbove0,
} from './flags.ts'

const PERMISSIONS: readonly Permissions[] = ['ask', 'edits', 'all']

export function harnessOf(name: string): string {
  try {
    return checkHarnessName(name)
  } catch (error) {
    if (error instanceof StintError) throw new Misuse(error.message, error.hint)
    throw error
  }
}

export function harnessFlag(brief: string) {
  return checked(text(brief, 'NAME'), harnessOf)
}

export function permissionsFlag<const T extends Permissions = Permissions>(
  brief: string,
  placeholder: string,
  allowed: readonly T[] = PERMISSIONS as readonly T[],
) {
  return checked(text(brief, placeholder), choice(allowed))
}

/** What may be spent, each with its own words. */
export function limitFlags(tokens: string, usd: string, minutes: string) {
  return {
    budgetTokens: checked(text(tokens, 'N'), tokenCount),
    budgetUsd: checked(text(usd, 'USD'), amount('2.50')),
    maxMinutes: checked(text(minutes, 'N'), amount('90')),
  }
}

export const PLAN_FLAGS = {
  backlog: filled(
    'Where the tasks are: a JSONL or Markdown file, beads, or github (default: .tasks)',
    'SOURCE',
  ),
  harness: harnessFlag(
    'The agent: claude, codex, rehearsal, acp:COMMAND for any that speaks ACP, api or api:NAME for a bare model',
  ),
  model: filled('The model, as the agent program calls it', 'MODEL'),
  task: {
    ...texts('Only this task and what it depends on; may be given several times', 'TASK'),
    proposeCompletions: propose.tasks,
  },
  label: texts('Only tasks with this label; may be given several times', 'LABEL'),
  batch: checked(
    text(
      'How many tasks a conversation takes: forecast (by size and cost), fixed (by count), one',
      'HOW',
    ),
    choice(['forecast', 'fixed', 'one']),
  ),
  parallel: checked(
    text(
      `Work on so many tasks at once, each by a delegate of its own (at most ${MOST_AT_ONCE})`,
      'N',
    ),
    wholeAbove0,
  ),
}

export const RUN_FLAGS = {
  ...PLAN_FLAGS,
  maxTasks: checked(text('End after so many tasks', 'N'), wholeAbove0),
  maxSessions: checked(text('End after so many sessions', 'N'), wholeAbove0),
  ...limitFlags(
    'End, to be resumed, once so many tokens are spent: 500000, 500k, 2M',
    'End, to be resumed, once so many dollars are spent',
    'End, to be resumed, after so many minutes',
  ),
  verify: filled(
    'The command that shows a task is done, where the task has none of its own',
    'CMD',
  ),
  onFailure: checked(
    text(
      'When a task fails: retry (then park it and go on), continue (park it at once), stop',
      'HOW',
    ),
    choice(['retry', 'continue', 'stop']),
  ),
  onLimit: checked(
    text('When the usage limit is reached: wait for its reset, or end', 'HOW'),
    choice(['wait', 'end']),
  ),
  permissions: permissionsFlag(
    'What the agent may do: ask (you, each time), edits (edit, git, verify; default), all',
    'WHAT',
  ),
  inPlace: toggle('Work in this checkout, which has to be clean, and not on a branch of its own'),
  branch: filled('The name of the branch to work on', 'NAME'),
  once: toggle('One task, then the end'),
  dryRun: toggle('Start nothing and show the plan'),
  resume: {
    ...text('Go on with a run, the last one that can be unless named', 'RUN'),
    inferEmpty: true,
  },
  script: filled('What the rehearsal harness is to do', 'FILE'),
} as const

export function planOptions(flags: Flags<typeof PLAN_FLAGS>): RunOptions {
  const { backlog, harness, model, task: tasks, label: labels, batch, parallel } = flags
  if (parallel !== undefined && parallel > MOST_AT_ONCE) {
    throw new Misuse(
      `--parallel ${parallel} is more than ${MOST_AT_ONCE}: with so many, merging is what everything waits for`,
      `--parallel ${MOST_AT_ONCE} is the most`,
    )
  }
  if (parallel !== undefined && batch !== undefined && batch !== 'one') {
    throw new Misuse(
      `--parallel gives each task a conversation of its own, and not --batch ${batch}`,
      'leave one of them out',
    )
  }
  return defined({ backlog, harness, model, tasks, labels, batch, parallel })
}

type RunFlags = Flags<typeof RUN_FLAGS>

export function runOptions(flags: RunFlags): RunOptions & { readonly resume?: string | true } {
  refuseTogether(flags)
  const { maxTasks, maxSessions, budgetTokens, budgetUsd, maxMinutes, verify } = flags
  const { onFailure, onLimit, permissions, inPlace: isInPlace, branch, once, script } = flags
  const resume = flags.resume === '' ? (true as const) : flags.resume
  return {
    ...planOptions(flags),
    ...defined({ maxTasks, maxSessions, budgetTokens, budgetUsd, maxMinutes, verify }),
    ...defined({ onFailure, onLimit, permissions, isInPlace, branch, once, script, resume }),
  }
}

/** What chooses tasks or where they are worked: a run that goes on has settled it. */
const SETTLED = ['backlog', 'task', 'label', 'inPlace', 'branch', 'dryRun'] as const

function refuseTogether(flags: RunFlags): void {
  const settled = SETTLED.filter((flag) => flags[flag] !== undefined && flags[flag] !== false)
  if (flags.resume !== undefined && settled.length > 0) {
    throw new Misuse(
      `--resume goes on with the run as it was begun, so ${settled.map(flagName).join(' and ')} cannot go with it`,
      'leave it out, or start another run',
    )
  }
  if (flags.inPlace && flags.branch !== undefined) {
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
  if (flags.once && flags.maxTasks !== undefined)
    throw new Misuse('--once is --max-tasks 1', 'leave one of them out')
  refuseScript(flags, 'stint run --harness rehearsal --script FILE')
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
