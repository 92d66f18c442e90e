import { type Task, isTaskOpen } from '../../backlog/task.ts'
import { runGit } from '../../git/run-git.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { defined } from '../../text/defined.ts'
import { KnownPaths, touchesOf } from '../delegate/overlap.ts'
import { type PlannedWave, type RunPlan, planRun } from '../loop/plan-run.ts'
import type { RunOptions } from '../options.ts'
import { shareOf } from '../make-report.ts'
import { openSource } from '../sources/open-source.ts'
import { type Candidate, nextTasks } from './schedule.ts'

/** What a run would do, whether it works on one task at a time or on several. */
export async function planAnyRun(workspace: Workspace, options: RunOptions): Promise<RunPlan> {
  return options.parallel === undefined
    ? planRun(workspace, options)
    : planParallel(workspace, options)
}

/** What a run of several at once would do, if every task took what is forecast. Begins nothing. */
export async function planParallel(workspace: Workspace, options: RunOptions): Promise<RunPlan> {
  const most = options.parallel ?? 1
  // A delegate has one task, and so one conversation.
  const plan = await planRun(workspace, { ...options, batch: 'one' })
  const backlog = await (await openSource(workspace, options.backlog)).read()
  const candidate = candidatesIn(workspace.place.repository?.worktree)
  const planned = plan.sessions.flatMap(({ tasks, seconds }) =>
    tasks.map((task) => ({ ...task, seconds })),
  )
  const tasks = planned.flatMap(({ task: { id } }) => {
    const task = backlog.byId.get(id)
    return task === undefined ? [] : [candidate(task)]
  })
  const secondsOf = new Map(planned.map(({ task, seconds }) => [task.id, seconds]))
  const isDoneBefore = (id: string) => backlog.byId.has(id) && !isTaskOpen(backlog.byId.get(id)!)
  const { begun, seconds } = playOut(tasks, most, isDoneBefore, (id) => secondsOf.get(id) ?? 0)
  const stretches = begun.map(({ id, at }) => ({
    task: id,
    from: at * 1000,
    to: (at + secondsOf.get(id)!) * 1000,
  }))
  const moments = [...new Set(begun.map(({ at }) => at))]
  const waves = moments.map((at): PlannedWave => {
    const own = begun.filter((one) => one.at === at)
    return {
      at,
      tasks: own.map(({ id, because }) => ({
        task: planned.find(({ task }) => task.id === id)!.task,
        ...defined({ because }),
      })),
    }
  })
  return { ...plan, parallel: { most, waves, seconds, ...shareOf(stretches, seconds) } }
}

interface Begun {
  readonly id: string
  readonly at: number
  /** What it had waited for. */
  readonly because?: string
}

/** As if each took its time and nothing failed. */
function playOut(
  tasks: readonly Candidate[],
  most: number,
  isDoneBefore: (id: string) => boolean,
  secondsOf: (id: string) => number,
): { readonly begun: readonly Begun[]; readonly seconds: number } {
  const begun: Begun[] = []
  const done = new Set<string>()
  const because = new Map<string, string>()
  let left = tasks
  let running: { readonly candidate: Candidate; readonly ends: number }[] = []
  let now = 0
  for (;;) {
    const isDone = (id: string) => done.has(id) || isDoneBefore(id)
    const { start, waits } = nextTasks({
      tasks: left,
      running: running.map(({ candidate }) => candidate),
      isDone,
      most,
    })
    for (const { task, because: why } of waits) because.set(task.id, why)
    for (const candidate of start) {
      const { id } = candidate.task
      const why = because.get(id)
      begun.push({ id, at: now, ...defined({ because: why }) })
      running.push({ candidate, ends: now + secondsOf(id) })
    }
    left = left.filter((candidate) => !start.includes(candidate))
    if (running.length === 0) return { begun, seconds: now }
    now = Math.min(...running.map(({ ends }) => ends))
    for (const { candidate, ends } of running) if (ends <= now) done.add(candidate.task.id)
    running = running.filter(({ ends }) => ends > now)
  }
}

/** Tasks with the files that they will probably change, as far as a working tree tells. `files` are those of an order. */
export function candidatesIn(
  tree: string | undefined,
): (task: Task, files?: readonly string[]) => Candidate {
  const listed = tree === undefined ? [] : runGit(tree, ['ls-files', '-z']).split('\0')
  const known = new KnownPaths(listed.filter((path) => path !== ''))
  return (task, files) => ({ task, touches: touchesOf(task, known, files) })
}
