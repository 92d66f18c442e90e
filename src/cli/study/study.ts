import type { Arm, Figures, Measurement, Study } from './contract.ts'
import { ARM_KINDS, boundsOf, keepingsWith } from './arms.ts'
import { ratioOf } from './ratio.ts'
import { runArm } from './run-arm.ts'

export interface StudyOptions {
  readonly sessions: number
  readonly seed: number
  readonly measurement: Measurement
  readonly measured: Study['measured']
  /** Of all sessions of all arms, how many are drawn. */
  readonly onProgress?: (drawn: number, total: number) => void
}

/** Draws every arm and compares it with `none`. */
export async function runStudy({
  sessions,
  seed,
  measurement,
  measured,
  onProgress,
}: StudyOptions): Promise<Study> {
  const keepings = keepingsWith(measurement)
  const arms: Arm[] = []
  for (const keeping of keepings) {
    const before = arms.length * sessions
    const arm = await runArm(keeping, {
      sessions,
      seed,
      onProgress: (drawn) => onProgress?.(before + drawn, keepings.length * sessions),
    })
    const none = arms[0]?.figures
    arms.push(none === undefined ? arm : comparedWith(none, arm))
  }
  return { sessions, seed, arms, measurement, bounds: boundsOf(measurement), measured }
}

function comparedWith(none: Figures, arm: Arm): Arm {
  return { ...arm, ratio: ratioOf(none, arm.figures, ARM_KINDS[arm.name].form) }
}
