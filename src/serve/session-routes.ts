import type { Hono } from 'hono'
import type { SessionFilter, SessionRow } from '../index/queries.ts'
import { readOrUndefined } from '../journal/look.ts'
import { findSession } from '../project/store/choose.ts'
import type { LiveSession } from '../project/store/live-session.ts'
import { logPlace } from '../project/store/place.ts'
import { overviewOf } from '../project/workflow/overview.ts'
import type { Workspace } from '../project/store/workspace.ts'
import { NOTHING } from '../run/run-state.ts'
import type { Spend } from '../run/entries.ts'
import { addSpend } from '../run/report.ts'
import type { SessionState, SessionStatus } from '../session/state.ts'
import type { EntryList, SessionList, SessionPage } from './contract.ts'
import { entryList, recordsBefore, recordsFrom } from '../pages/entries.ts'
import { publicSession, publicWorkflow } from '../public.ts'
import { MARKER_PATTERN } from '../document/grammar.ts'
import { renderDocument } from '../document/render.ts'
import { Refused } from './problem.ts'
import type { OpenedProject } from '../pages/opened-project.ts'
import { type Asked, type Bindings, type Scene, numberIn, projectIn, textIn } from './scene.ts'
import { defined } from '../text/defined.ts'

const STATUSES: readonly SessionStatus[] = ['active', 'paused', 'completed', 'abandoned']
const SORTS = ['updated', 'created', 'name'] as const
const MOST_ROWS = 500
const MOST_ENTRIES = 500

export function sessionRoutes(app: Hono<Bindings>, scene: Scene): void {
  app.get('/api/sessions', async (asked) => {
    const { workspace } = projectIn(scene, asked)
    const filter = filterIn(asked)
    if (!workspace.hasSessions()) return asked.json({ rows: [], total: 0 } satisfies SessionList)
    const index = await workspace.index()
    return asked.json({
      rows: [...index.sessions(filter)],
      total: index.countSessions(filter),
    } satisfies SessionList)
  })

  app.get('/api/sessions/:id', async (asked) => {
    const project = projectIn(scene, asked)
    const row = await sessionOf(project.workspace, asked.req.param('id'))
    scene.live.follow(project.key, row.id)
    return asked.json(await sessionPage(project, row))
  })

  app.get('/api/sessions/:id/entries', async (asked) => {
    const project = projectIn(scene, asked)
    const { workspace } = project
    const { id } = await sessionOf(workspace, asked.req.param('id'))
    const limit = numberIn(asked, 'limit', { least: 1, most: MOST_ENTRIES }) ?? 100
    const [from, before] = [numberIn(asked, 'from'), numberIn(asked, 'before')]
    const log = logPlace(workspace.place, id)
    scene.live.follow(project.key, id)
    const slice =
      from === undefined ? recordsBefore(log, before, limit) : recordsFrom(log, from, limit)
    return asked.json(entryList(slice, id, await workspace.index()) satisfies EntryList)
  })
}

/** By its id, as the page does; by whatever else means it, as people do. */
export async function sessionOf(workspace: Workspace, name: string): Promise<SessionRow> {
  const row = workspace.hasSessions() ? (await workspace.index()).session(name) : undefined
  return row ?? findSession(workspace, name)
}

function filterIn(asked: Asked): SessionFilter {
  const status = textIn(asked, 'status')?.split(',')
  const unknown = status?.find((one) => !STATUSES.includes(one as SessionStatus))
  if (unknown !== undefined)
    throw new Refused(
      400,
      'NO_STATUS',
      `there is no status "${unknown}"`,
      `there are ${STATUSES.join(', ')}`,
    )
  const sort = SORTS.find((order) => order === textIn(asked, 'sort'))
  if (sort === undefined && textIn(asked, 'sort') !== undefined) {
    throw new Refused(400, 'NO_ORDER', 'there is no such order', `there are ${SORTS.join(', ')}`)
  }
  return {
    limit: numberIn(asked, 'limit', { most: MOST_ROWS }) ?? 50,
    offset: numberIn(asked, 'offset') ?? 0,
    ...defined({
      status: status as readonly SessionStatus[] | undefined,
      sort,
      text: textIn(asked, 'text'),
      name: textIn(asked, 'name'),
      branch: textIn(asked, 'branch'),
    }),
  }
}

async function sessionPage(project: OpenedProject, row: SessionRow): Promise<SessionPage> {
  const { workspace, conversations } = project
  const session = workspace.session(row.id)
  try {
    const { state, end } = session.openTo()
    const lines = await Promise.all(
      state.conversations.items.map((one) => conversations.line(one.text, one, row.id)),
    )
    const mine = state.delegates.items.map(({ delegate }) => delegate)
    const delegates =
      mine.length === 0
        ? []
        : (await project.delegates.list()).filter(({ id }) => mine.includes(id))
    return {
      row,
      state: publicSession(state),
      document: documentOf(session, state, end),
      conversations: lines,
      delegates,
      spend: lines.reduce<Spend>((sum, { spend }) => addSpend(sum, spend), { ...NOTHING, usd: 0 }),
      cursor: end,
      ...defined({ workflow: state.workflow && publicWorkflow(overviewOf(workspace, state)) }),
    }
  } finally {
    session.close()
  }
}

/** The file with unabsorbed edits, unless the journal has grown since. */
function documentOf(session: LiveSession, state: SessionState, end: number): string {
  const standing = readOrUndefined(session.documentPath(state))?.toString('utf8')
  const marker = MARKER_PATTERN.exec(standing?.trimEnd().split('\n').at(-1) ?? '')
  if (standing !== undefined && Number(marker?.[1]) === end) return standing
  const reading = session.read()
  return renderDocument(reading.state, reading.marker)
}
