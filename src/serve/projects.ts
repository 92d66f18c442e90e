// Opened on demand, closed when idle.
import { createHash } from 'node:crypto'
import { basename, join } from 'node:path'
import { delegatesOf, runsOf } from '../run/control/runs-of-project.ts'
import { conversationStore } from '../history/store.ts'
import { knownProjects } from '../index/projects.ts'
import { isId } from '../journal/ids.ts'
import { namesIn, statOrUndefined } from '../journal/look.ts'
import { redaction } from '../project/store/clean-draft.ts'
import { projectOf } from '../project/open-project.ts'
import { findPlace } from '../project/store/place.ts'
import { Workspace } from '../project/store/workspace.ts'
import type { OpenedProject } from '../pages/opened-project.ts'
import type { ProjectLine } from './contract.ts'
import { Conversations } from '../pages/conversations.ts'
import { notThere } from './problem.ts'

export interface ProjectsOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly say: (line: string) => void
}

const IDLE_MS = 5 * 60_000

export class Projects {
  readonly here: string
  readonly #options: ProjectsOptions
  readonly #root: string
  readonly #opened = new Map<string, { readonly project: OpenedProject; timer?: NodeJS.Timeout }>()
  /** Followed projects stay open. */
  readonly #held = new Map<string, number>()

  constructor(options: ProjectsOptions) {
    this.#options = options
    this.#root = findPlace(options.cwd).root
    this.here = keyOf(this.#root)
  }

  of(key: string | undefined): OpenedProject {
    const wanted = key === undefined || key === '' ? this.here : key
    const known = this.#opened.get(wanted)
    if (known !== undefined) {
      this.#letGoLater(wanted)
      return known.project
    }
    const root = this.#roots().find((one) => keyOf(one) === wanted)
    if (root === undefined) throw notThere('project of that key on this machine')
    const { env, say } = this.#options
    const here = wanted === this.here
    const workspace = new Workspace(here ? this.#options.cwd : root, {
      env,
      say: (line) => say(here ? line : `${root}: ${line}`),
    })
    const project: OpenedProject = {
      key: wanted,
      workspace,
      project: projectOf(workspace),
      runs: runsOf(workspace),
      delegates: delegatesOf(workspace),
      conversations: new Conversations(
        workspace,
        conversationStore(workspace.place.sessions, redaction(workspace.config)),
      ),
    }
    this.#opened.set(wanted, { project })
    this.#letGoLater(wanted)
    return project
  }

  /** Keeps a project open until the returned function is called. */
  hold(key: string): () => void {
    this.#held.set(key, (this.#held.get(key) ?? 0) + 1)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.#held.set(key, (this.#held.get(key) ?? 1) - 1)
    }
  }

  opened(): readonly OpenedProject[] {
    return [...this.#opened.values()].map(({ project }) => project)
  }

  lines(): readonly ProjectLine[] {
    return this.#roots().map(lineOf)
  }

  close(): void {
    for (const key of this.#opened.keys()) this.#close(key)
  }

  #roots(): readonly string[] {
    return [...new Set([this.#root, ...knownProjects()])]
  }

  #letGoLater(key: string): void {
    const opened = this.#opened.get(key)
    if (opened === undefined || key === this.here) return
    clearTimeout(opened.timer)
    opened.timer = setTimeout(() => {
      if ((this.#held.get(key) ?? 0) > 0) this.#letGoLater(key)
      else this.#close(key)
    }, IDLE_MS).unref()
  }

  #close(key: string): void {
    const opened = this.#opened.get(key)
    clearTimeout(opened?.timer)
    opened?.project.workspace.close()
    this.#opened.delete(key)
  }
}

export function keyOf(root: string): string {
  return createHash('sha256').update(root).digest('hex').slice(0, 12)
}

/** Without opening the project. */
function lineOf(root: string): ProjectLine {
  const sessions = join(root, '.sessions')
  const times = ['journal', 'touched', 'index.db'].flatMap(
    (name) => statOrUndefined(join(sessions, name))?.mtime ?? [],
  )
  const latest = times.toSorted((a, b) => a.getTime() - b.getTime()).at(-1)
  return {
    key: keyOf(root),
    name: basename(root),
    root,
    sessions: namesIn(join(sessions, 'journal')).filter(isId).length,
    ...(latest === undefined ? {} : { updatedAt: latest.toISOString() }),
  }
}
