import type { ApiFailure } from '../data/failure.ts'
import { WithCode } from './text.tsx'

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
