import type { Hono } from 'hono'
import type { Permissions } from '../harness/contract/drive.ts'
import { Refused } from './problem.ts'
import { type Bindings, type Scene, bodyOf, flagOf, numberIn, projectIn, textOf } from './scene.ts'
import { defined } from '../text/defined.ts'

const PERMISSIONS: readonly Permissions[] = ['ask', 'edits', 'all']

export function promptRoutes(app: Hono<Bindings>, scene: Scene): void {
  const { prompts } = scene

  app.post('/api/prompts', async (asked) => {
    const project = projectIn(scene, asked)
    const body = await bodyOf(asked)
    const text = textOf(body, 'text') ?? ''
    if (text.trim() === '')
      throw new Refused(400, 'EMPTY_TEXT', 'there is nothing to send', '{"text": "…"}')
    const wanted = textOf(body, 'permissions')
    const permissions = PERMISSIONS.find((one) => one === wanted)
    if (wanted !== undefined && permissions === undefined) {
      throw new Refused(
        400,
        'WRONG_FIELD',
        'there are no such permissions',
        `there are ${PERMISSIONS.join(', ')}`,
      )
    }
    const request = {
      text,
      ...defined({
        session: textOf(body, 'session'),
        isNew: flagOf(body, 'isNew'),
        conversation: textOf(body, 'conversation'),
        isFresh: flagOf(body, 'isFresh'),
        harness: textOf(body, 'harness'),
        model: textOf(body, 'model'),
        permissions,
        script: textOf(body, 'script'),
      }),
    }
    return asked.json(await prompts.start(project, request, () => scene.projects.hold(project.key)))
  })

  app.get('/api/prompts', (asked) => {
    return asked.json(
      prompts.running(projectIn(scene, asked).key, asked.req.query('session') ?? ''),
    )
  })

  app.post('/api/prompts/:id/permission', async (asked) => {
    const body = await bodyOf(asked)
    const [request, isAllowed] = [textOf(body, 'request'), flagOf(body, 'isAllowed')]
    if (request === undefined || isAllowed === undefined) {
      throw new Refused(
        400,
        'WRONG_FIELD',
        'it has to be said what is allowed or not',
        '{"request": "…", "isAllowed": true}',
      )
    }
    prompts.decide(asked.req.param('id'), request, isAllowed)
    return asked.json({})
  })

  app.post('/api/prompts/:id/interrupt', async (asked) => {
    await prompts.interrupt(asked.req.param('id'))
    return asked.json({})
  })

  app.get('/api/prompts/:id/events', (asked) =>
    asked.json(prompts.events(asked.req.param('id'), numberIn(asked, 'after') ?? 0)),
  )
}
