import type { Arm } from './contract.ts'
import type { Each, Keeping } from './parameters.ts'
import { runArm } from './run-arm.ts'

/** Arms that are drawn once, however many ask for them. */
export class DrawnArms {
  readonly #known = new Map<Each, Map<Keeping, Arm | undefined>>()

  /** Says that it will be asked for. */
  want(keeping: Keeping, tokens: Each, known?: Arm): void {
    const arms = this.#known.get(tokens) ?? new Map<Keeping, Arm | undefined>()
    this.#known.set(tokens, arms)
    if (!arms.has(keeping)) arms.set(keeping, known)
  }

  async draw(
    sessions: number,
    seed: number,
    onProgress?: (drawn: number, total: number) => void,
  ): Promise<void> {
    const missing = [...this.#known].flatMap(([tokens, arms]) =>
      [...arms].flatMap(([keeping, arm]) => (arm === undefined ? [{ arms, keeping, tokens }] : [])),
    )
    for (const [at, { arms, keeping, tokens }] of missing.entries()) {
      const tell = (drawn: number) => onProgress?.(at * sessions + drawn, missing.length * sessions)
      arms.set(keeping, await runArm(keeping, { sessions, seed, tokens, onProgress: tell }))
    }
  }

  get(keeping: Keeping, tokens: Each): Arm {
    const arm = this.#known.get(tokens)?.get(keeping)
    if (arm === undefined) throw new Error(`${keeping.name} was not drawn`)
    return arm
  }
}
