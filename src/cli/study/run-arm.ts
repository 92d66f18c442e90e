import type { Arm } from './contract.ts'
import { ARM_KINDS } from './arms.ts'
import { type Generators, drawSession, emptySession } from './draw-session.ts'
import { Tally } from './figures.ts'
import { MersenneTwister } from './mersenne-twister.ts'
import { type Each, type Keeping, SESSION } from './parameters.ts'

/** Sessions drawn before others have their turn: some milliseconds. */
const PIECE = 10_000

export interface Draws {
  readonly sessions: number
  readonly seed: number
  /** What a session takes of its own, where not as the study assumes it. */
  readonly tokens?: Each
  readonly onProgress?: (sessions: number) => void
}

/** Draws all sessions of one arm, in pieces. Not compared with anything yet. */
export async function runArm(
  keeping: Keeping,
  { sessions, seed, tokens = SESSION.tokens, onProgress }: Draws,
): Promise<Omit<Arm, 'ratio'>> {
  const generators: Generators = {
    sessions: new MersenneTwister(seed),
    failures: new MersenneTwister(seed + 1),
  }
  const tally = new Tally(sessions)
  const session = emptySession()
  for (let done = 0; done < sessions;) {
    const until = Math.min(sessions, done + PIECE)
    for (; done < until; done += 1) {
      drawSession(keeping, tokens, generators, session)
      tally.add(session)
    }
    onProgress?.(done)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { name: keeping.name, basis: ARM_KINDS[keeping.name].basis, ...tally.figures() }
}

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
