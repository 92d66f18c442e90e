import { StintError } from '../../journal/errors.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { cleanText, oneLine, shorten } from '../../text/clean.ts'
import { defined } from '../../text/defined.ts'
import { plainEnvironment } from '../attempt/agent-environment.ts'
import { delegateEnvironment } from '../delegate/delegate-environment.ts'
import type { DelegateMove } from '../entries.ts'
import type { DelegateState } from '../delegate/delegates.ts'
import { resolveOptions } from '../options.ts'
import { type VerifyResult, runVerify } from '../proof/verify.ts'
import { openSource } from '../sources/open-source.ts'
import { headInWords, headNow, headOf, uncommitted } from '../worktree/tree.ts'
import { makeTree, mergeInto } from './integration-tree.ts'
import { type MergeContext, STOPPED, refuseWhenStopped, sayOnce } from './merge-context.ts'
import { obstacleTo } from './target.ts'

export type Made =
  | { readonly is: 'green'; readonly to: string }
  | { readonly is: 'conflict'; readonly files: readonly string[]; readonly because: string }
  | ({ readonly is: 'red' } & Red)
  | { readonly is: 'held'; readonly because: string }

/**
 * The merge, in its own tree, verified. It is a commit of its own also where the target could just go on to the delegate's last: those
 * before that one were never verified, and would be what the target was at, one after the other, for whoever looks for a mistake there.
 */
export async function makeMerge(
  context: MergeContext,
  state: DelegateState,
  { tree, tip, onto }: { readonly tree: string; readonly tip: string; readonly onto: string },
): Promise<Made> {
  const { place } = context.workspace
  const { name, target, what } = state.order
  makeTree(place, tree, onto)
  refuseWhenStopped(context)
  const message = shorten(oneLine(`Merge delegate ${name}: ${what}`), 100)
  const files = mergeInto(tree, tip, message)
  if (files !== undefined) {
    return {
      is: 'conflict',
      files,
      because: `it conflicts with ${target} in ${files.slice(0, 8).join(', ')}`,
    }
  }
  const to = headOf(tree).commit
  await context.at('merge made')
  // Before the long part, and once more when it is over.
  const because = obstacleTo(place, target)
  if (because !== undefined) return { is: 'held', because }
  const red = await verifyMerge(context, state, { tree, to })
  return red === undefined ? { is: 'green', to } : { is: 'red', ...red }
}

export interface Red {
  readonly because: string
  readonly verify: NonNullable<DelegateMove['verify']>
}

/** Runs set-up and verify command in a tree at a commit. Undefined when all is green. */
export async function verifyMerge(
  context: MergeContext,
  state: DelegateState,
  { tree, to }: { readonly tree: string; readonly to: string },
): Promise<Red | undefined> {
  const { emit, workspace } = context
  const about = { delegate: state.order.name }
  const verify = await verifyCommand(workspace, state)
  if (verify === undefined) {
    sayOnce(
      context,
      'there is no verify command: what is merged was not tried on the target (verify in .sessions/config.yaml)',
    )
    return undefined
  }
  const run = async (command: string) => {
    const result = await runVerify(command, {
      tree,
      verifyMs: resolveOptions(workspace, state.run.started.options).verifyMs,
      // As it was proved in: a port or a database of its own is needed here too.
      env: {
        ...plainEnvironment(workspace.env),
        ...delegateEnvironment(state.order, tree, workspace.config.delegates),
      },
      isStopped: context.isStopped,
    })
    if (result.isStopped) throw new StintError(STOPPED, 'the merge was stopped')
    return result
  }
  const setup = workspace.config.delegates.setup ?? workspace.config.run.setup
  if (setup !== undefined) {
    emit('setup.started', { command: setup }, about)
    const result = await run(setup)
    if (!result.passed) return red(`the set-up command ${setup} ${result.ending}`, result)
  }
  const leftBefore = uncommitted(tree)
  emit('verify.started', { command: verify }, about)
  const result = await run(verify)
  const because = result.passed ? changeIn(tree, to, leftBefore) : `${verify} ${result.ending}`
  emit('verify.ended', { passed: because === undefined, seconds: result.seconds }, about)
  return because === undefined
    ? undefined
    : red(result.passed ? `after ${verify}: ${because}` : because, result)
}

/** The task's own, that of the order, or the project's. */
async function verifyCommand(
  workspace: Workspace,
  { order, run }: DelegateState,
): Promise<string | undefined> {
  const { backlog, verify } = run.started.options
  const source = order.task === undefined ? undefined : await openSource(workspace, backlog)
  const task = order.task === undefined ? undefined : (await source?.read())?.byId.get(order.task)
  const command = task?.verify ?? verify ?? workspace.config.verify
  if (command?.includes('[redacted:') !== true) return command
  throw new StintError(
    'VERIFY_REDACTED',
    'its verify command had a secret in it, which was not written down',
    `verify and merge ${run.started.branch} by hand; then stint merge ${order.name} finds it merged`,
  )
}

/** A verify command that changes what it verifies has verified something else. */
function changeIn(tree: string, to: string, leftBefore: readonly string[]): string | undefined {
  const head = headNow(tree)
  if (head?.commit !== to || head.branch !== undefined)
    return `HEAD is on ${headInWords(head)} and not at ${to.slice(0, 10)}`
  const dirty = uncommitted(tree).filter((path) => !leftBefore.includes(path))
  return dirty.length === 0 ? undefined : `not committed: ${dirty.slice(0, 8).join(', ')}`
}

function red(because: string, { command, exit, output }: VerifyResult): Red {
  return {
    because,
    verify: { command, output: cleanText(output), ...defined({ exit }) },
  }
}
