// One prompt, followed to its end: what has happened is asked for, what happens is heard, and where something is missing between the two
// it is asked for again. Survives a reload of the page and a server that goes and comes back.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { PromptEvent } from '../../src/serve/contract.ts'
import { type ApiFailure, api } from '../data/api.ts'
import { whenLive, liveState, onLive } from '../data/live.ts'
import { asFailure } from '../data/resource.ts'
import { INITIAL_PROMPT_STATE, type PromptState, hasGap, applyEvents } from './prompt-state.ts'
import { defined } from '../../src/text/defined.ts'

export interface FollowedPrompt {
  readonly state: PromptState
  /** The server does not know it, or does not answer. */
  readonly failure?: ApiFailure
}

export function useFollowedPrompt(prompt: string): FollowedPrompt {
  const [followed, setFollowed] = useState<FollowedPrompt>({ state: INITIAL_PROMPT_STATE })
  const state = useRef(INITIAL_PROMPT_STATE)
  useEffect(() => {
    const ended = new AbortController()
    let heard: PromptEvent[] = []
    let frame = 0
    let isAsking = false
    let isAskedAgain = false
    const show = (failure?: ApiFailure): void =>
      setFollowed({ state: state.current, ...defined({ failure }) })
    // Pieces of a message come quicker than they can be drawn.
    const draw = (): void => {
      frame = 0
      state.current = applyEvents(state.current, heard)
      heard = []
      show()
      if (hasGap(state.current)) void catchUp()
    }
    const hear = (events: readonly PromptEvent[]): void => {
      heard.push(...events)
      // A page that is not seen gets no frames.
      if (document.visibilityState === 'hidden') draw()
      else if (frame === 0) frame = requestAnimationFrame(draw)
    }
    const catchUp = async (): Promise<void> => {
      if (isAsking) {
        isAskedAgain = true
        return
      }
      isAsking = true
      try {
        await whenLive()
        do {
          isAskedAgain = false
          const events = await api.promptEvents(prompt, state.current.last, ended.signal)
          state.current = applyEvents(state.current, events)
          show()
        } while (isAskedAgain && !ended.signal.aborted)
      } catch (error) {
        if (!ended.signal.aborted) show(asFailure(error))
      } finally {
        isAsking = false
      }
    }
    state.current = INITIAL_PROMPT_STATE
    show()
    void catchUp()
    const stopHearing = onLive((event) => {
      if (event.type === 'reset') void catchUp()
      else if (event.type === 'prompt' && event.prompt === prompt) hear([event.event])
    })
    const stopWatching = liveState.subscribe((now) => {
      if (now === 'connected') void catchUp()
    })
    return () => {
      ended.abort()
      cancelAnimationFrame(frame)
      stopHearing()
      stopWatching()
    }
  }, [prompt])
  return followed
}
