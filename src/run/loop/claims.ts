// Two runs on one machine never work on one task: whoever stands first in this log has it, as long as it lives.
import { join } from 'node:path'
import type { ProcessMark } from '../../harness/contract/drive.ts'
import { isAlive } from '../../harness/process/spawn-guarded.ts'
import { NotWritten } from '../../journal/errors.ts'
import { Log } from '../../journal/log.ts'
import type { Place } from '../../project/store/place.ts'
import { runsFolder } from '../../project/store/run-files.ts'

interface Claim {
  readonly task: string
  readonly run: string
  readonly runner: ProcessMark
}

export class Claims {
  readonly #log: Log
  readonly #run: string
  readonly #runner: ProcessMark
  readonly #held = new Set<string>()

  constructor(place: Place, run: string, runner: ProcessMark) {
    this.#log = new Log({ path: join(runsFolder(place), 'claims.jsonl') })
    this.#run = run
    this.#runner = runner
  }

  /** Whether the task is ours now. */
  take(task: string): boolean {
    if (this.#held.has(task)) return true
    const holder = this.#holder(task)
    if (holder !== undefined && !this.#isOurs(holder)) return false
    this.#append('task.claimed', this.#claim(task))
    if (!this.#isOurs(this.#holder(task))) {
      // Or it would stand in the way of others once the first has let go of it.
      this.#append('task.released', this.#claim(task))
      return false
    }
    this.#held.add(task)
    return true
  }

  /** Who has it, and is alive. */
  holderOf(task: string): { readonly run: string; readonly runner: ProcessMark } | undefined {
    return this.#holder(task)
  }

  /** Answers which runs had it and died without letting go of it, each once. */
  takeFromDead(task: string): readonly string[] {
    const dead = this.#standing(task).filter(
      (claim) => !this.#isOurs(claim) && !isAlive(claim.runner),
    )
    for (const { run, runner } of dead) this.#append('task.released', { task, run, runner })
    return dead.map(({ run }) => run)
  }

  release(task: string): void {
    if (this.#held.delete(task)) this.#append('task.released', this.#claim(task))
  }

  releaseAll(): void {
    for (const task of this.#held) this.release(task)
    this.#log.close()
  }

  /** This very process, and not another one that had the run before. */
  #isOurs(claim: Claim | undefined): boolean {
    const { pid, startedAt } = this.#runner
    return (
      claim?.run === this.#run && claim.runner.pid === pid && claim.runner.startedAt === startedAt
    )
  }

  #claim(task: string): Claim {
    return { task, run: this.#run, runner: this.#runner }
  }

  #holder(task: string): Claim | undefined {
    return this.#standing(task).find((claim) => this.#isOurs(claim) || isAlive(claim.runner))
  }

  /** Those who claimed it and did not let go, in their order. */
  #standing(task: string): readonly Claim[] {
    const claims: Claim[] = []
    if (!this.#log.exists()) return claims
    // In the order of the file and not of ids: only there it is settled who came first.
    for (const { kind, data } of this.#log.read().records as readonly {
      kind: string
      data: unknown
    }[]) {
      const claim = data as Claim
      if (claim.task !== task) continue
      if (kind === 'task.claimed') claims.push(claim)
      else
        claims.splice(
          0,
          claims.length,
          ...claims.filter((one) => one.run !== claim.run || one.runner.pid !== claim.runner.pid),
        )
    }
    return claims
  }

  #append(kind: string, claim: Claim): void {
    const drafts = [{ kind, by: 'run', data: { ...claim } }]
    if (this.#log.exists()) {
      this.#log.append(drafts)
      return
    }
    try {
      this.#log.create(drafts)
    } catch (error) {
      // Another run created it between our looking and our creating.
      if (!(error instanceof NotWritten) || !this.#log.exists()) throw error
      this.#log.append(drafts)
    }
  }
}
