import { runGit } from '../../git/run-git.ts'
import { draft } from '../../session/entries.ts'
import type { RunSession } from './run-session.ts'
import type { RunContext } from './run-context.ts'
import { commitOf, headNow } from '../worktree/tree.ts'

/** Where the branch stands that the work of a delegate is to go to. */
export function targetNow({ delegate, tree }: RunContext): string | undefined {
  return delegate === undefined ? undefined : commitOf(tree.tree, delegate.order.target)
}

/**
 * Says when that branch was put on a commit of the delegate's own while it worked. The rules keep an agent from it, as far as
 * it asks; where it did not, whoever merges should know that nothing was proved.
 */
export function sayIfMoved(
  scene: RunContext,
  session: RunSession,
  before: string | undefined,
): void {
  const { delegate, tree, workspace } = scene
  const now = targetNow(scene)
  if (delegate === undefined || now === undefined || before === undefined || now === before) return
  if (headNow(tree.tree)?.commit === undefined) return
  // What came from there by a merge is no commit of its own.
  const own = runGit(tree.tree, ['rev-list', '--first-parent', `${before}..HEAD`, '--']).split('\n')
  if (!own.includes(now)) return
  const { name, target } = delegate.order
  const where = `from ${before.slice(0, 10)} to ${now.slice(0, 10)}`
  const text = `${target} was moved ${where}, a commit of ${name}, while it was worked on: it is on there without having been proved`
  workspace.say(text)
  // Nobody may hear what is said in the background.
  session.append([draft('gotcha.found', { text }, { by: 'run' })])
}
