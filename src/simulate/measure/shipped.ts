import type { Measurement } from '../contract.ts'

/** What was measured of this Stint before it was given out. Written by `node scripts/measure.mjs`. */
export const shipped: Measurement = {
  at: '2026-11-16T05:10:00.000Z',
  version: '0.1.0',
  machine: 'not measured yet',
  stale: { happened: 0, trials: 1 },
  conflicts: { happened: 0, trials: 1 },
  unreadable: { happened: 0, trials: 1 },
  control: {
    stale: { happened: 0, trials: 1 },
    conflicts: { happened: 0, trials: 1 },
    unreadable: { happened: 0, trials: 1 },
  },
  sessions: {
    simple: {
      sessions: 1,
      tasks: 1,
      writes: 60,
      bytes: 40_000,
      commands: 4,
      tokens: 3000,
      givenBack: { happened: 1, trials: 1 },
      shownOnDemand: { happened: 0, trials: 0 },
    },
    medium: {
      sessions: 1,
      tasks: 4,
      writes: 200,
      bytes: 90_000,
      commands: 10,
      tokens: 5000,
      givenBack: { happened: 1, trials: 1 },
      shownOnDemand: { happened: 0, trials: 0 },
    },
    complex: {
      sessions: 1,
      tasks: 8,
      writes: 400,
      bytes: 160_000,
      commands: 18,
      tokens: 7000,
      givenBack: { happened: 1, trials: 1 },
      shownOnDemand: { happened: 0, trials: 0 },
    },
  },
}
