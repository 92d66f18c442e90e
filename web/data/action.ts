import { useState } from 'preact/hooks'
import type { ApiFailure } from './api.ts'
import { asFailure } from './resource.ts'

/** Something that a person asked for: one at a time, and what went wrong is kept until the next. */
export interface Action {
  readonly isBusy: boolean
  readonly failure?: ApiFailure
  /** What came of it; absent when it failed, or when another is under way. */
  run<T>(what: () => Promise<T>): Promise<T | undefined>
}

export function useAction(): Action {
  const [state, setState] = useState<{ isBusy: boolean; failure?: ApiFailure }>({ isBusy: false })
  return {
    ...state,
    async run(what) {
      if (state.isBusy) return undefined
      setState({ isBusy: true })
      try {
        const answer = await what()
        setState({ isBusy: false })
        return answer
      } catch (error) {
        setState({ isBusy: false, failure: asFailure(error) })
        return undefined
      }
    },
  }
}
