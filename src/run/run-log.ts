import { JournalMissing, StintError } from '../journal/errors.ts'
import { shortId } from '../journal/ids.ts'
import { Log } from '../journal/log.ts'
import { redaction } from '../project/store/clean-draft.ts'
import type { Config } from '../project/config/config.ts'
import type { Place } from '../project/store/place.ts'
import { runIds, runLogPlace } from '../project/store/run-files.ts'
import { redactDeep } from '../text/redact.ts'
import type { RunEntry, RunEntryData, RunEntryKind } from './entries.ts'

/** The run that a name means: its id or a part of it that only it has; the latest when absent. */
export function findRun(place: Place, name?: string): string {
  const ids = runIds(place)
  const found = name === undefined ? ids.slice(-1) : ids.filter((id) => id.includes(name))
  if (found.length === 1) return found[0]!
  if (found.length > 1) {
    throw new StintError(
      'RUN_AMBIGUOUS',
      `"${name}" fits ${found.length} runs: ${found.map(shortId).join(', ')}`,
      'stint runs lists them',
    )
  }
  const problem = name === undefined ? 'there has been no run here' : `there is no run "${name}"`
  throw new StintError(
    'NO_RUN',
    problem,
    name === undefined ? 'stint run starts one' : 'stint runs lists them',
  )
}

/** The log of one run, held by its runner. */
export class RunLog {
  readonly #log: Log
  readonly #config: Config

  constructor(
    place: Place,
    readonly run: string,
    config: Config,
  ) {
    this.#log = new Log(runLogPlace(place, run))
    this.#config = config
  }

  static create(
    place: Place,
    run: string,
    config: Config,
    data: RunEntryData['run.started'],
  ): RunLog {
    const log = new RunLog(place, run, config)
    log.#log.create([log.#draft('run.started', data)])
    return log
  }

  append<K extends RunEntryKind>(kind: K, data: RunEntryData[K]): void {
    this.#log.append([this.#draft(kind, data)])
  }

  read(): readonly RunEntry[] {
    return this.#log.read().records as readonly unknown[] as readonly RunEntry[]
  }

  close(): void {
    this.#log.close()
  }

  #draft<K extends RunEntryKind>(kind: K, data: RunEntryData[K]) {
    return {
      kind,
      by: 'run',
      data: redactDeep({ ...data }, redaction(this.#config)).value as Readonly<
        Record<string, unknown>
      >,
    }
  }
}

/** What a run has written down; nothing when it was killed before its first entry. */
export function readRun(place: Place, run: string): readonly RunEntry[] {
  const log = new Log(runLogPlace(place, run))
  try {
    return log.read().records as readonly unknown[] as readonly RunEntry[]
  } catch (error) {
    // Or its empty folder would be in the way of every run after it.
    if (error instanceof JournalMissing) return []
    throw error
  } finally {
    log.close()
  }
}
