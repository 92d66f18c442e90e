// The flags of a new delegate, and what is wrong with what was given.
import type { DelegateRequest } from '../../library.ts'
import { resolve } from 'node:path'
import type { Context } from './context.ts'
import { Misuse } from './errors.ts'
import { json, session, taskName, text, texts, toggle } from './flags.ts'
import { nearest } from './nearest.ts'
import { amount, choice, given, harnessOf, refuseScript, tokenCount } from './run-flags.ts'
import { defined } from '../../text/defined.ts'

export interface StartFlags {
  readonly as?: string
  readonly task?: string
  readonly group?: string
  readonly base?: string
  readonly harness?: string
  readonly model?: string
  readonly files?: readonly string[]
  readonly output?: string
  readonly session?: string
  readonly verify?: string
  readonly budgetTokens?: string
  readonly budgetUsd?: string
  readonly maxMinutes?: string
  readonly permissions?: string
  readonly script?: string
  readonly wait?: boolean
  readonly json?: boolean
}

export const START_FLAGS = {
  as: text(
    'What it works as: tests, docs, review, research or any profile; review and research only read',
    'NAME',
  ),
  task: taskName('The task of the backlog that it works on'),
  group: text('A name for several that belong together', 'GROUP'),
  base: text(
    'Where its branch begins: a branch, which its work then goes to, or any commit',
    'REF',
  ),
  harness: text('The agent: claude, codex, rehearsal, acp:COMMAND, api or api:NAME', 'NAME'),
  model: text('The model, as the agent program calls it', 'MODEL'),
  files: texts('Files it is expected to change; may be given several times', 'GLOB'),
  output: text('A file that it has to bring forth', 'PATH'),
  session: { ...session, brief: 'The session it works for (default: the active one)' },
  verify: text('The command that shows that it is done', 'CMD'),
  budgetTokens: text('The most tokens it may spend: 500000, 500k, 2M', 'N'),
  budgetUsd: text('The most dollars it may spend', 'USD'),
  maxMinutes: text('The most minutes it may take', 'N'),
  permissions: text('What the agent may do: edits (edit, git, verify; default) or all', 'WHAT'),
  script: text('What the rehearsal harness is to do', 'FILE'),
  wait: toggle('Stay and show how it goes, until it is done'),
  json,
} as const

const PERMISSIONS = ['edits', 'all'] as const

/** What the words and flags of `delegate` ask for; misuse is said before anything is opened. */
export async function delegateRequest(
  context: Pick<Context, 'cwd' | 'readStdin'>,
  flags: StartFlags,
  words: readonly string[],
  commands: readonly string[],
): Promise<DelegateRequest> {
  refuseMistyped(words, commands)
  const { files, script } = flags
  refuseScript(flags, 'stint delegate "…" --harness rehearsal --script FILE')
  return {
    what: await orderOf(context, words, flags.task),
    ...defined({
      as: given('as', flags.as),
      task: given('task', flags.task),
      group: given('group', flags.group),
      base: given('base', flags.base),
      harness: harnessOf(flags.harness),
      model: given('model', flags.model),
      files: files?.map((glob) => given('files', glob)!),
      output: given('output', flags.output),
      session: given('session', flags.session),
    }),
    ...defined({
      verify: given('verify', flags.verify),
      budgetTokens: tokenCount('budget-tokens', flags.budgetTokens),
      budgetUsd: amount('budget-usd', flags.budgetUsd, '2.50'),
      maxMinutes: amount('max-minutes', flags.maxMinutes, '90'),
      permissions: choice('permissions', flags.permissions, PERMISSIONS),
      script: given('script', script) === undefined ? undefined : resolve(context.cwd, script!),
    }),
  }
}

async function orderOf(
  { readStdin }: Pick<Context, 'readStdin'>,
  words: readonly string[],
  task: string | undefined,
): Promise<string> {
  const isFromInput = words.length === 1 && words[0] === '-'
  const what = (isFromInput ? await readStdin() : words.join(' ')).trim()
  if (what !== '' || (task !== undefined && !isFromInput)) return what
  if (isFromInput)
    throw new Misuse(
      'nothing came on standard input',
      'echo "What is to be done" | stint delegate -',
    )
  throw new Misuse(
    'say what is to be done',
    'stint delegate "What is to be done", or --task ID for a task of the backlog',
  )
}

/** One that was meant to look at a delegate must not start one, which costs money. */
function refuseMistyped(
  [first = '', ...others]: readonly string[],
  commands: readonly string[],
): void {
  if (!/^[a-z][a-z-]*$/i.test(first)) return
  const [near] = nearest(first, commands)
  const instead = 'if it is what is to be done, say it in one text of several words'
  if (near !== undefined)
    throw new Misuse(`there is no stint delegate ${first}; did you mean ${near}?`, instead)
  if (others.length === 0) {
    throw new Misuse(
      `"${first}" is a name, and no order`,
      `stint delegate show ${first} shows a delegate, --task ${first} gives a task to one; ${instead}`,
    )
  }
}
