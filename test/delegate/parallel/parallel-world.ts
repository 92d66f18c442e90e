// A project whose backlog several scripted agents work through in parallel: real processes, real git.
import { onTestFinished } from 'vitest'
import { type DelegateState, readDelegates } from '../../../src/run/delegate/delegates.ts'
import { startAnyRun } from '../../../src/run/parallel/start-parallel.ts'
import { Workspace } from '../../../src/project/store/workspace.ts'
import type { RunReport } from '../../../src/run/entries.ts'
import { readRun } from '../../../src/run/run-log.ts'
import type { RunHandle, StartOptions } from '../../../src/run/loop/start-run.ts'
import { expectNoneLeft } from '../../support/processes.ts'
import { scratchFolder } from '../../support/scratch.ts'
import { RunWorld } from '../../run/run-world.ts'

/** Script steps that make agents wait until all of them are running. */
export function meeting(
  ...all: readonly string[]
): (name: string, ...others: readonly string[]) => { readonly run: string } {
  const place = scratchFolder()
  return (name, ...others) => {
    const awaited = (others.length > 0 ? others : all)
      .map((one) => `[ -e ${place}/${one} ]`)
      .join(' && ')
    return { run: `touch ${place}/${name}; until ${awaited}; do sleep 0.05; done` }
  }
}

export class ParallelWorld extends RunWorld {
  workspace(): Workspace {
    const workspace = new Workspace(this.project.root, {
      say: (line) => this.project.messages.push(line),
      env: process.env,
    })
    onTestFinished(() => workspace.close())
    return workspace
  }

  override async start(options: StartOptions = {}): Promise<RunHandle> {
    return startAnyRun(this.workspace(), { harness: 'rehearsal', ...options }, (event) =>
      this.events.push(event),
    )
  }

  override async run(options: StartOptions = {}): Promise<RunReport> {
    const handle = await this.start({ parallel: 3, ...options })
    const report = await handle.ended
    await this.expectNothingLeft()
    return report
  }

  async expectNothingLeft(): Promise<void> {
    for (const { id } of this.delegates()) await expectNoneLeft(`STINT_RUN=${id}`)
  }

  delegates(): readonly DelegateState[] {
    return readDelegates(this.workspace().paths)
  }

  /** The parallel run itself, not one of its delegates. */
  override runs(): readonly string[] {
    const parts = new Set(this.delegates().map(({ id }) => id))
    return super.runs().filter((id) => !parts.has(id))
  }

  /** The status of each delegate, by name. */
  delegateStatuses(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.delegates().map(({ order, status }) => [order.name, status]))
  }

  /** The content of a file on the run's branch. */
  merged(path: string): string {
    return this.project.git('show', `${this.branch()}:${path}`)
  }

  entries(run: string) {
    return readRun(this.workspace().paths, run)
  }
}
