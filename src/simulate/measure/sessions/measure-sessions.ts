import type { Complexity, MeasuredSessions } from '../../contract.ts'
import type { Lab } from '../lab.ts'

export interface SessionTrials {
  readonly each: number
  readonly seed: number
  readonly tried: () => void
}

export async function measureSessions(lab: Lab, trials: SessionTrials): Promise<Readonly<Record<Complexity, MeasuredSessions>>> {
  throw new Error(`not built yet: ${lab.folder} ${trials.each}`)
}
