import type { Hono } from 'hono'
import { showHandoff } from '../project/handoff/find.ts'
import { readStatus } from '../backlog/task.ts'
import type { Backlog, HandoffPage, LedgerAnswer } from './contract.ts'
import { allHandoffs } from '../pages/handoffs.ts'
import { KeptLedgers } from '../pages/kept-ledgers.ts'
import { UsageByDay } from '../pages/usage.ts'
import { Refused, notThere } from './problem.ts'
import {
  type Asked,
  type Bindings,
  type Scene,
  bodyOf,
  listOfTexts,
  numberIn,
  projectIn,
  textIn,
  textOf,
} from './scene.ts'
import { sessionOf } from './session-routes.ts'
import { publicTask } from '../public.ts'
import { defined } from '../text/defined.ts'

const BY = 'page'
const TEXTS = [
  'shortname',
  'description',
  'details',
  'priority',
  'size',
  'parent',
  'group',
  'assignee',
  'verify',
] as const
const LISTS = ['labels', 'dependsOn'] as const
const MOST_DAYS = 366

export function backlogRoutes(app: Hono<Bindings>, scene: Scene): void {
  const usage = new Map<string, UsageByDay>()
  const ledgers = new KeptLedgers((project) => scene.live.stampOf(project))

  app.get('/api/tasks', async (asked) => {
    const { tasks } = await projectIn(scene, asked).project.tasks.list()
    return asked.json(tasks.map(publicTask) satisfies Backlog)
  })

  app.post('/api/tasks', async (asked) => {
    const { project } = projectIn(scene, asked)
    const body = await bodyOf(asked)
    const fields = {
      ...Object.fromEntries(TEXTS.map((name) => [name, textOf(body, name)])),
      ...Object.fromEntries(LISTS.map((name) => [name, listOfTexts(body, name)])),
    }
    return asked.json(
      publicTask(
        await project.tasks.add({ title: textOf(body, 'title') ?? '', by: BY, ...defined(fields) }),
      ),
    )
  })

  app.post('/api/tasks/:id/status', async (asked) => {
    const { project } = projectIn(scene, asked)
    const body = await bodyOf(asked)
    const status = readStatus(body['status'])
    if (status === undefined) {
      throw new Refused(
        400,
        'NO_STATUS',
        'a task has no such status',
        'there are ready, in_progress, blocked, completed, failed',
      )
    }
    return asked.json(
      publicTask(
        await project.tasks.move(asked.req.param('id'), status, {
          by: BY,
          ...defined({ summary: textOf(body, 'note') }),
        }),
      ),
    )
  })

  app.get('/api/handoffs', async (asked) =>
    asked.json(await allHandoffs(projectIn(scene, asked).workspace)),
  )

  app.get('/api/handoffs/:id', async (asked) => {
    const { workspace } = projectIn(scene, asked)
    const id = asked.req.param('id')
    const line = (await allHandoffs(workspace)).find((handoff) => handoff.id === id)
    if (line === undefined) throw notThere('handoff of that id')
    const { handoff } = await showHandoff(workspace, { handoff: `${line.session}/${id}` })
    return asked.json({ ...line, markdown: handoff.document } satisfies HandoffPage)
  })

  app.get('/api/usage', async (asked) => {
    const project = projectIn(scene, asked)
    const known = usage.get(project.key) ?? new UsageByDay()
    usage.set(project.key, known)
    return asked.json(await known.answer(project, daysIn(asked) ?? 30))
  })

  app.get('/api/ledger', async (asked) => {
    const project = projectIn(scene, asked)
    const name = textIn(asked, 'session')
    const session = name === undefined ? undefined : (await sessionOf(project.workspace, name)).id
    return asked.json(
      (await ledgers.answer(
        project,
        defined({ session, days: daysIn(asked) }),
      )) satisfies LedgerAnswer,
    )
  })
}

function daysIn(asked: Asked): number | undefined {
  return numberIn(asked, 'days', { least: 1, most: MOST_DAYS })
}
