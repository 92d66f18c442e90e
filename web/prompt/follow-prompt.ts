// Follows a prompt to its end: past events are requested, new ones are received, and gaps are requested again. Survives a page reload and
// a server restart.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { PromptEvent } from '../../src/serve/contract.ts'
import { api } from '../data/api.ts'
import { liveState, onLive, whenLive } from '../data/live.ts'
import { type ApiFailure, asFailure } from '../data/failure.ts'
import { INITIAL_PROMPT_STATE, type PromptState, applyEvents, hasGap } from './prompt-state.ts'
import { defined } from '../../src/text/defined.ts'

export interface FollowedPrompt {
  readonly state: PromptState
  /** The server does not know the prompt, or cannot be reached. */
  readonly failure?: ApiFailure
}

export function useFollowedPrompt(prompt: string): FollowedPrompt {
  const [followed, setFollowed] = useState<FollowedPrompt>({ state: INITIAL_PROMPT_STATE })
  const state = useRef(INITIAL_PROMPT_STATE)
  useEffect(() => {
    const ended = new AbortController()
    let received: PromptEvent[] = []
    let frame = 0
    let isLoading = false
    let isStale = false
    const show = (failure?: ApiFailure): void =>
      setFollowed({ state: state.current, ...defined({ failure }) })
    // Deltas come faster than they can be rendered.
    const flush = (): void => {
      frame = 0
      state.current = applyEvents(state.current, received)
      received = []
      show()
      if (hasGap(state.current)) void catchUp()
    }
    const receive = (events: readonly PromptEvent[]): void => {
      received.push(...events)
      // A hidden page gets no animation frames.
      if (document.visibilityState === 'hidden') flush()
      else if (frame === 0) frame = requestAnimationFrame(flush)
    }
    const catchUp = async (): Promise<void> => {
      if (isLoading) {
        isStale = true
        return
      }
      isLoading = true
      try {
        await whenLive()
        do {
          isStale = false
          const events = await api.promptEvents(prompt, state.current.last, ended.signal)
          state.current = applyEvents(state.current, events)
          show()
        } while (isStale && !ended.signal.aborted)
      } catch (error) {
        if (!ended.signal.aborted) show(asFailure(error))
      } finally {
        isLoading = false
      }
    }
    state.current = INITIAL_PROMPT_STATE
    show()
    void catchUp()
    const stopEvents = onLive((event) => {
      if (event.type === 'reset') void catchUp()
      else if (event.type === 'prompt' && event.prompt === prompt) receive([event.event])
    })
    const stopState = liveState.subscribe((now) => {
      if (now === 'connected') void catchUp()
    })
    return () => {
      ended.abort()
      cancelAnimationFrame(frame)
      stopEvents()
      stopState()
    }
  }, [prompt])
  return followed
}
