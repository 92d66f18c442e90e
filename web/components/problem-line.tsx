import type { ApiFailure } from '../data/api.ts'
import { WithCode } from './text.tsx'

/** What went wrong with something that was asked for, where it was asked for. */
export function ProblemLine({ failure }: { failure: ApiFailure | undefined }) {
  if (failure === undefined) return null
  const { message, hint } = failure.problem
  return (
    <p class="problem-line" role="alert">
      <WithCode text={message} />
      {hint === undefined ? null : (
        <span class="muted">
          {' '}
          <WithCode text={hint} />
        </span>
      )}
    </p>
  )
}
