import { type Backlog, foldBacklog } from '../../backlog/backlog.ts'
import { findTask, joinPassages } from '../../backlog/task.ts'
import { runGit } from '../../git/run-git.ts'
import { StintError } from '../../journal/errors.ts'
import type { DelegateSettings } from '../../project/config/run-config.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import { oneLine, shorten } from '../../text/clean.ts'
import { commandWords } from '../../text/command-words.ts'
import { defined } from '../../text/defined.ts'
import type { DelegateContext } from '../attempt/run-context.ts'
import type { DelegateStatusChange, DelegateSpec } from '../entries.ts'
import type { BacklogSource } from '../sources/backlog-source.ts'
import { openBacklogSource } from '../sources/open-backlog-source.ts'
import { branchTip, readTreeHead } from '../worktree/run-tree.ts'

export function makeDelegateContext(
  order: DelegateSpec,
  tree: string,
  settings: DelegateSettings,
  openRejection?: DelegateStatusChange,
): DelegateContext {
  const { brief, isReadOnly, output } = order
  const { because, target = '', onto = '', files = [], verify } = openRejection ?? {}
  const reason = because ?? 'it did not go into the target'
  const failure = openRejection && {
    reason,
    merge: { target, onto, files },
    ...defined({ verify }),
  }
  const proved = isReadOnly ? { report: output } : { produces: output }
  return {
    brief,
    target: order.target,
    env: delegateEnvironment(order, tree, settings),
    proof: defined({ contains: openRejection?.onto, ...proved }),
    ...defined({ wrap: delegateWrap(order, tree, settings), setup: settings.setup, failure }),
    watchTarget: () => {
      const before = branchTip(tree, order.target)
      return () => describeMovedTarget(order, tree, before)
    },
  }
}

/** Warns that the agent itself moved the target branch to an unproved commit of its own. */
function describeMovedTarget(
  { name, target }: DelegateSpec,
  tree: string,
  before: string | undefined,
) {
  const now = readTreeHead(tree)?.commit === undefined ? undefined : branchTip(tree, target)
  if (now === undefined || before === undefined || now === before) return undefined
  // A commit that came in by a merge is not its own.
  const own = runGit(tree, ['rev-list', '--first-parent', `${before}..HEAD`, '--']).split('\n')
  if (!own.includes(now)) return undefined
  const where = `from ${before.slice(0, 10)} to ${now.slice(0, 10)}`
  return `${target} was moved ${where}, a commit of ${name}, while it was worked on: it is on there without having been proved`
}

type NameAndSlot = Pick<DelegateSpec, 'name' | 'slot'>

const HIGHEST_PORT = 65_535

export function delegateEnvironment(
  order: NameAndSlot,
  tree: string,
  settings: DelegateSettings,
): Readonly<Record<string, string>> {
  const fill = placeholderFiller('delegates.env', order, tree, settings)
  const configured = settings.env.map((line) => {
    const end = line.indexOf('=')
    return [line.slice(0, end), fill(line.slice(end + 1))]
  })
  return {
    ...Object.fromEntries(configured),
    STINT_DELEGATE: order.name,
    STINT_PORT: String(firstPort(order, settings)),
    STINT_PORTS: String(settings.ports),
  }
}

export function delegateWrap(
  order: NameAndSlot,
  tree: string,
  settings: DelegateSettings,
): readonly string[] | undefined {
  if (settings.wrap === undefined) return undefined
  const words = commandWords(settings.wrap)
  if (words === undefined)
    throw configError(`delegates.wrap: a quotation does not end in ${settings.wrap}`)
  // Filled in word by word, so that a folder with a blank in its name stays one word.
  return words.map(placeholderFiller('delegates.wrap', order, tree, settings))
}

function firstPort({ slot }: NameAndSlot, { portBase, ports }: DelegateSettings) {
  const first = portBase + slot * ports
  if (first + ports - 1 <= HIGHEST_PORT) return first
  throw configError(
    `delegates.port_base: the ports ${first} to ${first + ports - 1} of number ${slot} are beyond ${HIGHEST_PORT}`,
  )
}

function placeholderFiller(
  key: string,
  order: NameAndSlot,
  tree: string,
  settings: DelegateSettings,
) {
  const port = firstPort(order, settings)
  const values = new Map([
    ['port', String(port)],
    ['slot', String(order.slot)],
    ['name', order.name],
    ['tree', tree],
  ])
  return (text: string) =>
    text.replaceAll(/\{([a-z]\w*)(?:\+(\d+))?\}/gi, (written, name: string, more?: string) => {
      const value = values.get(name)
      if (value === undefined || (more !== undefined && name !== 'port'))
        throw configError(
          `${key}: there is no ${written}; there are {port}, {port+1} and so on, {slot}, {name} and {tree}`,
        )
      if (more === undefined) return value
      // It would be a port of the next delegate.
      if (Number(more) >= settings.ports)
        throw configError(`${key}: ${written} is too far: delegates.ports is ${settings.ports}`)
      return String(port + Number(more))
    })
}

function configError(reason: string) {
  return new StintError(
    'CONFIG_INVALID',
    reason,
    'mend the section delegates in .sessions/config.yaml',
  )
}

/** A backlog of the delegate's one task. It is completed here by the proof, and in the real backlog by the merge. */
export async function delegateSource(
  workspace: Workspace,
  id: string,
  { task: wanted, name, what, as: assignee }: DelegateSpec,
  backlog: string | undefined,
): Promise<BacklogSource> {
  const source = wanted === undefined ? undefined : await openBacklogSource(workspace, backlog)
  let isDone = false
  const own = async () => {
    if (source === undefined || wanted === undefined) {
      const data = { task: id, shortname: name, title: shorten(oneLine(what), 100) }
      const added = { id, at: '', by: 'run', kind: 'task.added' }
      return foldBacklog([{ ...added, data: { ...data, description: what } }]).tasks[0]!
    }
    const task = findTask((await source.read()).tasks, wanted)
    const details = joinPassages(task.details, ...(what === task.title ? [] : [what]))
    return { ...task, details }
  }
  return {
    name: `delegate ${name}`,
    async read(): Promise<Backlog> {
      const status = isDone ? 'completed' : 'ready'
      const found = { ...(await own()), ...defined({ assignee }) }
      const task = { ...found, dependsOn: [], children: [], status } as const
      const byId = new Map([[task.id, task]])
      return { ...foldBacklog([]), tasks: [task], byId, unsized: new Set([task.id]) }
    },
    async complete() {
      isDone = true
      return []
    },
  }
}
