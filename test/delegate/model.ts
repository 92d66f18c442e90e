// Real delegates and a model of them. The model knows all commits, their contents and every status, and nothing of git. Only
// delegates whose agent commits on no branch have a worktree, and commits are made without a checkout, so that thousands of steps are fast.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { readDelegate } from '../../src/run/delegate/delegates.ts'
import { discardDelegate } from '../../src/run/control/delegate-operations.ts'
import { mergeWithContext } from '../../src/run/merge/merge-queue.ts'
import { recoverMerge } from '../../src/run/merge/reconcile.ts'
import type { MergeContext, MergeStep } from '../../src/run/merge/merge-context.ts'
import { saveProvedRef } from '../../src/run/delegate/delegate-commits.ts'
import { processStartTime } from '../../src/harness/process/spawn-guarded.ts'
import { mintId } from '../../src/journal/ids.ts'
import { Workspace } from '../../src/project/store/workspace.ts'
import type { DelegateStatus } from '../../src/run/entries.ts'
import { RunLog } from '../../src/run/run-log.ts'
import { gitProject } from '../support/project.ts'
import { worktreesFolder } from '../../src/project/store/worktrees.ts'
import { NOBODY } from './delegate-world.ts'

const FILES = Array.from({ length: 16 }, (_, number) => `f${number}`)
type Content = readonly string[]

interface Commit {
  readonly parents: readonly string[]
  readonly content: Content
}

interface Modelled {
  readonly id: string
  readonly branch: string
  readonly tree: string
  readonly base: string
  tip: string
  status: DelegateStatus
  /** The commit it was last ready at. */
  ready?: string
  /** An interrupted merge, and whether it reached the target. */
  hasLanded?: boolean
}

export class ModelledWorld {
  readonly #project = gitProject()
  readonly #workspace: Workspace
  readonly #commits = new Map<string, Commit>()
  readonly #delegates: Modelled[] = []
  #target: string
  #isDirty = false
  #count = 0

  /** With a target that is checked out by the user, or not at all. */
  constructor(readonly isCheckedOut: boolean) {
    const first = this.#project.commit(
      'start',
      Object.fromEntries(FILES.map((name) => [name, 'start\n'])),
    )
    for (const commit of this.#project.git('rev-list', 'main').trim().split('\n'))
      this.#commits.set(commit, { parents: [], content: [] })
    this.#commits.set(first, { parents: [], content: FILES.map(() => 'start') })
    this.#target = first
    if (!isCheckedOut) this.#project.git('branch', 'side')
    this.#workspace = new Workspace(this.#project.root, { env: process.env })
    this.#workspace.prepare()
  }

  get name(): string {
    return this.isCheckedOut ? 'main' : 'side'
  }

  create(): void {
    const id = mintId(undefined)
    this.#count += 1
    const branch = `stint/d${this.#count}`
    const name = `d${this.#count}`
    const tree = join(worktreesFolder(this.#workspace.paths), name)
    this.#git(['update-ref', `refs/heads/${branch}`, this.#target])
    const started = {
      options: {},
      harness: 'rehearsal',
      source: '.tasks',
      tree,
      branch,
      base: this.#target,
      isInPlace: false,
    }
    const order = {
      name,
      what: name,
      target: this.name,
      isReadOnly: false,
      files: [],
      slot: 0,
      brief: '',
    }
    RunLog.create(this.#workspace.paths, id, this.#workspace.config, {
      ...started,
      runner: NOBODY,
      delegate: order,
    }).close()
    this.#delegates.push({
      id,
      branch,
      tree,
      base: this.#target,
      tip: this.#target,
      status: 'running',
    })
  }

  /** Its agent commits. */
  commit(which: number, file: number): void {
    const one = this.#pick(which, ['running', 'ready', 'conflicted'])
    if (one !== undefined)
      one.tip = this.#commitOn(one.branch, [one.tip], this.#changed(one.tip, file))
  }

  /** Its agent amends its last commit. */
  amend(which: number, file: number): void {
    const one = this.#pick(which, ['running', 'ready', 'conflicted'])
    if (one === undefined || one.tip === one.base) return
    const { parents } = this.#commits.get(one.tip)!
    one.tip = this.#commitOn(one.branch, parents, this.#changed(one.tip, file))
  }

  /** Its agent or the user resets its branch to its base. */
  reset(which: number): void {
    const one = this.#pick(which, ['running', 'ready', 'conflicted'])
    if (one === undefined) return
    this.#git(['update-ref', `refs/heads/${one.branch}`, one.base])
    one.tip = one.base
  }

  /** Its agent commits on a detached HEAD, and stays there or returns. */
  detach(which: number, comesBack: boolean): void {
    const one = this.#pick(which, ['running', 'ready', 'conflicted'])
    if (one === undefined) return
    if (!existsSync(one.tree))
      this.#git(['worktree', 'add', '--quiet', '--detach', one.tree, one.tip])
    const inTree = (...args: readonly string[]) => this.#git(['-C', one.tree, ...args]).trim()
    const from = inTree('rev-parse', 'HEAD')
    this.#count += 1
    inTree('commit', '--quiet', '--allow-empty', '-m', `aside ${this.#count}`)
    this.#commits.set(inTree('rev-parse', 'HEAD'), {
      parents: [from],
      content: this.#commits.get(from)!.content,
    })
    if (comesBack) inTree('checkout', '--quiet', '--detach', from)
  }

  /** Its agent or the user merges the target into it and resolves every conflict. */
  mend(which: number): void {
    const one = this.#pick(which, ['conflicted']) ?? this.#pick(which, ['running', 'ready'])
    if (one === undefined || this.#contains(one.tip, this.#target)) return
    const { content } = this.#merged(one.tip, this.#target)
    one.tip = this.#commitOn(one.branch, [one.tip, this.#target], content)
  }

  ready(which: number): void {
    const one = this.#pick(which, ['running', 'conflicted'])
    if (one === undefined) return
    saveProvedRef(this.#workspace.paths, one.id, one.tip)
    this.#append(one, { to: 'ready', commit: one.tip, summary: 'done' })
    one.status = 'ready'
    one.ready = one.tip
  }

  async discard(which: number): Promise<void> {
    const one = this.#pick(which, ['running', 'ready', 'conflicted'])
    if (one === undefined) return
    await discardDelegate(this.#workspace, readDelegate(this.#workspace.paths, one.id))
    one.status = 'discarded'
  }

  userCommits(file: number): void {
    const content = this.#changed(this.#target, file)
    if (this.isCheckedOut) {
      this.#isDirty = false
      this.#write(content)
      this.#git(['commit', '--quiet', '--all', '--allow-empty', '-m', 'user'])
      const made = this.#head('main')
      this.#commits.set(made, { parents: [this.#target], content })
      this.#target = made
    } else this.#target = this.#commitOn('side', [this.#target], content)
  }

  userEdits(): void {
    if (!this.isCheckedOut) return
    this.#isDirty = true
    this.#project.write('f0', 'not committed\n')
  }

  userTidies(): void {
    if (!this.#isDirty) return
    this.#isDirty = false
    this.#write(this.#commits.get(this.#target)!.content)
  }

  async merge(which: readonly number[]): Promise<void> {
    const chosen = this.#choose(which)
    await this.#mergeUntil(chosen)
    this.#expectRecovered()
    for (const one of chosen) this.#expectMerged(one)
  }

  /** The merging process dies after a step, if it reaches it. */
  async crash(which: number, step: MergeStep): Promise<void> {
    const [one] = this.#choose([which])
    if (one === undefined) return
    const isHeld = await this.#mergeUntil([one], step)
    this.#expectRecovered()
    if (!isHeld) return this.#expectMerged(one)
    // Work that is on the target already is only recorded as merged.
    if (this.#contains(this.#target, this.#work(one))) {
      one.status = step === 'merged' ? 'merged' : 'merging'
      one.hasLanded = false
      return
    }
    const hasLanded = step === 'landed' || step === 'journals merged' || step === 'merged'
    if (hasLanded) this.#land(one)
    one.status = step === 'merged' ? 'merged' : 'merging'
    one.hasLanded = hasLanded
  }

  async recover(which: number): Promise<void> {
    const one = this.#pick(which, ['merging'])
    if (one === undefined) return
    await recoverMerge(this.#workspace, readDelegate(this.#workspace.paths, one.id))
    this.#recovered(one)
  }

  /** Nothing is lost, the target only advanced, and every status matches the model. */
  expectAsModelled(): void {
    // While branch and worktree exist, reflogs hold commits on no branch; afterwards refs do.
    const reachable = new Set(this.#git(['rev-list', '--all', '--reflog']).split('\n'))
    expect([...this.#commits.keys()].filter((commit) => !reachable.has(commit))).toEqual([])
    expect(this.#head(this.name)).toBe(this.#target)
    for (const { id, status } of this.#delegates) {
      expect(`${id} ${readDelegate(this.#workspace.paths, id).status}`).toBe(`${id} ${status}`)
    }
  }

  /** At the end also checks file contents. */
  expectContent(): void {
    const tree = this.#git(['rev-parse', ...FILES.map((name) => `refs/heads/${this.name}:${name}`)])
    const expected = this.#commits
      .get(this.#target)!
      .content.map((text) => this.#git(['hash-object', '--stdin'], `${text}\n`).trim())
    expect(tree.trim().split('\n')).toEqual(expected)
    if (this.isCheckedOut && !this.#isDirty)
      expect(this.#git(['status', '--porcelain', '--untracked-files=no'])).toBe('')
    this.#workspace.close()
  }

  /** Merges and stops after a step as if the process had died there. Returns whether it got that far. */
  async #mergeUntil(chosen: readonly Modelled[], step?: MergeStep): Promise<boolean> {
    let stand = () => {}
    const held = new Promise<true>((resolve) => (stand = () => resolve(true)))
    const scene: MergeContext = {
      workspace: this.#workspace,
      options: {},
      merger:
        step === undefined
          ? { pid: process.pid, startedAt: processStartTime(process.pid), mark: '' }
          : NOBODY,
      isStopped: new AbortController().signal,
      emit: () => undefined,
      afterStep: (now) => {
        if (now !== step) return Promise.resolve()
        stand()
        // Never resolves, so that nothing after it runs, not even `finally` blocks.
        return new Promise(() => undefined)
      },
      emittedMessages: new Set(),
    }
    const ids = chosen.map(({ id }) => id)
    return Promise.race([held, mergeWithContext(scene, ids).then(() => false)])
  }

  #expectRecovered(): void {
    for (const one of this.#delegates) if (one.status === 'merging') this.#recovered(one)
  }

  #recovered(one: Modelled): void {
    if (one.hasLanded !== true) one.ready = this.#work(one)
    one.status = one.hasLanded === true ? 'merged' : 'ready'
  }

  /** The outcome of one merge, and the target afterwards. */
  #expectMerged(one: Modelled): void {
    if (one.status !== 'ready' && one.status !== 'conflicted') return
    const tip = this.#work(one)
    if (this.#contains(this.#target, tip)) {
      const isProved = one.ready !== undefined && this.#contains(this.#target, one.ready)
      if (isProved || !this.#contains(one.base, tip)) one.status = 'merged'
    } else if (!this.#contains(tip, this.#target) && this.#merged(this.#target, tip).isConflict)
      one.status = 'conflicted'
    else if (this.#isDirty) {
      one.status = 'ready'
      one.ready = tip
    } else {
      this.#land(one)
      one.status = 'merged'
    }
  }

  /** The target contains its work through one new merge commit. */
  #land(one: Modelled): void {
    const tip = this.#work(one)
    const landed = readDelegate(this.#workspace.paths, one.id)
    const to = landed.merge?.landing?.to ?? landed.move?.commit
    if (to === undefined)
      throw new Error(`${one.id} is said to have landed, and its log does not say where`)
    const parents = this.#git(['rev-list', '--no-walk', '--parents', to]).trim().split(' ').slice(1)
    expect(parents).toEqual([this.#target, tip])
    this.#commits.set(to, { parents, content: this.#merged(this.#target, tip).content })
    this.#target = to
  }

  /** Its branch, or the proved commit if the branch was reset to its base. */
  #work({ base, ready, tip }: Modelled): string {
    const isSetBack =
      ready !== undefined && this.#contains(base, tip) && !this.#contains(tip, ready)
    return isSetBack ? ready : tip
  }

  #contains(commit: string, ancestor: string): boolean {
    return this.#ancestors(commit).has(ancestor)
  }

  #ancestors(commit: string): ReadonlySet<string> {
    const seen = new Set<string>()
    const open = [commit]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue
      seen.add(next)
      open.push(...this.#commits.get(next)!.parents)
    }
    return seen
  }

  /** A three-way merge by file. A file both sides changed is a conflict, since no two changes are equal. */
  #merged(
    ours: string,
    theirs: string,
  ): { readonly content: Content; readonly isConflict: boolean } {
    const mine = this.#ancestors(ours)
    const common = [...this.#ancestors(theirs)].filter((commit) => mine.has(commit))
    const base = common.find((commit) => common.every((other) => this.#contains(commit, other)))!
    const [a, b, o] = [ours, theirs, base].map((commit) => this.#commits.get(commit)!.content) as [
      Content,
      Content,
      Content,
    ]
    const isClash = (index: number) =>
      a[index] !== o[index] && b[index] !== o[index] && a[index] !== b[index]
    return {
      content: FILES.map((_, index) => (a[index] === o[index] ? b[index]! : a[index]!)),
      isConflict: FILES.some((_, index) => isClash(index)),
    }
  }

  #changed(commit: string, file: number): Content {
    this.#count += 1
    return this.#commits
      .get(commit)!
      .content.map((text, index) =>
        index === file % FILES.length ? `change ${this.#count}` : text,
      )
  }

  #commitOn(branch: string, parents: readonly string[], content: Content): string {
    const [first, ...others] = parents
    const message = `commit ${this.#count}`
    const lines = [
      `commit refs/heads/${branch}`,
      `committer Test <test@example.invalid> ${1_700_000_000 + this.#count} +0000`,
      `data ${message.length}`,
      message,
      `from ${first}`,
      ...others.map((other) => `merge ${other}`),
      ...FILES.flatMap((name, index) => [
        `M 100644 inline ${name}`,
        `data ${content[index]!.length + 1}`,
        `${content[index]}\n`,
      ]),
      '',
    ]
    this.#git(['fast-import', '--quiet', '--force'], lines.join('\n'))
    const made = this.#head(branch)
    this.#commits.set(made, { parents, content })
    return made
  }

  #write(content: Content): void {
    for (const [index, name] of FILES.entries()) this.#project.write(name, `${content[index]}\n`)
  }

  #choose(which: readonly number[]): readonly Modelled[] {
    const fitting = this.#delegates.filter(
      ({ status }) => status === 'ready' || status === 'conflicted',
    )
    const chosen = which.flatMap((number) => {
      // Mostly mergeable delegates, and now and then any.
      const among = fitting.length === 0 || number % 7 === 6 ? this.#delegates : fitting
      return among[number % Math.max(among.length, 1)] ?? []
    })
    return [...new Set(chosen)]
  }

  #pick(which: number, statuses: readonly DelegateStatus[]): Modelled | undefined {
    const fitting = this.#delegates.filter(({ status }) => statuses.includes(status))
    return fitting[which % Math.max(fitting.length, 1)]
  }

  #append(one: Modelled, move: Parameters<RunLog['append']>[1] & { to: 'ready' }): void {
    const log = new RunLog(this.#workspace.paths, one.id, this.#workspace.config)
    log.append('delegate.moved', move)
    log.close()
  }

  /** Read from the ref file, since every branch here was just written. */
  #head(branch: string): string {
    return readFileSync(join(this.#project.root, '.git', 'refs', 'heads', branch), 'utf8').trim()
  }

  #git(args: readonly string[], input = ''): string {
    return execFileSync('git', args, {
      cwd: this.#project.root,
      encoding: 'utf8',
      input,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
  }
}
