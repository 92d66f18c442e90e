// Delegates without agents: branches, worktrees and logs as they are after the agent's work. Real git, real files.
import { onTestFinished } from 'vitest'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { MergeOptions } from '../../src/run/delegate/delegate-row.ts'
import { type DelegateState, readDelegate } from '../../src/run/delegate/delegates.ts'
import { runMergeQueue } from '../../src/run/merge/merge-queue.ts'
import type { ProcessTag } from '../../src/harness/contract/drive.ts'
import { mintId, shortId } from '../../src/journal/ids.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import type {
  DelegateStatusChange,
  DelegateSpec,
  MergeEvent,
  MergeOutcome,
  RunEntryData,
} from '../../src/run/entries.ts'
import type { RunOptions } from '../../src/run/options.ts'
import { RunLog, readRun } from '../../src/run/run-log.ts'
import { worktreesFolder } from '../../src/project/store/worktrees.ts'
import { type World, gitProject } from '../support/project.ts'
import { git } from '../support/scratch.ts'

export type Files = Readonly<Record<string, string>>

export interface MakeDelegate {
  /** The files it has committed, one commit each. */
  readonly commits?: readonly Files[]
  readonly order?: Partial<DelegateSpec>
  readonly verify?: string
  readonly options?: RunOptions
  /** Its status after the agent's work; `running` adds no status change. */
  readonly status?: DelegateStatusChange['to'] | 'running'
}

/** A dead process whose pid was not reused. */
export const NOBODY: ProcessTag = { pid: 2 ** 22 - 1, startedAt: '1', mark: '' }

export class DelegateWorld {
  readonly events: MergeEvent[] = []
  readonly messages: string[] = []

  constructor(readonly project: World = gitProject()) {}

  config(text: string): void {
    this.project.write('.sessions/config.yaml', text)
  }

  workspace(cwd = this.project.root): Workspace {
    const workspace = new Workspace(cwd, {
      say: (line) => this.messages.push(line),
      env: process.env,
    })
    onTestFinished(() => workspace.close())
    return workspace
  }

  /** A delegate with its own branch and worktree off the target, whose work is committed and proved. */
  delegate(
    name: string,
    {
      commits = [{ [`${name}.txt`]: `${name}\n` }],
      order,
      verify,
      options = {},
      status = 'ready',
    }: MakeDelegate = {},
  ): Delegate {
    const workspace = this.workspace()
    const { paths } = workspace
    workspace.prepare()
    const id = mintId(undefined)
    const target = order?.target ?? 'main'
    const branch = `stint/${name}`
    const tree = join(worktreesFolder(paths), `delegate-${shortId(id)}`)
    const base = this.commitOf(target)
    git(this.project.root, 'worktree', 'add', '--quiet', '-b', branch, tree, base)
    const log = RunLog.create(paths, id, workspace.config, {
      options: { ...options, ...(verify === undefined ? {} : { verify }) },
      harness: 'rehearsal',
      source: '.tasks',
      tree,
      branch,
      base,
      isInPlace: false,
      runner: NOBODY,
      delegate: {
        name,
        what: `write ${name}`,
        target,
        isReadOnly: false,
        files: [],
        slot: 0,
        brief: '',
        ...order,
      },
    })
    log.close()
    const delegate = new Delegate(this, id, tree, branch)
    for (const files of commits) delegate.commit(files)
    if (status !== 'running')
      delegate.move({
        to: status,
        ...(status === 'ready' ? { commit: delegate.tip(), summary: `${name} is written` } : {}),
      })
    return delegate
  }

  merge(
    delegates: readonly Delegate[],
    options: MergeOptions = {},
  ): Promise<readonly MergeOutcome[]> {
    const ids = delegates.map(({ id }) => id)
    return runMergeQueue(this.workspace(), ids, options, (event) => this.events.push(event))
  }

  async mergeOne(delegate: Delegate, options: MergeOptions = {}): Promise<MergeOutcome> {
    return (await this.merge([delegate], options))[0]!
  }

  commitOf(name: string): string {
    return this.project.git('rev-parse', '--verify', `${name}^{commit}`).trim()
  }

  /** Every commit reachable from a ref. */
  reachable(): ReadonlySet<string> {
    return new Set(this.project.git('rev-list', '--all').split('\n').filter(Boolean))
  }

  references(under: string): readonly string[] {
    return this.project
      .git('for-each-ref', '--format=%(refname)', under)
      .split('\n')
      .filter(Boolean)
  }

  /** The worktrees git lists, without the main one. */
  worktrees(): readonly string[] {
    return this.project
      .git('worktree', 'list', '--porcelain')
      .split('\n')
      .filter((line) => line.startsWith('worktree '))
      .map((line) => line.slice('worktree '.length))
      .filter((path) => path !== this.project.root)
  }

  mergeMessages(): readonly string[] {
    return this.events.flatMap((event) => (event.kind === 'message' ? [event.data.text] : []))
  }
}

export class Delegate {
  constructor(
    readonly world: DelegateWorld,
    readonly id: string,
    readonly tree: string,
    readonly branch: string,
  ) {}

  write(path: string, content: string): void {
    mkdirSync(dirname(join(this.tree, path)), { recursive: true })
    writeFileSync(join(this.tree, path), content)
  }

  commit(files: Files, message = `change ${Object.keys(files).join(', ')}`): string {
    for (const [path, content] of Object.entries(files)) this.write(path, content)
    git(this.tree, 'add', '--all', '--force')
    git(this.tree, 'commit', '--quiet', '--allow-empty', '-m', message)
    return this.tip()
  }

  tip(): string {
    return this.world.commitOf(this.branch)
  }

  move(move: DelegateStatusChange): void {
    this.append('delegate.moved', move)
  }

  append<K extends keyof RunEntryData>(kind: K, data: RunEntryData[K]): void {
    const { paths, config } = this.world.workspace()
    const log = new RunLog(paths, this.id, config)
    log.append(kind, data)
    log.close()
  }

  state(): DelegateState {
    return readDelegate(this.world.workspace().paths, this.id)
  }

  /** Its status changes and merge entries since its work was proved. */
  steps(): readonly string[] {
    return readRun(this.world.workspace().paths, this.id).flatMap((entry) => {
      if (entry.kind === 'delegate.moved') return [entry.data.to]
      return entry.kind.startsWith('merge.') ? [entry.kind] : []
    })
  }
}
