import type { ProcessTag } from '../../harness/contract/drive.ts'
import { isAlive } from '../../harness/process/spawn-guarded.ts'
import { NotWritten } from '../../journal/errors.ts'
import { Log } from '../../journal/log.ts'
import type { ProjectPaths } from '../../project/store/project-paths.ts'
import { claimsPath } from '../../project/store/run-files.ts'

export function isSameProcess(a: ProcessTag, b: ProcessTag): boolean {
  return a.pid === b.pid && a.startedAt === b.startedAt
}

interface Claim {
  readonly task: string
  readonly run: string
  readonly runner: ProcessTag
}

/** Keeps two runs on one machine from working on one task: the first live process in this log holds it. */
export class Claims {
  readonly #log: Log
  readonly #held = new Set<string>()

  constructor(
    paths: ProjectPaths,
    private readonly run: string,
    private readonly runner: ProcessTag,
  ) {
    this.#log = new Log({ path: claimsPath(paths) })
  }

  claim(task: string): boolean {
    if (this.#held.has(task)) return true
    const holder = this.findHolder(task)
    if (holder !== undefined && !this.#isOurs(holder)) return false
    this.#append('task.claimed', task)
    if (!this.#isOurs(this.findHolder(task))) {
      // Otherwise it would block others once the first has released the task.
      this.#append('task.released', task)
      return false
    }
    this.#held.add(task)
    return true
  }

  findHolder(task: string): Claim | undefined {
    return this.#unreleased(task).find((claim) => this.#isOurs(claim) || isAlive(claim.runner))
  }

  releaseDead(task: string): readonly string[] {
    const dead = this.#unreleased(task).filter(
      (claim) => !this.#isOurs(claim) && !isAlive(claim.runner),
    )
    for (const claim of dead) this.#append('task.released', task, claim)
    return dead.map(({ run }) => run)
  }

  release(task: string): void {
    if (this.#held.delete(task)) this.#append('task.released', task)
  }

  releaseAll(): void {
    for (const task of this.#held) this.release(task)
    this.#log.close()
  }

  /** This process, not an earlier one of the same run. */
  #isOurs(claim: Claim | undefined): boolean {
    return claim?.run === this.run && isSameProcess(claim.runner, this.runner)
  }

  /** In the order of the file, because ids do not tell who came first. */
  #unreleased(task: string): readonly Claim[] {
    let claims: Claim[] = []
    if (!this.#log.exists()) return claims
    for (const { kind, data } of this.#log.read().records as readonly {
      kind: string
      data: unknown
    }[]) {
      const claim = data as Claim
      if (claim.task !== task) continue
      if (kind === 'task.claimed') claims.push(claim)
      else
        claims = claims.filter(
          (one) => one.run !== claim.run || one.runner.pid !== claim.runner.pid,
        )
    }
    return claims
  }

  #append(kind: string, task: string, { run, runner }: Omit<Claim, 'task'> = this.#self): void {
    const drafts = [{ kind, by: 'run', data: { task, run, runner } }]
    try {
      if (!this.#log.exists()) return void this.#log.create(drafts)
    } catch (error) {
      // Another run created it in between.
      if (!(error instanceof NotWritten) || !this.#log.exists()) throw error
    }
    this.#log.append(drafts)
  }

  get #self() {
    return { run: this.run, runner: this.runner }
  }
}
