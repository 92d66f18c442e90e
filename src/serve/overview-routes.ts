import type { Hono } from 'hono'
import type { SaidHit, SearchHit } from '../index/open-index.ts'
import { searchEverywhere } from '../project/search.ts'
import type { Overview, SearchAnswer, SearchLine } from './contract.ts'
import { KnownHarnesses } from '../pages/harnesses.ts'
import { Refused } from './problem.ts'
import { type Bindings, type Scene, numberIn, projectIn, textIn } from './scene.ts'
import { defined } from '../text/defined.ts'
import { labelOf } from '../session/registry.ts'

const MOST_HITS = 200
/** Other requests wait this long. */
const READING_MS = 200

export function overviewRoutes(app: Hono<Bindings>, scene: Scene): void {
  const harnesses = new KnownHarnesses(() => scene.projects.of(undefined).workspace, scene.env)

  app.get('/api/overview', async (asked) => {
    const { version, projects } = scene
    const lines = await harnesses.lines()
    return asked.json({
      version,
      here: projects.here,
      projects: projects.lines(),
      harnesses: lines,
    } satisfies Overview)
  })

  app.get('/api/search', async (asked) => {
    const { workspace } = projectIn(scene, asked)
    const text = textIn(asked, 'text')
    if (text === undefined)
      throw new Refused(400, 'EMPTY_TEXT', 'there is nothing to search for', '?text=WORDS')
    const limit = numberIn(asked, 'limit', { least: 1, most: MOST_HITS }) ?? 50
    const hits: SearchLine[] = []
    let unreadBytes: number | undefined
    const query = {
      text,
      limit,
      marks: ['\u0001', '\u0002'],
      readingMs: READING_MS,
      tellUnread: (bytes: number) => (unreadBytes = bytes),
    } as const
    for await (const hit of searchEverywhere(workspace, query)) hits.push(searchLine(hit))
    return asked.json({ hits, ...defined({ unreadBytes }) } satisfies SearchAnswer)
  })
}

function searchLine(hit: SearchHit | SaidHit): SearchLine {
  const { where, snippet } = hit
  if (where === 'journal') {
    const { session, name, entry, kind, at } = hit
    return { where, session, sessionName: name, entry, kind, label: labelOf(kind), at, snippet }
  }
  const { conversation, item, role, at, session, name } = hit
  return {
    where,
    conversation,
    item,
    kind: role,
    label: role,
    snippet,
    ...defined({ at, session, sessionName: name }),
  }
}
