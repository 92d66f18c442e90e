// Background agents: start, show, wait, stop, retry and discard.
import { resolve } from 'node:path'
import { refuseInRun } from '../../../core.ts'
import type { DelegateRequest, DelegateRow } from '../../../library.ts'
import { defined } from '../../../text/defined.ts'
import {
  type Flags,
  defineCommandGroup,
  listFlags,
  defineRunCommand,
} from '../../context/command.ts'
import { nearestNames } from '../../context/suggestions.ts'
import {
  type DelegateInvocation,
  selectDelegates,
  defineDelegateCommand,
  delegateArguments,
  idsOf,
  readProjectDelegates,
} from '../../context/delegate-command.ts'
import { type CliContext, Interrupt, UsageError, onQuitKey } from '../../context/context.ts'
import {
  argument,
  checkedFlag,
  nonEmptyFlag,
  nonEmpty,
  optionalArgument,
  completions,
  sessionFlag,
  taskNameFlag,
  textFlag,
  repeatedTextFlag,
  toggle,
} from '../../context/flags.ts'
import {
  harnessFlag,
  limitFlags,
  permissionsFlag,
  refuseScriptFlag,
} from '../../context/run-flags.ts'
import {
  describeDelegates,
  describeDelegate,
  describeDelegateBriefly,
  describeStarted,
  isActive,
  isSuccessful,
  isRecent,
  delegateLabel,
  delegateStatusLine,
  delegateStatusWithNext,
} from '../../print/delegate.ts'
import { liveTerminal } from '../../print/terminal/live-block.ts'
import { plural, shellWord } from '../../print/terminal/text.ts'
import { waitAndPrintDelegates, watchDelegates } from '../../print/watch-delegates.ts'

export const START_FLAGS = {
  as: nonEmptyFlag(
    'What it works as: tests, docs, review, research or any profile; review and research only read',
    'NAME',
  ),
  task: checkedFlag(taskNameFlag('The task of the backlog that it works on'), nonEmpty),
  group: nonEmptyFlag('A name for several that belong together', 'GROUP'),
  base: nonEmptyFlag(
    'Where its branch begins: a branch, which its work then goes to, or any commit',
    'REF',
  ),
  harness: harnessFlag('The agent: claude, codex, rehearsal, acp:COMMAND, api or api:NAME'),
  model: nonEmptyFlag('The model, as the agent program calls it', 'MODEL'),
  files: checkedFlag(
    repeatedTextFlag('Files it is expected to change; may be given several times', 'GLOB'),
    nonEmpty,
  ),
  output: nonEmptyFlag('A file that it has to bring forth', 'PATH'),
  session: checkedFlag(
    { ...sessionFlag, brief: 'The session it works for (default: the active one)' },
    nonEmpty,
  ),
  verify: nonEmptyFlag('The command that shows that it is done', 'CMD'),
  ...limitFlags(
    'The most tokens it may spend: 500000, 500k, 2M',
    'The most dollars it may spend',
    'The most minutes it may take',
  ),
  permissions: permissionsFlag(
    'What the agent may do: edits (edit, git, verify; default) or all',
    'WHAT',
    ['edits', 'all'],
  ),
  script: nonEmptyFlag('What the rehearsal harness is to do', 'FILE'),
  wait: toggle('Stay and show how it goes, until it is done'),
}

const start = defineDelegateCommand({
  brief: 'Start an agent in the background',
  about:
    'It works on a branch and in a worktree of its own and has a session of its own. When its work is committed and the verify command is green it is\nready, and stint merge brings it into the branch that it began from. One that reviews or researches only reads, and leaves a report.\nThe order may be left away with --task; - reads it from standard input.',
  usage: [
    ['"Write tests for the parser" --as tests', 'as somebody who writes tests'],
    ['--task fix-login --verify "npm test"', 'a task of the backlog'],
    ['"Which of our queries are slow, and why?" --as research', 'one that only reads'],
    [
      '"Document the API" --as docs --group release --files "docs/**"',
      'one of several that belong together',
    ],
    [
      '"Fix the sweep" --base release-1 --max-minutes 30 --budget-usd 2',
      'elsewhere, within bounds',
    ],
    ['--wait - < order.md', 'the order from a file, and stay until it is done'],
  ],
  args: argument('What is to be done', 'WHAT'),
  flags: START_FLAGS,
  async run(invocation, { wait, ...flags }, ...args) {
    const { context, delegates, output, redacted, print, json } = invocation
    const request = await delegateRequest(context, flags, args, COMMANDS)
    const row = redacted(await delegates.start(request))
    if (!wait) return print(row, () => describeStarted(row, output))
    if (!json) output.line(describeStarted(row, output))
    await printWhenDone(invocation, [row], ([ended = row]) => {
      print(ended, () => delegateStatusWithNext(ended))
      return isSuccessful(ended)
    })
  },
})

/** Waits until the delegates are done and sets the exit code. */
async function printWhenDone(
  invocation: DelegateInvocation,
  rows: readonly DelegateRow[],
  printEnded: (ended: readonly DelegateRow[]) => boolean,
): Promise<void> {
  await Interrupt.during(async (interrupt) => {
    const ended = await waitAndPrintDelegates(invocation, rows, interrupt)
    const isSuccess = printEnded(ended)
    invocation.exit(interrupt.exitCode(isSuccess))
  })
}

export async function delegateRequest(
  { cwd, readStdin }: Pick<CliContext, 'cwd' | 'readStdin'>,
  flags: Omit<Flags<typeof START_FLAGS>, 'wait'>,
  args: readonly string[],
  commands: readonly string[],
): Promise<DelegateRequest> {
  refuseMistypedCommand(args, commands)
  refuseScriptFlag(flags, 'stint delegate "…" --harness rehearsal --script FILE')
  const isStdin = args.length === 1 && args[0] === '-'
  const what = (isStdin ? await readStdin() : args.join(' ')).trim()
  if (what === '' && isStdin)
    throw new UsageError(
      'nothing came on standard input',
      'echo "What is to be done" | stint delegate -',
    )
  if (what === '' && flags.task === undefined)
    throw new UsageError(
      'say what is to be done',
      'stint delegate "What is to be done", or --task ID for a task of the backlog',
    )
  const script = flags.script === undefined ? undefined : resolve(cwd, flags.script)
  return { what, ...flags, ...defined({ script }) }
}

/** A mistyped subcommand must not start a delegate, which costs money. */
function refuseMistypedCommand(
  [first = '', ...others]: readonly string[],
  commands: readonly string[],
): void {
  if (!/^[a-z][a-z-]*$/i.test(first)) return
  const [similar] = nearestNames(first, commands)
  const instead = 'if it is what is to be done, say it in one text of several words'
  if (similar !== undefined)
    throw new UsageError(`there is no stint delegate ${first}; did you mean ${similar}?`, instead)
  if (others.length === 0) {
    throw new UsageError(
      `"${first}" is a name, and no order`,
      `stint delegate show ${first} shows a delegate, --task ${first} gives a task to one; ${instead}`,
    )
  }
}

const show = defineDelegateCommand({
  brief: 'Show everything about a delegate',
  about:
    'How it stands and why, its order, branch and worktree, its commits and what they change, what it said of its work, its attempts, what it\nspent, where its log is and what to do next. Without a name: all whose work is neither merged nor discarded, in short.',
  usage: [
    ['fix-login', 'one, by its name or id, or a part that only it has'],
    ['', 'all that are not settled'],
  ],
  args: [optionalArgument('The delegate', 'NAME', completions.delegates)],
  async run(invocation, _flags, name) {
    const { delegates, output, redacted, taskNames, print } = invocation
    const now = new Date().toISOString()
    if (name !== undefined) {
      const detail = redacted(await delegates.show(name))
      const tasks = await taskNames([detail.task])
      return print(detail, () => describeDelegate(detail, { now, tasks }, output))
    }
    const rows = redacted(await selectDelegates(invocation, { isSelected: isUnfinished }))
    print(rows, () =>
      rows.length === 0
        ? 'No delegate has work to be settled: stint delegates --all lists those there were.'
        : rows.map((row) => describeDelegateBriefly(row, { now }, output)).join('\n\n'),
    )
  },
})

function isUnfinished({ status }: DelegateRow): boolean {
  return status !== 'merged' && status !== 'discarded'
}

const group = textFlag('Only those of this group', 'GROUP')

const wait = defineDelegateCommand({
  brief: 'Wait until delegates are done',
  about:
    'Until none of them is at work. Ctrl-C ends the waiting, and not the delegates.\nExit codes: 0 all are ready or merged, 1 otherwise, 130 interrupted.',
  usage: [
    ['', 'for all that are at work'],
    ['fix-login write-tests', 'for these'],
    ['--group release', 'for those of a group'],
  ],
  args: delegateArguments('The delegates; all that are at work when absent'),
  flags: { group },
  async run(invocation, { group }, ...names) {
    const { print } = invocation
    const isSelected = (row: DelegateRow) => group !== undefined || isActive(row)
    const rows = await selectDelegates(invocation, { names, group, isSelected })
    if (rows.length === 0) return print([], () => 'No delegate is at work.')
    await printWhenDone(invocation, rows, (ended) => {
      print(ended, () => ended.map(delegateStatusWithNext).join('\n'))
      return ended.every(isSuccessful)
    })
  },
})

const stop = defineDelegateCommand({
  brief: 'Stop delegates now',
  about:
    'Ends the agent and everything that it started. What it has not committed is committed to its branch as it was found.\nstint delegate retry begins it again.',
  usage: [
    ['fix-login', 'this one'],
    ['', 'all that are at work'],
  ],
  args: delegateArguments('The delegates; all that are at work when absent'),
  async run(invocation, _flags, ...names) {
    const { context, delegates, print } = invocation
    refuseInRun(context, 'stopping a delegate')
    await delegates.reconcile()
    const ids = idsOf(await selectDelegates(invocation, { names, isSelected: isRunningOrMerging }))
    if (ids.size === 0) return print([], () => 'No delegate is at work.')
    await delegates.stop([...ids])
    await printDelegates(invocation, ids, delegateStatusWithNext)
  },
})

async function printDelegates(
  invocation: DelegateInvocation,
  ids: ReadonlySet<string>,
  line: (row: DelegateRow) => string,
): Promise<void> {
  const rows = await readProjectDelegates(invocation, ids)
  invocation.print(rows, () => rows.map(line).join('\n'))
}

/** Includes an orphaned delegate, whose work has to be kept. */
function isRunningOrMerging({ status }: DelegateRow): boolean {
  return status === 'running' || status === 'merging'
}

const retry = defineDelegateCommand({
  brief: 'Begin delegates again, with what went wrong',
  about:
    'On the same branch, with all that it did. It is told what failed, what conflicts, or what you note.',
  usage: [
    ['fix-login', 'this one'],
    ['fix-login --note "Leave the cookie alone"', 'with a word from you'],
    ['', 'all that failed, conflicted, are parked or were left behind'],
  ],
  args: delegateArguments('The delegates; all that did not come to an end when absent'),
  flags: { note: nonEmptyFlag('What it should know this time') },
  async run(invocation, { note }, ...names) {
    const { context, delegates, print } = invocation
    refuseInRun(context, 'beginning a delegate again')
    await delegates.reconcile()
    const ids = idsOf(await selectDelegates(invocation, { names, isSelected: isRetryable }))
    if (ids.size === 0) return print([], () => 'No delegate has failed, conflicted or is parked.')
    await delegates.retry([...ids], defined({ note }))
    await printDelegates(invocation, ids, delegateStatusWithNext)
  },
})

function isRetryable({ status, isOrphaned }: DelegateRow): boolean {
  return ['failed', 'conflicted', 'parked'].includes(status) || (status === 'running' && isOrphaned)
}

const discard = defineDelegateCommand({
  brief: 'Give delegates up',
  about:
    'Removes the worktree and the branch. What was committed is kept under refs/stint/, and it says how each is got back.\nA worktree with what is in no commit, ignored results included, is left, and so is its branch.\nA name is given in full. Several at once are asked about, or need --yes.',
  usage: [
    ['fix-login', 'this one'],
    ['--yes', 'all that are not merged and not at work'],
  ],
  args: delegateArguments('The delegates; all that are not merged and not at work when absent'),
  flags: { yes: toggle('Do not ask') },
  async run(invocation, { yes }, ...names) {
    const { context, delegates, output, redacted, print } = invocation
    refuseInRun(context, 'discarding a delegate')
    await delegates.reconcile()
    const isSelected = (row: DelegateRow) => isUnfinished(row) && !isActive(row)
    const rows = await selectDelegates(invocation, { names, isExact: true, isSelected })
    if (rows.length === 0) return print([], () => 'There is no delegate to discard.')
    const isConfirmed = yes || (names.length > 0 && rows.length === 1)
    if (!isConfirmed && !(await askToDiscard(invocation, redacted(rows))))
      return output.info('nothing was discarded')
    await delegates.discard([...idsOf(rows)])
    await printDelegates(invocation, idsOf(rows), discardedText)
  },
})

async function askToDiscard(
  { context, json }: DelegateInvocation,
  rows: readonly DelegateRow[],
): Promise<boolean> {
  if (!context.canAsk || json) {
    throw new UsageError(
      `this would discard ${plural(rows.length, 'delegate')}: ${rows.map(delegateLabel).join(', ')}`,
      'add --yes if that is meant, or name one',
    )
  }
  const { askYes } = await import('../../context/ask.ts')
  context.process.stderr.write(`${rows.map(delegateStatusLine).join('\n')}\n`)
  return askYes(
    `Discard ${rows.length === 1 ? 'it' : `these ${rows.length}`}? What was committed is kept.`,
  )
}

function discardedText(row: DelegateRow): string {
  const restoreHint =
    row.left !== undefined
      ? `   its branch is left too: git -C ${shellWord(row.tree)} log ${shellWord(row.branch)}`
      : row.kept === undefined
        ? '   it had no commits of its own'
        : `   get it back: git branch ${shellWord(row.branch)} ${shellWord(row.kept)}`
  return `${delegateStatusLine(row)}\n${restoreHint}`
}

/** Run by the background process. */
const work = defineRunCommand({
  brief: 'Work on a delegate here; stint delegate starts this by itself',
  args: [argument('The delegate', 'ID')],
  json: false,
  async run({ project, context }, _flags, id) {
    const { plainView } = await import('../../print/run/show-run.ts')
    const log = plainView((text) => context.process.stdout.write(text))
    await project.delegates.work(id, (event) => log.take(event))
  },
})

const ROUTES = { start, show, wait, stop, retry, discard, work }

/** The subcommands that a user types. */
const COMMANDS = Object.keys(ROUTES).filter((name) => name !== 'work')

export const delegate = defineCommandGroup({
  brief: 'Agents in the background: start, show, wait, stop, retry, discard',
  about: [
    'stint delegate "What is to be done" starts an agent on a branch and in a worktree of its own, and answers at once.',
    'stint delegates lists them, stint merge brings in what is ready. Without a subcommand it takes the flags of start:',
    ...listFlags(START_FLAGS, 16),
  ].join('\n'),
  routes: ROUTES,
  default: 'start',
  hidden: 'work',
})

export const delegates = defineDelegateCommand({
  brief: 'List the delegates',
  about:
    'How each stands, how long it worked, what it spent, how many commits it made and what to do next.\nWhat was merged or discarded more than a day ago is counted only.',
  usage: [
    ['', 'those that are at work, and what is to be settled'],
    ['--watch', 'live, until none is at work'],
    ['--all --group release', 'every one of a group'],
  ],
  flags: {
    all: toggle('Also what was merged or discarded long ago'),
    group,
    watch: toggle('Show them live, until none is at work; q ends it'),
  },
  async run(invocation, { all, group, watch }) {
    const { context, output, print, json } = invocation
    if (watch && json)
      throw new UsageError(
        '--watch is for a person, and --json for a program',
        'leave one of them out',
      )
    if (watch && liveTerminal(context) === undefined)
      throw new UsageError(
        '--watch needs a terminal to draw on',
        'stint delegate wait tells each change on a line',
      )
    const readRows = async () =>
      invocation.redacted(await selectDelegates(invocation, { group, isSelected: () => true }))
    const withoutOld = (rows: readonly DelegateRow[]) =>
      all ? rows : rows.filter((row) => isRecent(row, new Date().toISOString()))
    let rows = await readRows()
    const tasks = await invocation.taskNames(rows.map(({ task }) => task))
    if (watch && rows.some(isActive)) {
      await watchUntilDone(context, async () => withoutOld(await readRows()), tasks)
      rows = await readRows()
    }
    const shown = withoutOld(rows)
    // On a terminal the table is cut to its width; elsewhere it is printed in full.
    const { isTTY, columns = 0 } = context.process.stdout as { isTTY?: boolean; columns?: number }
    const width = isTTY && columns > 0 ? columns : undefined
    const now = new Date().toISOString()
    print(shown, () =>
      describeDelegates(
        shown,
        rows.length - shown.length,
        { now, tasks, ...defined({ width }) },
        output,
      ),
    )
  },
})

/** Read-only: the delegates keep running. */
async function watchUntilDone(
  context: CliContext,
  readRows: () => Promise<readonly DelegateRow[]>,
  tasks: ReadonlyMap<string, string>,
): Promise<void> {
  await Interrupt.during(async (interrupt) => {
    const endKeys = onQuitKey(interrupt.trigger)
    let onNoneActive = (): void => {}
    const allDone = new Promise<void>((resolve) => (onNoneActive = resolve))
    const readAndCheck = async () => {
      const rows = await readRows()
      if (!rows.some(isActive)) onNoneActive()
      return rows
    }
    const hint = 'q ends the watching; they go on'
    const watching = watchDelegates(context, interrupt.race(allDone), {
      readRows: readAndCheck,
      tasks,
      hint,
    })
    await watching.finally(endKeys)
  })
}
