import { reportedSince } from '../session/kinds/delegates.ts'
import type { Scene } from './scene.ts'

/** What became of delegates since the conversation last heard of them is put before the model, once. */
export async function tellNews(scene: Scene): Promise<void> {
  const { conversation, name } = scene.event
  const { conversations, name: session } = scene.state
  // What came before the conversation joined was in what it was given then.
  const joined = conversations.items.findLast(({ text }) => text === conversation)?.id
  const news = reportedSince(scene.state, scene.tracking.heard ?? joined ?? '')
  const latest = reportedSince(scene.state, '').at(-1)?.reported
  if (latest !== undefined) scene.note({ heard: latest })
  // With a context in the same answer it has been told.
  if (news.length === 0 || scene.answer.model !== undefined) return
  // Another hook may have written its notes over ours: the journal knows that it was told.
  const once = `news:${conversation}:${latest}`
  if (scene.state.once.includes(`claude:${once}`)) return
  const { newsOfDelegates } = await import('../context/news.ts')
  const { text, mark } = newsOfDelegates(session, news)
  scene.say({ model: text })
  scene.record(
    'context.given',
    { conversation, event: name, mark, chars: text.length, why: 'delegates reported' },
    once,
  )
}
