import { availableParallelism } from 'node:os'
import { stintVersion } from '../../src/harness/process/find-program.ts'
import type { FailureRates, Measurement } from '../../src/cli/study/parameters.ts'
import { measureConflicts, measureStale, measureUnreadable } from './failures.ts'
import { Lab } from './lab.ts'
import { measureSessions } from './sessions.ts'
import type { StoreName } from './orders.ts'

export interface MeasureOptions {
  readonly size: 'full' | 'quick'
  readonly seed?: number
  /** The library under test; the built one by default. */
  readonly library?: string
  readonly onProgress?: (progress: MeasureProgress) => void
  readonly signal?: AbortSignal
}

export interface MeasureProgress {
  readonly what: string
  readonly done: number
  readonly total: number
}

/** Trials of each kind, and sessions per complexity. */
interface Size {
  readonly stint: Counts
  readonly control: Counts
  readonly sessions: number
}

interface Counts {
  readonly stale: number
  readonly conflicts: number
  readonly unreadable: number
}

const SIZES: Readonly<Record<MeasureOptions['size'], Size>> = {
  full: {
    stint: { stale: 1000, conflicts: 300, unreadable: 500 },
    control: { stale: 200, conflicts: 100, unreadable: 100 },
    sessions: 4,
  },
  quick: {
    stint: { stale: 16, conflicts: 8, unreadable: 20 },
    control: { stale: 8, conflicts: 4, unreadable: 8 },
    sessions: 1,
  },
}

/**
 * Measures the study's numbers for Stint with real processes. Leaves nothing behind unless it is
 * killed.
 */
export async function measure(options: MeasureOptions): Promise<Measurement> {
  const { seed = 42 } = options
  const size = SIZES[options.size]
  const lab = await Lab.open(options.signal, options.library)
  const progress = new Progress(size, options.onProgress)
  try {
    const failures = (store: StoreName, counts: Counts) =>
      measureFailures(lab, store, counts, seed, progress)
    const found = await failures('stint', size.stint)
    const control = await failures('session-json', size.control)
    const sessions = await measureSessions(lab, {
      each: size.sessions,
      seed,
      tried: progress.during('working through sessions'),
    })
    return {
      at: new Date().toISOString(),
      version: stintVersion(),
      machine: machine(),
      ...found,
      control,
      sessions,
    }
  } finally {
    await lab.close()
  }
}

async function measureFailures(
  lab: Lab,
  store: StoreName,
  counts: Counts,
  seed: number,
  progress: Progress,
): Promise<FailureRates> {
  const trials = (count: number, what: string) => ({
    lab,
    store,
    seed,
    count,
    tried: progress.during(what),
  })
  return {
    stale: await measureStale(trials(counts.stale, 'killing writers')),
    conflicts: await measureConflicts(trials(counts.conflicts, 'writing at once')),
    unreadable: await measureUnreadable(trials(counts.unreadable, 'cutting writes short')),
  }
}

class Progress {
  readonly #total: number
  readonly #tell: ((progress: MeasureProgress) => void) | undefined
  #done = 0

  constructor({ stint, control, sessions }: Size, tell?: (progress: MeasureProgress) => void) {
    const counts = [stint, control].flatMap((one) => [one.stale, one.conflicts, one.unreadable])
    this.#total = counts.reduce((sum, count) => sum + count, 0) + 3 * sessions
    this.#tell = tell
  }

  during(what: string): () => void {
    const tell = () => this.#tell?.({ what, done: this.#done, total: this.#total })
    return () => {
      this.#done += 1
      tell()
    }
  }
}

function machine(): string {
  const cores = availableParallelism()
  return `Node ${process.version}, ${process.platform} ${process.arch}, ${cores} core${cores === 1 ? '' : 's'}`
}
