// A project with a parent session and delegates built from logs: real git, real journals, no agent.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type DelegateState, readDelegate } from '../../../src/run/delegate/delegates.ts'
import { mintId } from '../../../src/journal/ids.ts'
import { initSession } from '../../../src/project/lifecycle/init-session.ts'
import { Workspace } from '../../../src/project/store/workspace.ts'
import type { DelegateStatusChange, DelegateSpec } from '../../../src/run/entries.ts'
import { RunLog } from '../../../src/run/run-log.ts'
import {
  type EntryData,
  type EntryDraft,
  type EntryKind,
  draftEntry,
} from '../../../src/session/entries.ts'
import type { SessionState } from '../../../src/session/state.ts'
import { git, scratchFolder } from '../../support/scratch.ts'
import { type World, gitProject } from '../../support/project.ts'

export class JournalledWorld {
  readonly project: World = gitProject()
  readonly workspace: Workspace

  constructor() {
    this.workspace = this.workspaceAt(this.project.root)
  }

  workspaceAt(folder: string): Workspace {
    const workspace = new Workspace(folder, {
      say: (line) => this.project.messages.push(line),
      env: {},
    })
    onTestFinished(() => workspace.close())
    return workspace
  }

  /** The parent session of the delegates. */
  async parent(drafts: readonly EntryDraft[] = []): Promise<string> {
    const { reading } = await initSession(this.workspace, {
      name: 'login',
      title: 'User login',
      goal: 'Let users log in',
    })
    this.append(reading.state.id, drafts)
    return reading.state.id
  }

  append(session: string, drafts: readonly EntryDraft[]): void {
    const live = this.workspace.session(session)
    live.append(drafts)
    live.close()
  }

  stateOf(session: string): SessionState {
    const live = this.workspace.session(session)
    try {
      return live.read().state
    } finally {
      live.close()
    }
  }

  /** A delegate started on its own branch and worktree. */
  delegate(order: Partial<DelegateSpec> & { readonly name: string }): Delegate {
    return new Delegate(this, order)
  }
}

export class Delegate {
  readonly id = mintId(undefined)
  readonly tree = join(scratchFolder(), 'tree')
  readonly branch: string
  readonly #log: RunLog

  constructor(
    readonly world: JournalledWorld,
    order: Partial<DelegateSpec> & { readonly name: string },
  ) {
    const { project, workspace } = world
    this.branch = `stint/${order.name}`
    project.git('worktree', 'add', '--quiet', '-b', this.branch, this.tree, 'main')
    workspace.prepare()
    this.#log = RunLog.create(workspace.paths, this.id, workspace.config, {
      options: {},
      harness: 'rehearsal',
      source: 'delegate',
      tree: this.tree,
      branch: this.branch,
      base: project.git('rev-parse', 'main').trim(),
      isInPlace: false,
      runner: { pid: process.pid, startedAt: '', mark: '' },
      delegate: {
        what: `do ${order.name}`,
        target: 'main',
        isReadOnly: false,
        files: [],
        slot: 0,
        brief: '',
        ...order,
      },
    })
    onTestFinished(() => this.#log.close())
  }

  get state(): DelegateState {
    return readDelegate(this.world.workspace.paths, this.id)
  }

  /** Its own session, in its tree, with the given entries. */
  async session(drafts: readonly EntryDraft[] = []): Promise<string> {
    const inTree = this.world.workspaceAt(this.tree)
    const { reading } = await initSession(inTree, {
      name: `own-${this.branch.slice(6)}`,
      force: true,
      by: 'run',
    })
    const { id, name } = reading.state
    this.world.append(id, drafts)
    this.#log.append('session.opened', {
      session: id,
      name,
      number: this.state.run.sessions.length + 1,
      because: 'first',
    })
    return id
  }

  commit(path: string, text = `${path}\n`): string {
    return commitIn(this.tree, path, text)
  }

  /** Merges another branch into its own, as after a rejection. */
  takeIn(branch: string): void {
    git(this.tree, 'merge', '--quiet', '--no-edit', branch)
  }

  moved(
    to: DelegateStatusChange['to'],
    more: Omit<DelegateStatusChange, 'to'> = {},
  ): DelegateState {
    this.#log.append('delegate.moved', { to, ...more })
    return this.state
  }

  resumed(): DelegateState {
    this.#log.append('run.resumed', { runner: { pid: process.pid, startedAt: '', mark: '' } })
    return this.state
  }

  /** An attempt with token usage. */
  used(input: number): void {
    const attempt = mintId(undefined)
    const usage = { input, cacheWritten: 0, cacheRead: 0, output: 1 }
    this.#log.append('attempt.started', {
      attempt,
      task: { id: 't', name: 't', title: 't' },
      number: 1,
      place: 'live conversation',
      session: mintId(undefined),
      conversation: 1,
      base: '',
      sizeClass: 'small',
      isFirst: true,
      since: '',
      text: 1,
    })
    this.#log.append('turn.ended', {
      attempt,
      conversation: 1,
      how: 'ended',
      spent: { m: usage },
      requests: 1,
      seconds: 1,
    })
  }

  /** Merges it into main as the queue does, and returns the commit. */
  merged(): { readonly commit: string; readonly target: string } {
    const { project } = this.world
    const onto = project.git('rev-parse', 'main').trim()
    const tip = project.git('rev-parse', this.branch).trim()
    const merger = { pid: process.pid, startedAt: '', mark: '' }
    this.#log.append('merge.begun', { target: 'main', onto, tip, merger, tree: this.tree })
    project.git('merge', '--quiet', '--no-ff', '-m', `merge ${this.branch}`, this.branch)
    const commit = project.git('rev-parse', 'main').trim()
    this.#log.append('merge.landing', { target: 'main', from: onto, to: commit })
    return { commit, target: 'main' }
  }
}

function commitIn(tree: string, path: string, text: string): string {
  mkdirSync(dirname(join(tree, path)), { recursive: true })
  writeFileSync(join(tree, path), text)
  git(tree, 'add', '--all')
  git(tree, 'commit', '--quiet', '-m', `write ${path}`)
  return git(tree, 'rev-parse', 'HEAD').trim()
}

export function draft<K extends EntryKind>(kind: K, data: EntryData[K]): EntryDraft<K> {
  return draftEntry(kind, data, { by: 'cli' })
}
