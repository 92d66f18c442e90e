// The flags of commands that start agents, and which of them conflict.
import { MAX_PARALLEL_TASKS, checkHarnessName, findHarness } from '../../core.ts'
import type { Permissions, RunOptions } from '../../library.ts'
import { StintError } from '../../public/projection.ts'
import { defined } from '../../text/defined.ts'
import { type Flags, flagName } from './command.ts'
import { UsageError } from './context.ts'
import {
  positiveNumber,
  checkedFlag,
  exactlyOneOf,
  nonEmpty,
  nonEmptyFlag,
  completions,
  textFlag,
  repeatedTextFlag,
  toggle,
  parseTokenCount,
  positiveInteger,
} from './flags.ts'

const PERMISSIONS: readonly Permissions[] = ['ask', 'edits', 'all']

export function parseHarnessName(name: string): string {
  try {
    return checkHarnessName(name)
  } catch (error) {
    if (error instanceof StintError) throw new UsageError(error.message, error.hint)
    throw error
  }
}

export function harnessFlag(brief: string) {
  return checkedFlag(textFlag(brief, 'NAME'), parseHarnessName)
}

export function permissionsFlag<const T extends Permissions = Permissions>(
  brief: string,
  placeholder: string,
  allowed: readonly T[] = PERMISSIONS as readonly T[],
) {
  return checkedFlag(textFlag(brief, placeholder), exactlyOneOf(allowed))
}

export function limitFlags(tokens: string, usd: string, minutes: string) {
  return {
    budgetTokens: checkedFlag(textFlag(tokens, 'N'), parseTokenCount),
    budgetUsd: checkedFlag(textFlag(usd, 'USD'), positiveNumber('2.50')),
    maxMinutes: checkedFlag(textFlag(minutes, 'N'), positiveNumber('90')),
  }
}

export const PLAN_FLAGS = {
  backlog: nonEmptyFlag(
    'Where the tasks are: a JSONL or Markdown file, beads, or github (default: .tasks)',
    'SOURCE',
  ),
  harness: harnessFlag(
    'The agent: claude, codex, rehearsal, acp:COMMAND for any that speaks ACP, api or api:NAME for a bare model',
  ),
  model: nonEmptyFlag('The model, as the agent program calls it', 'MODEL'),
  task: {
    ...repeatedTextFlag(
      'Only this task and what it depends on; may be given several times',
      'TASK',
    ),
    proposeCompletions: completions.tasks,
  },
  label: repeatedTextFlag('Only tasks with this label; may be given several times', 'LABEL'),
  batch: checkedFlag(
    textFlag(
      'How many tasks a conversation takes: forecast (by size and cost), fixed (by count), one',
      'HOW',
    ),
    exactlyOneOf(['forecast', 'fixed', 'one']),
  ),
  parallel: checkedFlag(
    textFlag(
      `Work on so many tasks at once, each by a delegate of its own (at most ${MAX_PARALLEL_TASKS})`,
      'N',
    ),
    positiveInteger,
  ),
}

/** Several times: each path is agreed to by itself. */
export function allowProtectedFlag(brief: string) {
  return checkedFlag(repeatedTextFlag(`${brief}; may be given several times`, 'PATH'), nonEmpty)
}

export const RUN_FLAGS = {
  ...PLAN_FLAGS,
  maxTasks: checkedFlag(textFlag('End after so many tasks', 'N'), positiveInteger),
  maxSessions: checkedFlag(textFlag('End after so many sessions', 'N'), positiveInteger),
  ...limitFlags(
    'End, to be resumed, once so many tokens are spent: 500000, 500k, 2M',
    'End, to be resumed, once so many dollars are spent',
    'End, to be resumed, after so many minutes',
  ),
  verify: nonEmptyFlag(
    'The command that shows a task is done, where the task has none of its own',
    'CMD',
  ),
  onFailure: checkedFlag(
    textFlag(
      'When a task fails: retry (then park it and go on), continue (park it at once), stop',
      'HOW',
    ),
    exactlyOneOf(['retry', 'continue', 'stop']),
  ),
  onLimit: checkedFlag(
    textFlag('When the usage limit is reached: wait for its reset, or end', 'HOW'),
    exactlyOneOf(['wait', 'end']),
  ),
  permissions: permissionsFlag(
    'What the agent may do: ask (you, each time), edits (edit, git, verify; default), all',
    'WHAT',
  ),
  inPlace: toggle('Work in this checkout, which has to be clean, and not on a branch of its own'),
  branch: nonEmptyFlag('The name of the branch to work on', 'NAME'),
  once: toggle('One task, then the end'),
  dryRun: toggle('Start nothing and show the plan'),
  resume: {
    ...textFlag('Go on with a run, the last one that can be unless named', 'RUN'),
    inferEmpty: true,
  },
  allowProtected: allowProtectedFlag('A path of settings or hooks that the agents may change'),
  script: nonEmptyFlag('What the rehearsal harness is to do', 'FILE'),
} as const

export function planOptions(flags: Flags<typeof PLAN_FLAGS>): RunOptions {
  const { backlog, harness, model, task: tasks, label: labels, batch, parallel } = flags
  if (parallel !== undefined && parallel > MAX_PARALLEL_TASKS) {
    throw new UsageError(
      `--parallel ${parallel} is more than ${MAX_PARALLEL_TASKS}: with so many, merging is what everything waits for`,
      `--parallel ${MAX_PARALLEL_TASKS} is the most`,
    )
  }
  if (parallel !== undefined && batch !== undefined && batch !== 'one') {
    throw new UsageError(
      `--parallel gives each task a conversation of its own, and not --batch ${batch}`,
      'leave one of them out',
    )
  }
  return defined({ backlog, harness, model, tasks, labels, batch, parallel })
}

type RunFlags = Flags<typeof RUN_FLAGS>

export function runOptions(flags: RunFlags): RunOptions & { readonly resume?: string | true } {
  refuseConflicts(flags)
  const { maxTasks, maxSessions, budgetTokens, budgetUsd, maxMinutes, verify } = flags
  const { onFailure, onLimit, permissions, inPlace: isInPlace, branch, once, script } = flags
  const { allowProtected } = flags
  const resume = flags.resume === '' ? (true as const) : flags.resume
  return {
    ...planOptions(flags),
    ...defined({ maxTasks, maxSessions, budgetTokens, budgetUsd, maxMinutes, verify }),
    ...defined({ onFailure, onLimit, permissions, isInPlace, branch, once, script, resume }),
    ...defined({ allowProtected }),
  }
}

/** Flags that choose tasks or where they run: a resumed run keeps them. */
const FIXED_ON_RESUME = ['backlog', 'task', 'label', 'inPlace', 'branch', 'dryRun'] as const

function refuseConflicts(flags: RunFlags): void {
  const fixed = FIXED_ON_RESUME.filter((flag) => flags[flag] !== undefined && flags[flag] !== false)
  if (flags.resume !== undefined && fixed.length > 0) {
    throw new UsageError(
      `--resume goes on with the run as it was begun, so ${fixed.map(flagName).join(' and ')} cannot go with it`,
      'leave it out, or start another run',
    )
  }
  if (flags.inPlace && flags.branch !== undefined) {
    throw new UsageError(
      '--in-place works on the branch that is checked out',
      'leave --branch out, or --in-place',
    )
  }
  if (flags.parallel !== undefined && flags.permissions === 'ask') {
    throw new UsageError(
      'several agents at once cannot ask one person',
      'use --permissions edits, or leave --parallel out',
    )
  }
  if (flags.once && flags.maxTasks !== undefined)
    throw new UsageError('--once is --max-tasks 1', 'leave one of them out')
  refuseScriptFlag(flags, 'stint run --harness rehearsal --script FILE')
}

export function refuseScriptFlag(
  { harness, script }: { readonly harness?: string; readonly script?: string },
  example?: string,
): void {
  if (script === undefined || harness === undefined || findHarness(harness)?.isScripted === true)
    return
  throw new UsageError(
    `only the rehearsal harness follows a script, and --harness is ${harness}`,
    example,
  )
}
