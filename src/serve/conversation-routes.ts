import type { Hono } from 'hono'
import type { ConversationLine, ConversationList, ConversationPage } from './contract.ts'
import { curveOf } from '../pages/curve.ts'
import { type Bindings, type Scene, numberIn, projectIn } from './scene.ts'

const MOST_ITEMS = 500
/** Each may have to be read whole. */
const MOST_LINES = 50

export function conversationRoutes(app: Hono<Bindings>, scene: Scene): void {
  app.get('/api/conversations', async (asked) => {
    const { conversations } = projectIn(scene, asked)
    const limit = numberIn(asked, 'limit', { most: MOST_LINES }) ?? MOST_LINES
    const offset = numberIn(asked, 'offset') ?? 0
    const all = conversations
      .stored()
      .toSorted((a, b) => (a.writtenAt < b.writtenAt ? 1 : a.writtenAt > b.writtenAt ? -1 : 0))
    const rows: ConversationLine[] = []
    // In sequence, so that other requests are answered in between.
    for (const { id } of all.slice(offset, offset + limit)) rows.push(await conversations.line(id))
    return asked.json({ rows, total: all.length } satisfies ConversationList)
  })

  app.get('/api/conversations/:id', async (asked) => {
    const { conversations } = projectIn(scene, asked)
    const limit = numberIn(asked, 'limit', { least: 1, most: MOST_ITEMS }) ?? 100
    const index = await conversations.read(asked.req.param('id'))
    const from = Math.min(numberIn(asked, 'from') ?? 0, index.total)
    const known = numberIn(asked, 'known') ?? 0
    const requestsFrom = known > index.requests.length ? 0 : known
    return asked.json({
      line: await conversations.line(index.id),
      items: index.items(from, limit),
      from,
      total: index.total,
      compactions: index.compactions.map(({ number }) => number),
      requests: index.requests.slice(requestsFrom),
      requestsFrom,
    } satisfies ConversationPage)
  })

  app.get('/api/conversations/:id/curve', async (asked) => {
    const { conversations, workspace } = projectIn(scene, asked)
    return asked.json(curveOf(workspace, await conversations.read(asked.req.param('id'))))
  })
}
