import type { SessionState } from '../session/state.ts'
import { readProjectContext } from '../context/survey/remembered.ts'
import { essenceOf } from './essence.ts'
import { withNewWindow } from './new-window.ts'
import type { Scene } from './scene.ts'
import { toldInstead } from './told-instead.ts'
import { defined } from '../text/defined.ts'

const ATTEMPTS = 3

/** Puts the session's context before the model, and notes how to recognise in the transcript that it arrived. */
export async function deliver(
  scene: Scene,
  state: SessionState,
  why: { level: 'start' | 'full'; because: string },
): Promise<void> {
  const { conversation, name } = scene.event
  const { given } = scene.tracking
  const attempts = (given?.attempts ?? 0) + 1
  if (attempts > ATTEMPTS) return
  // Few events give anything, and only those pay for what it is made with.
  const { packContext } = await import('../context/pack.ts')
  // Whoever goes on knows the repository.
  const project = why.level === 'start' ? readProjectContext(scene.place) : undefined
  const { text, mark } = packContext(state, {
    level: why.level,
    conversation,
    ...defined({ project }),
  })
  scene.say({ model: text })
  scene.note({
    // What is given now stands behind no boundary yet.
    sawBoundary: false,
    given: {
      mark,
      event: name,
      at: scene.now,
      level: why.level,
      essence: essenceOf(state),
      attempts,
      isProved: false,
    },
  })
  if (scene.session === undefined) return
  const instead = toldInstead(text, scene.session, state)
  scene.record('context.given', {
    conversation,
    event: name,
    mark,
    chars: text.length,
    why: why.because,
    ...instead,
  })
}

/** Nothing has been put before the model since this conversation began, was cleared, or was compacted. */
export function openWindow(scene: Scene): void {
  scene.tracking = withNewWindow(scene.tracking)
}

/** Whether the model has what people wrote: it was given and arrived, and nothing of it is new since. */
export function hasIt(scene: Scene, state: SessionState): boolean {
  const { given } = scene.tracking
  return given?.isProved === true && given.essence === essenceOf(state)
}
