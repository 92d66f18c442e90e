// Checking a harness starts a process, so results are cached.
import { drivableNames, findHarness } from '../harness/registry.ts'
import { type HarnessWorkspace, loadHarness } from '../run/loop/make-run-context.ts'
import { defined } from '../text/defined.ts'
import { StintError, messageOf } from '../journal/errors.ts'
import type { HarnessRow } from './page-types.ts'

const CACHE_MS = 60_000
/** The page waits this long for slow checks. */
const MAX_WAIT_MS = 2_000

export class HarnessAvailability {
  readonly #workspace: () => HarnessWorkspace
  readonly #env: NodeJS.ProcessEnv
  readonly #rows = new Map<string, HarnessRow>()
  #checks: Promise<unknown> | undefined
  #checkedAt = -Infinity

  constructor(workspace: () => HarnessWorkspace, env: NodeJS.ProcessEnv) {
    this.#workspace = workspace
    this.#env = env
  }

  async rows(): Promise<readonly HarnessRow[]> {
    const names = this.#names()
    if (performance.now() - this.#checkedAt > CACHE_MS) {
      this.#checkedAt = performance.now()
      this.#checks = Promise.all(names.map((name) => this.#check(name)))
    }
    const timeout = new Promise((resolve) => setTimeout(resolve, MAX_WAIT_MS).unref())
    await Promise.race([this.#checks, timeout])
    return names.map(
      (name) =>
        this.#rows.get(name) ?? {
          name,
          isThere: false,
          isPending: true,
          problem: `${name} has not answered yet`,
        },
    )
  }

  #names() {
    try {
      return drivableNames(this.#workspace().config.api)
    } catch (error) {
      // Commands that need the configuration report its errors.
      if (!(error instanceof StintError)) throw error
      return drivableNames()
    }
  }

  async #check(name: string) {
    try {
      const harness = await loadHarness(name, this.#workspace())
      const { isScripted } = findHarness(name) ?? {}
      this.#rows.set(name, {
        name,
        ...defined({ isScripted }),
        ...(await harness.check(this.#env)),
      })
    } catch (error) {
      this.#rows.set(name, {
        name,
        isThere: false,
        problem: messageOf(error),
      })
    }
  }
}
