import { JournalMissing, StintError } from '../journal/errors.ts'
import { shortId } from '../journal/ids.ts'
import { Log } from '../journal/log.ts'
import { redaction } from '../project/store/clean-draft.ts'
import type { Config } from '../project/config/config.ts'
import type { Place } from '../project/store/place.ts'
import { runIds, runLogPlace } from '../project/store/run-files.ts'
import { defined } from '../text/defined.ts'
import { redactDeep } from '../text/redact.ts'
import {
  type Listener,
  type RunEntry,
  type RunEntryData,
  type RunEntryKind,
  type RunEvent,
  type TaskName,
  isWhole,
} from './entries.ts'

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

/** The fields by which an entry names its task. */
interface EntryAbout {
  readonly attempt?: string
  readonly task?: string | TaskName
}

/** The log of one run, held by its runner. Each entry that is appended is an event of the run. */
export class RunLog {
  readonly #log: Log
  readonly #config: Config
  readonly #listener: Listener | undefined
  /** By attempt, and by the task's id. */
  readonly #tasks = new Map<string, TaskName>()

  constructor(
    place: Place,
    readonly run: string,
    config: Config,
    listener?: Listener,
  ) {
    this.#log = new Log(runLogPlace(place, run))
    this.#config = config
    this.#listener = listener
  }

  static create(
    place: Place,
    run: string,
    config: Config,
    data: RunEntryData['run.started'],
    listener?: Listener,
  ): RunLog {
    const log = new RunLog(place, run, config, listener)
    log.#emit(log.#log.create([log.#draft('run.started', data)]))
    return log
  }

  /** `task`: the one it is about, where the log cannot know that. */
  append<K extends RunEntryKind>(kind: K, data: RunEntryData[K], task?: TaskName): void {
    this.#emit(this.#log.append([this.#draft(kind, data)]), task)
  }

  #emit(records: readonly unknown[], task?: TaskName): void {
    if (this.#listener === undefined) return
    for (const { kind, at, data } of records as readonly RunEntry[])
      this.#listener({
        kind,
        at,
        ...defined({ task: task ?? this.#taskOf(data as EntryAbout) }),
        data,
      } as RunEvent)
  }

  #taskOf(data: EntryAbout): TaskName | undefined {
    if (typeof data.task === 'object') {
      this.#tasks.set(data.attempt ?? '', data.task).set(data.task.id, data.task)
      return data.task
    }
    const about = data.attempt ?? data.task
    if (about === undefined) return undefined
    // It may be about an attempt that was started before the run was resumed.
    if (!this.#tasks.has(about))
      for (const entry of this.read())
        if (entry.kind === 'attempt.started' && isWhole(entry)) this.#taskOf(entry.data)
    return this.#tasks.get(about)
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
