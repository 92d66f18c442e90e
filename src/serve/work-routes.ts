import type { Hono } from 'hono'
import { publicWorkflow } from '../public.ts'
import { rangeOf, rowOf } from '../run/delegate/delegate-row.ts'
import { findDelegate } from '../run/delegate/delegates.ts'
import { reconcile } from '../run/merge/finish.ts'
import { redaction } from '../project/store/clean-draft.ts'
import { findRun, readRun } from '../run/run-log.ts'
import { repositoryOf } from '../project/store/worktrees.ts'
import { currentPlace } from '../session/kinds/phases.ts'
import { redact } from '../text/redact.ts'
import type { DelegateAnswer, DelegatePage, WorkflowLine } from './contract.ts'
import { diffOf } from '../pages/diff.ts'
import { runPage } from '../pages/run-page.ts'
import { notThere } from './problem.ts'
import type { OpenedProject } from '../pages/opened-project.ts'
import { type Bindings, type Scene, bodyOf, projectIn, textOf } from './scene.ts'
import { sessionOf } from './session-routes.ts'
import { defined } from '../text/defined.ts'

const BY = 'page'

export function workRoutes(app: Hono<Bindings>, scene: Scene): void {
  app.get('/api/runs', async (asked) => asked.json(await projectIn(scene, asked).runs.list()))

  app.get('/api/runs/:id', async (asked) => {
    const { workspace } = projectIn(scene, asked)
    return asked.json(await runPage(workspace, findRun(workspace.place, asked.req.param('id'))))
  })

  app.get('/api/delegates', async (asked) =>
    asked.json(await projectIn(scene, asked).delegates.list()),
  )

  app.get('/api/delegates/:id', async (asked) =>
    asked.json(await delegatePage(projectIn(scene, asked), asked.req.param('id'))),
  )

  app.post('/api/delegates/:id/:how', async (asked) => {
    const project = projectIn(scene, asked)
    const { id } = findDelegate(project.workspace.place, asked.req.param('id'))
    const body = await bodyOf(asked)
    return asked.json(
      await moveDelegate(project, id, asked.req.param('how'), textOf(body, 'note'), scene.ending),
    )
  })

  app.get('/api/workflows', async (asked) => {
    const { workspace, project } = projectIn(scene, asked)
    const overviews = await (await project.workflows()).list()
    if (overviews.length === 0) return asked.json([])
    const index = await workspace.index()
    const lines = overviews.flatMap((overview): WorkflowLine[] => {
      const session = index.session(overview.state.id)
      return session === undefined ? [] : [{ session, workflow: publicWorkflow(overview) }]
    })
    return asked.json(lines)
  })

  app.post('/api/workflows/:session/:how', async (asked) => {
    const { workspace, project } = projectIn(scene, asked)
    const { id } = await sessionOf(workspace, asked.req.param('session'))
    const note = textOf(await bodyOf(asked), 'note')
    const noted = note === undefined || note.trim() === '' ? {} : { note }
    const workflows = await project.workflows()
    const how = asked.req.param('how')
    if (how === 'approve')
      return asked.json(publicWorkflow(await workflows.approve({ workflow: id, by: BY, ...noted })))
    if (how !== 'reject') throw notThere('such thing to do with a workflow')
    // Not approved: the last part continues, and the journal says why.
    const { workflow } = await workflows.status(id)
    const because = `not approved${note === undefined || note.trim() === '' ? '' : `: ${note}`}`
    const phase = currentPlace(workflow).place.id
    return asked.json(
      publicWorkflow(await workflows.phase({ workflow: id, phase, note: because, by: BY })),
    )
  })
}

async function moveDelegate(
  { delegates }: OpenedProject,
  id: string,
  how: string,
  note: string | undefined,
  isStopped: AbortSignal,
): Promise<DelegateAnswer> {
  if (how === 'merge') return (await delegates.merge([id], { isStopped }))[0]!
  if (how === 'stop') return (await delegates.stop([id]))[0]!
  if (how === 'retry') return (await delegates.retry([id], note === undefined ? {} : { note }))[0]!
  if (how === 'discard') return (await delegates.discard([id]))[0]!
  throw notThere('such thing to do with a delegate')
}

async function delegatePage({ workspace }: OpenedProject, name: string): Promise<DelegatePage> {
  const { place, config } = workspace
  const state = await reconcile(workspace, findDelegate(place, name))
  const root = repositoryOf(place).mainRoot
  const range = rangeOf(root, state)
  const { diff, isCut } =
    range === undefined ? { diff: '', isCut: false } : await diffOf(root, range)
  return {
    row: rowOf(workspace, state),
    diff: redact(diff, redaction(config)).text,
    isDiffCut: isCut,
    moves: movesOf(workspace, state.id),
  }
}

function movesOf({ place }: OpenedProject['workspace'], id: string): DelegatePage['moves'] {
  return readRun(place, id).flatMap((entry) => {
    const { at, kind } = entry
    if (kind === 'run.started' || kind === 'run.resumed') return [{ at, to: 'running' }]
    if (kind === 'merge.begun') return [{ at, to: 'merging' }]
    if (kind !== 'delegate.moved') return []
    const { because, to } = entry.data
    return [{ at, to, ...defined({ because }) }]
  })
}
