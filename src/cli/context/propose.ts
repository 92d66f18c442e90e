// What the shell may offer for a name. Only looks: a key pressed in a folder without sessions leaves nothing there.
import type { Project, SessionStatus } from '../../library.ts'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Context } from './context.ts'

const MOST = 50
const OPEN: SessionStatus[] = ['active', 'paused']
const CLOSED: SessionStatus[] = ['completed', 'abandoned']

/** Called by the parser with the context as `this`. */
export const propose = {
  /** Names of sessions that begin so, the open ones first. */
  sessions(this: Context, partial: string): Promise<readonly string[]> {
    return sessionNames(this, partial, [OPEN, CLOSED])
  },

  closedSessions(this: Context, partial: string): Promise<readonly string[]> {
    return sessionNames(this, partial, [CLOSED])
  },

  /** Short names of tasks that begin so, the open ones first, from the names of their files. */
  tasks(this: Context, partial: string): Promise<readonly string[]> {
    return looking(this, async ({ tasksFolder }) => {
      const folders = ['active', 'archive']
        .map((place) => join(tasksFolder, place))
        .filter((folder) => existsSync(folder))
      const names = folders.flatMap((folder) =>
        readdirSync(folder).flatMap((name) => TASK_FILE.exec(name)?.[1] ?? []),
      )
      return [...new Set(names)].filter((name) => name.startsWith(partial)).slice(0, MOST)
    })
  },

  /** Names of delegates that begin so, those whose work is still to be settled first. */
  delegates(this: Context, partial: string): Promise<readonly string[]> {
    return looking(this, async ({ delegates }) => {
      const all = (await delegates.recorded()).toReversed()
      const inTurn = all.toSorted((a, b) => Number(b.isUnsettled) - Number(a.isUnsettled))
      const names = inTurn.map(({ order }) => order.name)
      return names.filter((name) => name.startsWith(partial)).slice(0, MOST)
    })
  },
}

const TASK_FILE = /^([^.].*)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.md$/

function sessionNames(
  context: Context,
  partial: string,
  inTurn: readonly SessionStatus[][],
): Promise<readonly string[]> {
  return looking(context, async (project) => {
    const found = new Set<string>()
    for (const status of inTurn) {
      for (const { name } of await project.list({ status })) {
        if (name.startsWith(partial)) found.add(name)
        if (found.size >= MOST) break
      }
    }
    return [...found]
  })
}

async function looking(
  context: Context,
  look: (project: Project) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const { openProject } = await import('./open.ts')
  const project = openProject(context.cwd, { env: context.env })
  try {
    return await look(project)
  } finally {
    project.dispose()
  }
}
