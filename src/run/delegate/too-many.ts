import { StintError } from '../../journal/errors.ts'
import type { DelegateState } from './delegate-state.ts'
import { isAttended } from './delegates.ts'

/** Refuses one more, when as many are at work as may be. */
export function refuseTooMany(others: readonly DelegateState[], most: number): void {
  const running = others.filter(isAttended)
  if (running.length < most) return
  throw new StintError(
    'TOO_MANY_DELEGATES',
    `${running.length} delegates are at work, which is as many as may be: ${running.map(({ order }) => order.name).join(', ')}`,
    'stint delegate wait, stint delegate stop NAME, or raise delegates.most in .sessions/config.yaml',
  )
}
