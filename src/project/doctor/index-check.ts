import { relative, join } from 'node:path'
import type { SessionIndex, Verification } from '../../index/open-index.ts'
import { setAside } from '../../index/set-aside.ts'
import { StintError } from '../../journal/errors.ts'
import { statOrUndefined } from '../../journal/look.ts'
import { shortId } from '../../journal/ids.ts'
import { foldBacklog } from '../../backlog/backlog.ts'
import { TaskFiles } from '../../backlog/store.ts'
import { isUntouched, renderTaskFile, showsTheSame } from '../../backlog/task-file.ts'
import { openBacklog } from '../tasks/backlog.ts'
import type { Workspace } from '../store/workspace.ts'
import { type Check, Findings, plural } from './report.ts'

export interface IndexTotals {
  readonly sessions: number
  readonly entries: number
}

export async function checkIndex(
  workspace: Workspace,
): Promise<{ check: Check; totals: IndexTotals }> {
  const findings = new Findings('index')
  try {
    let index = await workspace.index()
    let found = verified(index)
    if (!isRight(found)) {
      for (const line of describe(found)) findings.note(line)
      const path = join(workspace.place.sessions, 'index.db')
      workspace.close()
      const aside = setAside(path, statOrUndefined(path)?.ino)
      if (aside !== undefined)
        findings.note(`the old one is ${relative(workspace.place.root, aside)}`)
      index = await workspace.index()
      found = verified(index)
      if (!isRight(found))
        for (const line of describe(found))
          findings.problem(`still, after it was built anew: ${line}`)
    }
    const totals = index.counts()
    const check = findings.check(
      `${plural(found.checked, 'log')} compared, every entry is there`,
      () => 'differed and was built anew',
    )
    return { check, totals }
  } catch (error) {
    if (!(error instanceof StintError)) throw error
    findings.problem(error.message)
    return {
      check: findings.check('', () => 'could not be opened'),
      totals: { sessions: 0, entries: 0 },
    }
  }
}

/** Checked twice: another process may append meanwhile. */
function verified(index: SessionIndex): Verification {
  index.sync({ full: true })
  const first = index.verify()
  if (isRight(first)) return first
  index.sync({ full: true })
  return index.verify()
}

function isRight({ differing, damage }: Verification): boolean {
  return differing.length === 0 && damage.length === 0
}

function describe({ differing, damage }: Verification): readonly string[] {
  const counts = differing.map(
    ({ id, indexed, inLog }) => `session ${shortId(id)}: ${indexed} indexed, ${inLog} in the log`,
  )
  return [...counts, ...damage]
}

export async function checkTasks(
  workspace: Workspace,
  options: { readonly repair: boolean },
): Promise<{ check: Check; backlog: number; files: number }> {
  const findings = new Findings('tasks')
  const store = new TaskFiles(workspace.place.tasks)
  const backlog = foldBacklog([...(await workspace.index()).taskEntries()])
  const files = store.read()
  const name = (path: string) => relative(workspace.place.root, path)
  for (const file of files) {
    if (file.damage !== undefined)
      findings.note(`${name(file.path)}: ${file.damage}; the next task command sets it aside`)
    else if (!isUntouched(file.text))
      findings.note(`${name(file.path)}: edited, will be absorbed by the next task command`)
  }
  let isBehind = false
  for (const task of backlog.tasks) {
    const path = store.pathOf(task)
    const own = files.filter((file) => file.id === task.id && !file.isCopy)
    const file = own.find((one) => one.path === path)
    if (
      own.some((one) => !isUntouched(one.text)) ||
      (file !== undefined && showsTheSame(file.text, renderTaskFile(task, backlog)))
    )
      continue
    isBehind = true
    findings.note(`${name(path)}: ${file === undefined ? 'missing' : 'behind'}`)
  }
  if (options.repair && isBehind) await openBacklog(workspace)
  const again = options.repair && isBehind ? 'written again' : 'the next task command settles it'
  const hasTasks = backlog.tasks.length > 0 || statOrUndefined(workspace.place.tasks) !== undefined
  const ok = hasTasks
    ? `${plural(backlog.tasks.length, 'task')}, every file shows its own`
    : 'none yet'
  return {
    check: findings.check(
      ok,
      (count) => `${plural(count, 'task file')} edited, behind or missing; ${again}`,
    ),
    backlog: backlog.tasks.length,
    files: files.length,
  }
}
