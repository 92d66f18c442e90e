import type { openProjectOf } from './library.ts'
import type { LogEntry } from '../../../../project/lifecycle/log-entries.ts'
import type { SessionHandle } from '../../../../project/session-handle.ts'
import type { Deed, Standing, Status } from './orders.ts'
import { SESSION, SHARED, type Store, countOne } from './store.ts'

const STEPS = { todo: 'open', started: 'working', done: 'done' } as const
const TASKS: Readonly<Record<string, Status>> = { in_progress: 'working', completed: 'done' }

/** A session of Stint, through its library. */
export function stintStore(openProject: openProjectOf, root: string): Store {
  const project = openProject(root)
  let handle: SessionHandle | undefined
  const open = async () => (handle ??= await project.session(SESSION))
  const append = async (entries: readonly LogEntry[]) => void (await open()).append(entries)
  return {
    async make(tasks, items) {
      for (const title of tasks) await project.tasks.add({ title })
      if (items.length > 0) {
        await project.tasks.add({
          title: SHARED,
          checklist: items.map((item) => ({ item, done: false })),
        })
      }
      await project.init({
        name: SESSION,
        goal: 'Find out what is kept',
        tasks: [...tasks, ...(items.length > 0 ? [SHARED] : [])],
      })
    },
    async open() {
      await open()
    },
    async record(deed: Deed) {
      if ('task' in deed)
        await project.tasks.move(deed.task, deed.is === 'done' ? 'completed' : 'in_progress')
      else if ('ticked' in deed) await project.tasks.check(SHARED, deed.ticked)
      else await append([entryFor(deed)])
    },
    pour: (texts) => append(texts.map((discovery) => ({ discovery }))),
    async standing(): Promise<Standing> {
      const { state } = await project.view(SESSION)
      const { tasks } = await project.tasks.list()
      const statuses: Record<string, Status> = {}
      const counts: Record<string, number> = {}
      for (const { text, status } of state.steps.items) statuses[`step ${text}`] = STEPS[status]
      for (const { shortname, status, checklist } of tasks) {
        statuses[`task ${shortname}`] = TASKS[status] ?? 'open'
        for (const { item, done } of checklist) statuses[`item ${item}`] = done ? 'done' : 'open'
      }
      for (const { text } of [...state.decisions.items, ...state.discoveries.items])
        countOne(counts, text)
      return { statuses, counts }
    },
    close() {
      handle?.close()
      project.dispose()
    },
  }
}

function entryFor(deed: Exclude<Deed, { task: string } | { ticked: string }>): LogEntry {
  if ('step' in deed) return deed.is === 'done' ? { done: deed.step } : { current: deed.step }
  if ('decision' in deed)
    return { decision: deed.decision, rationale: 'It is to be seen whether this is kept' }
  return { discovery: deed.discovery }
}
