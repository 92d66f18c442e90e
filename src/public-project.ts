// The project as programs see it: each operation that returns a session, an entry, a task, a checkpoint, a handoff or a workflow
// returns its public projection.
import type { LogEntry } from './project/lifecycle/log-entries.ts'
import type { Resumed } from './project/lifecycle/resume.ts'
import type { SessionHandle } from './project/project-operations.ts'
import type { WorkspaceOptions } from './project/store/workspace.ts'
import {
  type PublicEntry,
  type PublicSession,
  publicCheckpoint,
  publicEntries,
  publicHandoff,
  publicSession,
  publicSessionHead,
  publicTask,
  publicWorkflow,
} from './public/projection.ts'
import { openProject } from './open-project.ts'
import { defined } from './text/defined.ts'

/** Everything that the command line can do, for programs. Dispose of it when done. */
export type PublicProject = ReturnType<typeof openPublicProject>

/** Opens the project around a folder. Nothing is written until something is recorded. */
export function openPublicProject(cwd: string = process.cwd(), options: WorkspaceOptions = {}) {
  const project = openProject(cwd, options)
  type Core = typeof project
  const { checkpoints, handoffs, tasks } = project
  return {
    ...project,
    async init(...args: Parameters<Core['init']>) {
      const { reading, closed } = await project.init(...args)
      return { ...publicSessionHead(reading.state), ...defined({ closed }) }
    },
    resume: async (...args: Parameters<Core['resume']>) =>
      publicResumed(await project.resume(...args)),
    async log(...args: Parameters<Core['log']>) {
      const { reading, appended, isLeft } = await project.log(...args)
      return {
        session: publicSessionHead(reading.state),
        entries: publicEntries(appended, () => reading.entries),
        ...defined({ isLeft }),
      }
    },
    async checkpoint(...args: Parameters<Core['checkpoint']>) {
      const { state, checkpoint } = await project.checkpoint(...args)
      return { session: publicSessionHead(state), checkpoint: publicCheckpoint(checkpoint) }
    },
    checkpoints: {
      list: async (...args: Parameters<Core['checkpoints']['list']>) =>
        (await checkpoints.list(...args)).map(publicCheckpoint),
      async diff(...args: Parameters<Core['checkpoints']['diff']>) {
        const result = await checkpoints.diff(...args)
        return { ...result, checkpoint: publicCheckpoint(result.checkpoint) }
      },
      async restore(...args: Parameters<Core['checkpoints']['restore']>) {
        const result = await checkpoints.restore(...args)
        return { ...result, checkpoint: publicCheckpoint(result.checkpoint) }
      },
    },
    handoffs: {
      ...handoffs,
      async create(...args: Parameters<Core['handoffs']['create']>) {
        const { state, handoff, path, leftOut } = await handoffs.create(...args)
        return {
          session: publicSessionHead(state),
          handoff: publicHandoff(handoff, state),
          path,
          leftOut,
        }
      },
      async show(...args: Parameters<Core['handoffs']['show']>) {
        const { handoff, ...shown } = await handoffs.show(...args)
        return { ...shown, handoff: publicHandoff(handoff, shown.session) }
      },
      async list(...args: Parameters<Core['handoffs']['list']>) {
        const { session, handoffs: listed } = await handoffs.list(...args)
        return { session, handoffs: listed.map((handoff) => publicHandoff(handoff, session)) }
      },
    },
    async pause(...args: Parameters<Core['pause']>) {
      const { reading, resumed } = await project.pause(...args)
      return {
        session: publicSessionHead(reading.state),
        ...defined({ resumed: resumed && publicResumed(resumed) }),
      }
    },
    close: async (...args: Parameters<Core['close']>) =>
      publicSessionHead((await project.close(...args)).state),
    reopen: async (...args: Parameters<Core['reopen']>) =>
      publicSessionHead((await project.reopen(...args)).state),
    /** The whole session, edits absorbed. */
    view: async (name?: string): Promise<PublicSession> =>
      publicSession((await project.view(name)).state),
    /** All entries of a session, oldest first. */
    entries: async (name?: string): Promise<readonly PublicEntry[]> =>
      publicEntries((await project.view(name)).entries),
    /** The recent state, from the log's tail. */
    open: async (name?: string): Promise<PublicSession> => publicSession(await project.open(name)),
    /** For a program that writes often. */
    session: async (name?: string) => new PublicSessionHandle(await project.session(name)),
    tasks: {
      ...tasks,
      add: async (...args: Parameters<Core['tasks']['add']>) =>
        publicTask(await tasks.add(...args)),
      async list() {
        const backlog = await tasks.list()
        return { ...backlog, tasks: backlog.tasks.map(publicTask) }
      },
      async next() {
        const { tasks: ready, waiting, hint } = await tasks.next()
        return {
          tasks: ready.map((found) => ({ ...found, task: publicTask(found.task) })),
          waiting: waiting.map((found) => ({ ...found, task: publicTask(found.task) })),
          ...defined({ hint }),
        }
      },
      show: async (name: string) => publicTask(await tasks.show(name)),
      change: async (...args: Parameters<Core['tasks']['change']>) =>
        publicTask(await tasks.change(...args)),
      check: async (...args: Parameters<Core['tasks']['check']>) =>
        publicTask(await tasks.check(...args)),
      move: async (...args: Parameters<Core['tasks']['move']>) =>
        publicTask(await tasks.move(...args)),
    },
    async workflows() {
      const workflows = await project.workflows()
      type Core = typeof workflows
      return {
        ...workflows,
        begin: async (...args: Parameters<Core['begin']>) =>
          publicWorkflow(await workflows.begin(...args)),
        phase: async (...args: Parameters<Core['phase']>) =>
          publicWorkflow(await workflows.phase(...args)),
        approve: async (...args: Parameters<Core['approve']>) =>
          publicWorkflow(await workflows.approve(...args)),
        set: async (...args: Parameters<Core['set']>) =>
          publicWorkflow(await workflows.set(...args)),
        status: async (name?: string) => publicWorkflow(await workflows.status(name)),
        list: async () => (await workflows.list()).map(publicWorkflow),
        async recover(...args: Parameters<Core['recover']>) {
          const { overview, ...recovered } = await workflows.recover(...args)
          return { ...recovered, ...defined({ workflow: overview && publicWorkflow(overview) }) }
        },
      }
    },
  }
}

function publicResumed({ reading, drift, project }: Resumed) {
  return { ...publicSession(reading.state), ...defined({ drift, project }) }
}

/** Appending renders nothing; the next command, or `project.view()`, renders the views. */
class PublicSessionHandle {
  readonly #session: SessionHandle

  constructor(session: SessionHandle) {
    this.#session = session
  }

  get id(): string {
    return this.#session.id
  }

  /** Returns the entries once they are durable. */
  append(entries: readonly LogEntry[], options: { by?: string } = {}): readonly PublicEntry[] {
    return publicEntries(this.#session.append(entries, options))
  }

  state(): PublicSession {
    return publicSession(this.#session.state())
  }

  close(): void {
    this.#session.close()
  }
}
