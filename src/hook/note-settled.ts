import { hasAsked, hasSwitched } from './asked.ts'
import type { Scene } from './scene.ts'
import { configOf, headOf } from './settled.ts'
import { nextAlert } from './stages.ts'
import { defined } from '../text/defined.ts'

const MOST_FILES = 200

/** Notes that everything is recorded as it stands now. */
export function noteSettled(scene: Scene): void {
  const { repository } = scene.place
  if (repository === undefined || scene.session === undefined) return
  const { items, leftOut = [] } = scene.state.changedFiles
  const noted = scene.drafts.flatMap(({ kind, data }) =>
    kind === 'file.changed' ? [(data as { path: string }).path] : [],
  )
  const files = [...leftOut, ...items.map((file) => file.text), ...noted].slice(-MOST_FILES)
  const alertAt = nextAlert(scene)
  scene.note({
    settled: {
      session: scene.session.id,
      head: headOf(repository),
      config: configOf(scene.place.sessions),
      files,
      hasAsked: hasAsked(scene),
      hasSwitched: hasSwitched(scene),
      ...defined({ alertAt }),
    },
  })
}
