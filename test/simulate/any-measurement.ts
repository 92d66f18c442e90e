import type { Measurement } from '../../src/simulate/contract.ts'

/** A measurement as it might be, for tests that are not about what was measured. */
export function anyMeasurement(changed: Partial<Measurement> = {}): Measurement {
  return {
    at: '2026-01-15T12:00:00.000Z',
    version: '0.0.0',
    machine: 'Node v20.20.2, linux x64, 2 cores',
    stale: { happened: 0, trials: 1000 },
    conflicts: { happened: 0, trials: 600 },
    unreadable: { happened: 0, trials: 3000 },
    sessions: {
      simple: { sessions: 10, writes: 9, bytes: 4000, tokens: 420, givenBack: { happened: 60, trials: 60 } },
      medium: { sessions: 10, writes: 20, bytes: 9000, tokens: 730, givenBack: { happened: 118, trials: 120 } },
      complex: { sessions: 10, writes: 41, bytes: 21_000, tokens: 1180, givenBack: { happened: 190, trials: 200 } },
    },
    ...changed,
  }
}
