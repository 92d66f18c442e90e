import { runGit } from '../../git/run-git.ts'
import type { DelegateSettings } from '../../project/config/run-config.ts'
import { defined } from '../../text/defined.ts'
import type { DelegateRun } from '../attempt/run-context.ts'
import type { DelegateMove, DelegateOrder } from '../entries.ts'
import { commitOf, headNow } from '../worktree/tree.ts'
import { delegateEnvironment, delegateWrap } from './delegate-environment.ts'

/** How the run of a delegate differs from others. `toMend`: its work was finished, and did not merge. */
export function delegateRun(
  order: DelegateOrder,
  tree: string,
  settings: DelegateSettings,
  toMend?: DelegateMove,
): DelegateRun {
  const { brief, isReadOnly, output } = order
  const { because, target = '', onto = '', files = [], verify } = toMend ?? {}
  return {
    brief,
    env: delegateEnvironment(order, tree, settings),
    proof: {
      ...defined({ contains: toMend?.onto }),
      ...defined(isReadOnly ? { report: output } : { produces: output }),
    },
    ...defined({ wrap: delegateWrap(order, tree, settings), setup: settings.setup }),
    ...(toMend === undefined
      ? {}
      : {
          failure: {
            reason: because ?? 'it did not go into the target',
            merge: { target, onto, files },
            ...defined({ verify }),
          },
        }),
    watchTarget: () => {
      const before = commitOf(tree, order.target)
      return () => movedTarget(order, tree, before)
    },
  }
}

/**
 * Whether the target was put on a commit of the delegate's own while it worked. The rules keep an agent from it, as far as
 * it asks; where it did not, whoever merges should know that nothing was proved.
 */
function movedTarget(
  { name, target }: DelegateOrder,
  tree: string,
  before: string | undefined,
): string | undefined {
  const now = headNow(tree)?.commit === undefined ? undefined : commitOf(tree, target)
  if (now === undefined || before === undefined || now === before) return undefined
  // What came from there by a merge is no commit of its own.
  const own = runGit(tree, ['rev-list', '--first-parent', `${before}..HEAD`, '--']).split('\n')
  if (!own.includes(now)) return undefined
  const where = `from ${before.slice(0, 10)} to ${now.slice(0, 10)}`
  return `${target} was moved ${where}, a commit of ${name}, while it was worked on: it is on there without having been proved`
}
