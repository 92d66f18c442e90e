import { runGit } from '../../git/run-git.ts'
import type { DelegateSettings } from '../../project/config/run-config.ts'
import { defined } from '../../text/defined.ts'
import type { DelegateRun } from '../attempt/run-context.ts'
import type { DelegateMove, DelegateOrder } from '../entries.ts'
import { commitOf, headNow } from '../worktree/tree.ts'
import { StintError } from '../../journal/errors.ts'
import { commandWords } from '../../text/command-words.ts'
import type { Workspace } from '../../project/store/workspace.ts'
import type { Backlog } from '../../backlog/backlog.ts'
import { type Task, findTask, joined } from '../../backlog/task.ts'
import { oneLine, shorten } from '../../text/clean.ts'
import { openSource } from '../sources/open-source.ts'
import type { BacklogSource } from '../sources/foreign.ts'

/** How the run of a delegate differs from others. `toMend`: its work was finished, and did not merge. */
export function delegateRun(
  order: DelegateOrder,
  tree: string,
  settings: DelegateSettings,
  toMend?: DelegateMove,
): DelegateRun {
  const { brief, isReadOnly, output } = order
  const { because, target = '', onto = '', files = [], verify } = toMend ?? {}
  return {
    brief,
    env: delegateEnvironment(order, tree, settings),
    proof: {
      ...defined({ contains: toMend?.onto }),
      ...defined(isReadOnly ? { report: output } : { produces: output }),
    },
    ...defined({ wrap: delegateWrap(order, tree, settings), setup: settings.setup }),
    ...(toMend === undefined
      ? {}
      : {
          failure: {
            reason: because ?? 'it did not go into the target',
            merge: { target, onto, files },
            ...defined({ verify }),
          },
        }),
    watchTarget: () => {
      const before = commitOf(tree, order.target)
      return () => movedTarget(order, tree, before)
    },
  }
}

/**
 * Whether the target was put on a commit of the delegate's own while it worked. The rules keep an agent from it, as far as
 * it asks; where it did not, whoever merges should know that nothing was proved.
 */
function movedTarget(
  { name, target }: DelegateOrder,
  tree: string,
  before: string | undefined,
): string | undefined {
  const now = headNow(tree)?.commit === undefined ? undefined : commitOf(tree, target)
  if (now === undefined || before === undefined || now === before) return undefined
  // What came from there by a merge is no commit of its own.
  const own = runGit(tree, ['rev-list', '--first-parent', `${before}..HEAD`, '--']).split('\n')
  if (!own.includes(now)) return undefined
  const where = `from ${before.slice(0, 10)} to ${now.slice(0, 10)}`
  return `${target} was moved ${where}, a commit of ${name}, while it was worked on: it is on there without having been proved`
}

// What keeps the delegates of a project apart beside their trees: ports, variables, and the command around the agent.

type Named = Pick<DelegateOrder, 'name' | 'slot'>

const HIGHEST_PORT = 65_535

/** What a delegate finds in its environment besides the user's: its name, its ports, and what the configuration says. */
export function delegateEnvironment(
  order: Named,
  tree: string,
  settings: DelegateSettings,
): Readonly<Record<string, string>> {
  const fill = filler('delegates.env', order, tree, settings)
  const configured = settings.env.map((line) => {
    const end = line.indexOf('=')
    return [line.slice(0, end), fill(line.slice(end + 1))] as const
  })
  return {
    ...Object.fromEntries(configured),
    STINT_DELEGATE: order.name,
    STINT_PORT: String(firstPort(order, settings)),
    STINT_PORTS: String(settings.ports),
  }
}

/** The words of the command to put before the agent's own, if there is one. */
export function delegateWrap(
  order: Named,
  tree: string,
  settings: DelegateSettings,
): readonly string[] | undefined {
  if (settings.wrap === undefined) return undefined
  const words = commandWords(settings.wrap)
  if (words === undefined)
    throw invalid(`delegates.wrap: a quotation does not end in ${settings.wrap}`)
  // Filled in word by word: a folder with a blank in its name stays one.
  return words.map(filler('delegates.wrap', order, tree, settings))
}

function firstPort({ slot }: Named, { portBase, ports }: DelegateSettings): number {
  const first = portBase + slot * ports
  if (first + ports - 1 <= HIGHEST_PORT) return first
  throw invalid(
    `delegates.port_base: the ports ${first} to ${first + ports - 1} of number ${slot} are beyond ${HIGHEST_PORT}`,
  )
}

function filler(
  key: string,
  order: Named,
  tree: string,
  settings: DelegateSettings,
): (text: string) => string {
  const port = firstPort(order, settings)
  const values: Readonly<Record<string, string>> = {
    port: String(port),
    slot: String(order.slot),
    name: order.name,
    tree,
  }
  return (text) =>
    text.replaceAll(/\{([a-z]\w*)(?:\+(\d+))?\}/gi, (written, name: string, more?: string) => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined
      if (value === undefined || (more !== undefined && name !== 'port'))
        throw invalid(
          `${key}: there is no ${written}; there are {port}, {port+1} and so on, {slot}, {name} and {tree}`,
        )
      if (more === undefined) return value
      // It would be a port of the next delegate.
      if (Number(more) >= settings.ports)
        throw invalid(`${key}: ${written} is too far: delegates.ports is ${settings.ports}`)
      return String(port + Number(more))
    })
}

function invalid(reason: string): StintError {
  return new StintError(
    'CONFIG_INVALID',
    reason,
    'mend the section delegates in .sessions/config.yaml',
  )
}

const LONGEST_TITLE = 100

/**
 * The one task of a delegate: that of the backlog, or its order when it has none. It is done when it was proved, though the
 * backlog hears of it only when it is merged.
 */
export async function delegateSource(
  workspace: Workspace,
  id: string,
  order: DelegateOrder,
  backlog: string | undefined,
): Promise<BacklogSource> {
  const source = order.task === undefined ? undefined : await openSource(workspace, backlog)
  let isDone = false
  const own = async (): Promise<Task> => {
    if (source === undefined || order.task === undefined) return taskOf(id, order)
    const task = findTask((await source.read()).tasks, order.task)
    const details = joined(task.details, ...(order.what === task.title ? [] : [order.what]))
    return { ...task, details, ...defined({ assignee: order.as }) }
  }
  return {
    name: `delegate ${order.name}`,
    async read() {
      const task: Task = {
        ...(await own()),
        dependsOn: [],
        children: [],
        status: isDone ? 'completed' : 'ready',
      }
      return backlogOf(task)
    },
    async settle() {
      isDone = true
      return []
    },
  }
}

function taskOf(id: string, { name, what, as }: DelegateOrder): Task {
  return {
    id,
    shortname: name,
    title: shorten(oneLine(what), LONGEST_TITLE),
    description: what,
    details: '',
    priority: 'P2',
    size: 'M',
    status: 'ready',
    labels: [],
    dependsOn: [],
    blocks: [],
    children: [],
    checklist: [],
    extra: '',
    createdAt: '',
    updatedAt: '',
    sessions: [],
    ...defined({ assignee: as }),
  }
}

function backlogOf(task: Task): Backlog {
  return {
    tasks: [task],
    byId: new Map([[task.id, task]]),
    problems: [],
    withdrawn: new Set(),
    unsized: new Set([task.id]),
    lastId: '',
  }
}
