import { JournalMissing, StintError } from '../journal/errors.ts'
import { shortId } from '../journal/ids.ts'
import { Log } from '../journal/log.ts'
import { redaction } from '../project/store/clean-draft.ts'
import type { Config } from '../project/config/config.ts'
import type { ProjectPaths } from '../project/store/project-paths.ts'
import { isForeignRun, runIds, runLogPaths } from '../project/store/run-files.ts'
import { defined } from '../text/defined.ts'
import { redactDeep } from '../text/redact.ts'
import {
  type RunEntry,
  type RunEntryData,
  type RunEntryKind,
  type RunEvent,
  type RunListener,
  type TaskName,
  hasNeededFields,
} from './entries.ts'

/** The run whose id contains `name`; the latest without a name. */
export function findRun(paths: ProjectPaths, name?: string): string {
  const ids = runIds(paths)
  const found = name === undefined ? ids.slice(-1) : ids.filter((id) => id.includes(name))
  if (found.length === 1) return found[0]!
  if (found.length > 1) {
    throw new StintError(
      'RUN_AMBIGUOUS',
      `"${name}" fits ${found.length} runs: ${found.map(shortId).join(', ')}`,
      'stint runs lists them',
    )
  }
  if (name === undefined)
    throw new StintError('NO_RUN', 'there has been no run here', 'stint run starts one')
  throw new StintError('NO_RUN', `there is no run "${name}"`, 'stint runs lists them')
}

interface EntryAbout {
  readonly attempt?: string
  readonly task?: string | TaskName
}

/** Each appended entry is also emitted as an event of the run. */
export class RunLog {
  readonly #log: Log
  /** By attempt id and by task id. */
  readonly #tasks = new Map<string, TaskName>()

  constructor(
    paths: ProjectPaths,
    run: string,
    private readonly config: Config,
    private readonly listener?: RunListener,
  ) {
    this.#log = new Log(runLogPaths(paths, run))
  }

  static create(
    paths: ProjectPaths,
    run: string,
    config: Config,
    data: RunEntryData['run.started'],
    listener?: RunListener,
  ): RunLog {
    const log = new RunLog(paths, run, config, listener)
    log.#emit(log.#log.create([log.#draft('run.started', data)]))
    return log
  }

  /** `task`: for an entry that does not name its task. */
  append<K extends RunEntryKind>(kind: K, data: RunEntryData[K], task?: TaskName): void {
    this.#emit(this.#log.append([this.#draft(kind, data)]), task)
  }

  #emit(records: readonly unknown[], task?: TaskName): void {
    if (this.listener === undefined) return
    for (const { kind, at, data } of records as readonly RunEntry[]) {
      const about = defined({ task: task ?? this.#taskOf(data as EntryAbout) })
      this.listener({ kind, at, ...about, data } as RunEvent)
    }
  }

  #taskOf(data: EntryAbout): TaskName | undefined {
    if (typeof data.task === 'object') {
      this.#tasks.set(data.attempt ?? '', data.task).set(data.task.id, data.task)
      return data.task
    }
    const about = data.attempt ?? data.task
    if (about === undefined) return undefined
    // The attempt may have started before the run was resumed.
    if (!this.#tasks.has(about))
      for (const entry of this.read())
        if (entry.kind === 'attempt.started' && hasNeededFields(entry)) this.#taskOf(entry.data)
    return this.#tasks.get(about)
  }

  read(): readonly RunEntry[] {
    return entriesIn(this.#log)
  }

  close(): void {
    this.#log.close()
  }

  #draft<K extends RunEntryKind>(kind: K, data: RunEntryData[K]) {
    const redacted: unknown = redactDeep({ ...data }, redaction(this.config)).value
    return { kind, by: 'run', data: redacted as Readonly<Record<string, unknown>> }
  }
}

function entriesIn(log: Log): readonly RunEntry[] {
  return log.read().records as readonly unknown[] as readonly RunEntry[]
}

/** Empty when the run was killed before its first entry, and for a log that another machine wrote. */
export function readRun(paths: ProjectPaths, run: string): readonly RunEntry[] {
  if (isForeignRun(paths, run)) return []
  const log = new Log(runLogPaths(paths, run))
  try {
    return entriesIn(log)
  } catch (error) {
    if (error instanceof JournalMissing) return []
    throw error
  } finally {
    log.close()
  }
}
