import { asksToContinue } from '../context/intent.ts'
import { isRuling } from '../context/ruling.ts'
import type { PendingRequest } from '../conversation/tracking.ts'
import { withoutSecrets } from '../project/clean-draft.ts'
import { cleanText, shorten } from '../text/clean.ts'
import type { Scene } from './scene.ts'

const LONGEST = 600
const MOST_PENDING = 20

/** What a prompt asks for, in the person's words, or undefined when it asks for nothing that should be kept. */
export function requestIn(prompt: string): { text: string; isRuling: boolean } | undefined {
  const text = cleanText(prompt).trim()
  // A command of the harness, or a message of its own.
  if (text === '' || /^[/<]/.test(text)) return undefined
  if (asksToContinue(text) || /^\S{1,12}[.!]?$/.test(text)) return undefined
  return { text: shorten(text, LONGEST), isRuling: isRuling(text) }
}

/** Records a request, or keeps it until there is a session. */
export function recordRequest(scene: Scene, prompt: string, of: { conversation?: string; once?: string } = {}): void {
  const request = requestIn(prompt)
  if (request === undefined) return
  if (scene.session !== undefined) {
    const { conversation = scene.event.conversation, once } = of
    scene.record('request.made', { ...dataOf(request), conversation }, once)
    return
  }
  const text = withoutSecrets(request.text, scene.config)
  const pending = { text, isRuling: request.isRuling, at: scene.now }
  const { ended } = scene.tracking
  scene.note({
    requests: [...scene.tracking.requests, pending].slice(-MOST_PENDING),
    ...(ended === undefined ? {} : { ended: { ...ended, askedSince: true } }),
  })
}

/** Requests made before there was a session belong to the one that they led to. */
export function recordPending(scene: Scene): void {
  for (const request of scene.tracking.requests) {
    scene.record('request.made', { ...dataOf(request), conversation: scene.event.conversation })
  }
  scene.note({ requests: [] })
}

function dataOf({ text, isRuling: rules }: Pick<PendingRequest, 'text' | 'isRuling'>) {
  return { text, ...(rules ? { isRuling: true } : {}) }
}
