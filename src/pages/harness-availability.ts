// Asking a harness costs a process, so answers are cached.
import { drivableNames, findHarness } from '../harness/registry.ts'
import { type HarnessWorkspace, loadHarness } from '../run/loop/make-run-context.ts'
import { defined } from '../text/defined.ts'
import { StintError } from '../journal/errors.ts'
import type { HarnessRow } from './contract.ts'

const KEPT_MS = 60_000
/** The page waits this long for a slow answer. */
const PATIENCE_MS = 2_000

export class HarnessAvailability {
  readonly #project: () => HarnessWorkspace
  readonly #env: NodeJS.ProcessEnv
  readonly #lines = new Map<string, HarnessRow>()
  #asked: Promise<unknown> | undefined
  #at = -Infinity

  constructor(project: () => HarnessWorkspace, env: NodeJS.ProcessEnv) {
    this.#project = project
    this.#env = env
  }

  async rows(): Promise<readonly HarnessRow[]> {
    const names = this.#names()
    if (performance.now() - this.#at > KEPT_MS) {
      this.#at = performance.now()
      this.#asked = Promise.all(names.map((name) => this.#ask(name)))
    }
    const patience = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS).unref())
    await Promise.race([this.#asked, patience])
    return names.map(
      (name) =>
        this.#lines.get(name) ?? {
          name,
          isThere: false,
          isPending: true,
          problem: `${name} has not answered yet`,
        },
    )
  }

  #names() {
    try {
      return drivableNames(this.#project().config.api)
    } catch (error) {
      // What needs the configuration reports its mistake.
      if (!(error instanceof StintError)) throw error
      return drivableNames()
    }
  }

  async #ask(name: string) {
    try {
      const harness = await loadHarness(name, this.#project())
      const { isScripted } = findHarness(name) ?? {}
      this.#lines.set(name, {
        name,
        ...defined({ isScripted }),
        ...(await harness.check(this.#env)),
      })
    } catch (error) {
      this.#lines.set(name, {
        name,
        isThere: false,
        problem: error instanceof Error ? error.message : String(error),
      })
    }
  }
}
