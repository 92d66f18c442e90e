import { useState } from 'preact/hooks'
import { type ApiFailure, asFailure } from './failure.ts'

/** A user action: one at a time; its failure stays until the next one. */
export interface Action {
  readonly isBusy: boolean
  readonly failure?: ApiFailure
  /** Undefined when it failed or another action is running. */
  run<T>(action: () => Promise<T>): Promise<T | undefined>
}

export function useAction(): Action {
  const [state, setState] = useState<{ isBusy: boolean; failure?: ApiFailure }>({ isBusy: false })
  return {
    ...state,
    async run(action) {
      if (state.isBusy) return undefined
      setState({ isBusy: true })
      try {
        const result = await action()
        setState({ isBusy: false })
        return result
      } catch (error) {
        setState({ isBusy: false, failure: asFailure(error) })
        return undefined
      }
    },
  }
}
