import type { Measurement } from './parameters.ts'

/** The measurement of this version, written by `node scripts/measure.mjs`. */
export const measuredRates: Measurement = {
  at: '2026-11-16T06:01:08.372Z',
  version: '0.1.0',
  machine: 'Node v20.20.2, linux x64, 2 cores',
  stale: {
    happened: 0,
    trials: 1000,
  },
  conflicts: {
    happened: 0,
    trials: 300,
  },
  unreadable: {
    happened: 0,
    trials: 500,
  },
  control: {
    stale: {
      happened: 155,
      trials: 200,
    },
    conflicts: {
      happened: 99,
      trials: 100,
    },
    unreadable: {
      happened: 100,
      trials: 100,
    },
  },
  sessions: {
    simple: {
      sessions: 4,
      tasks: 1.5,
      writes: 163.3,
      bytes: 191579,
      commands: 5,
      tokens: 2889,
      givenBack: {
        happened: 76,
        trials: 76,
      },
      shownOnDemand: {
        happened: 0,
        trials: 0,
      },
    },
    medium: {
      sessions: 4,
      tasks: 4,
      writes: 293.8,
      bytes: 233697,
      commands: 10,
      tokens: 4813,
      givenBack: {
        happened: 136,
        trials: 136,
      },
      shownOnDemand: {
        happened: 0,
        trials: 0,
      },
    },
    complex: {
      sessions: 4,
      tasks: 8,
      writes: 505.8,
      bytes: 310464,
      commands: 18,
      tokens: 7012,
      givenBack: {
        happened: 173,
        trials: 232,
      },
      shownOnDemand: {
        happened: 59,
        trials: 59,
      },
    },
  },
}
