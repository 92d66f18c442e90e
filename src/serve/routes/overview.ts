import type { Hono } from 'hono'
import type { Overview, SearchAnswer } from '../contract.ts'
import { KnownHarnesses } from '../data/harnesses.ts'
import { Refused } from '../problem.ts'
import { type Bindings, type Scene, numberIn, projectIn, textIn } from '../scene.ts'

const MOST_HITS = 200

export function overviewRoutes(app: Hono<Bindings>, scene: Scene): void {
  const harnesses = new KnownHarnesses(() => scene.projects.of(undefined).workspace, scene.env)

  app.get('/api/overview', async (asked) => {
    const { version, projects } = scene
    const lines = await harnesses.lines()
    return asked.json({ version, here: projects.here, projects: projects.lines(), harnesses: lines } satisfies Overview)
  })

  app.get('/api/search', async (asked) => {
    const { workspace } = projectIn(scene, asked)
    const text = textIn(asked, 'text')
    if (text === undefined) throw new Refused(400, 'EMPTY_TEXT', 'there is nothing to search for', '?text=WORDS')
    const limit = numberIn(asked, 'limit', { least: 1, most: MOST_HITS }) ?? 50
    const index = workspace.hasSessions() ? await workspace.index() : undefined
    const hits = index === undefined ? [] : [...index.search({ text, limit, marks: ['\u0001', '\u0002'] })]
    return asked.json({
      hits: hits.map(({ session, name, entry, kind, at, snippet }) => ({
        where: 'journal',
        session,
        sessionName: name,
        entry,
        kind,
        at,
        snippet,
      })),
    } satisfies SearchAnswer)
  })
}
