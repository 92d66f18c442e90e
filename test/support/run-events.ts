import { defined } from '../../src/text/defined.ts'
import type { AttemptOutcome, RunEvent, RunEventKind, TaskName } from '../../src/run/entries.ts'

/** An event's data together with its references. */
type Flat<K extends RunEventKind> = Omit<RunEvent<K>['data'], 'task'> & {
  readonly at: string
  readonly task: TaskName
  readonly delegate?: string
}

export function eventsOf<K extends RunEventKind>(
  events: readonly RunEvent[],
  kind: K,
): readonly Flat<K>[] {
  return events
    .filter((event) => event.kind === kind)
    .map(({ at, data, delegate, task }) => ({ ...data, at, ...defined({ delegate, task }) }))
    .map((event) => event as unknown as Flat<K>)
}

export function attemptsThat(
  events: readonly RunEvent[],
  outcome: AttemptOutcome,
): readonly Flat<'attempt.ended'>[] {
  return eventsOf(events, 'attempt.ended').filter((event) => event.outcome === outcome)
}
