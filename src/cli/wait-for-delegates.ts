import type { DelegateRow } from '../run/delegate/contract.ts'
import { idsOf, standing } from './choose-delegates.ts'
import type { Context } from './context.ts'
import type { Interrupt } from './interrupt.ts'
import { watching } from './watch-delegates.ts'
import type { DelegateScene } from './with-delegates.ts'

const HINT = 'Ctrl-C ends the waiting; they go on'

/** Shows these until none of them is at work, and answers how they stand then. */
export async function waitFor(
  context: Context,
  scene: DelegateScene,
  rows: readonly DelegateRow[],
  interrupt: Interrupt,
): Promise<readonly DelegateRow[]> {
  const ids = idsOf(rows)
  const look = () => standing(scene, ids)
  const tasks = await scene.taskNames(rows.map(({ task }) => task))
  const ended = scene.delegates.wait([...ids], { isStopped: interrupt.signal })
  await watching(context, interrupt.orUndefined(ended), { look, tasks, hint: HINT })
  return look()
}
