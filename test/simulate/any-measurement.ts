import type { MeasuredSessions, Measurement } from '../../src/cli/study/parameters.ts'

/** A plausible measurement, for tests that do not depend on its figures. */
export function anyMeasurement(changed: Partial<Measurement> = {}): Measurement {
  return {
    at: '2026-01-15T12:00:00.000Z',
    version: '0.0.0',
    machine: 'Node v20.20.2, linux x64, 2 cores',
    stale: { happened: 0, trials: 1000 },
    conflicts: { happened: 0, trials: 600 },
    unreadable: { happened: 0, trials: 3000 },
    control: {
      stale: { happened: 12, trials: 200 },
      conflicts: { happened: 97, trials: 100 },
      unreadable: { happened: 100, trials: 100 },
    },
    sessions: {
      simple: sessions(1.5, 60, 3000),
      medium: sessions(4, 200, 5000),
      complex: sessions(8, 400, 7000),
    },
    ...changed,
  }
}

function sessions(tasks: number, writes: number, tokens: number): MeasuredSessions {
  const recorded = tasks * 20
  return {
    sessions: 3,
    tasks,
    writes,
    bytes: writes * 400,
    commands: 2 + 2 * tasks,
    tokens,
    givenBack: { happened: recorded - tasks, trials: recorded },
    shownOnDemand: { happened: tasks, trials: tasks },
  }
}
