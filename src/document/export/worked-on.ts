// Which task was being worked on when something happened. Nobody says so of a file or of a delegated agent, but the
// journal has the order of things.
import type { RawEntry } from '../../session/in-effect.ts'

export interface WorkedOn {
  /** When it was first begun, by the id of the task or step. */
  readonly startedAt: ReadonlyMap<string, string>
  /** When it was last finished. */
  readonly endedAt: ReadonlyMap<string, string>
  /** Paths that changed meanwhile, each once. */
  readonly files: ReadonlyMap<string, ReadonlySet<string>>
  /** What was being worked on when the entry with this id was made. */
  readonly during: ReadonlyMap<string, string>
}

/** What `current` answers of the things begun and not finished, the latest last. */
export type Current = (begun: readonly string[]) => string | undefined

/** Goes through the entries in effect once, and keeps what was begun and not finished. */
export function workedOn(entries: readonly RawEntry[], current: Current): WorkedOn {
  const startedAt = new Map<string, string>()
  const endedAt = new Map<string, string>()
  const files = new Map<string, Set<string>>()
  const during = new Map<string, string>()
  let begun: readonly string[] = []
  for (const { id, at, kind, data } of entries) {
    const move = moveOf(kind, data)
    if (move !== undefined) {
      begun = begun.filter((other) => other !== move.of)
      if (move.to === 'begun') begun = [...begun, move.of]
      if (move.to === 'begun' && !startedAt.has(move.of)) startedAt.set(move.of, at)
      if (move.to === 'finished')
        endedAt.set(move.of, typeof data.when === 'string' && data.when !== '' ? data.when : at)
      else endedAt.delete(move.of)
      continue
    }
    if (kind !== 'file.changed' && kind !== 'agent.finished') continue
    const of = current(begun)
    if (of === undefined) continue
    during.set(id, of)
    if (kind !== 'file.changed' || typeof data.path !== 'string') continue
    files.set(of, (files.get(of) ?? new Set()).add(data.path))
  }
  return { startedAt, endedAt, files, during }
}

interface Move {
  readonly of: string
  readonly to: 'begun' | 'finished' | 'set down'
}

const STEP_MOVES: Readonly<Record<string, Move['to']>> = {
  'step.started': 'begun',
  'step.done': 'finished',
  'step.stopped': 'set down',
  'step.reopened': 'set down',
  'step.dropped': 'set down',
}

function moveOf(kind: string, data: RawEntry['data']): Move | undefined {
  if (kind === 'task.moved' && typeof data.task === 'string') {
    const to =
      data.status === 'in_progress'
        ? 'begun'
        : data.status === 'completed'
          ? 'finished'
          : 'set down'
    return { of: data.task, to }
  }
  const to = Object.hasOwn(STEP_MOVES, kind) ? STEP_MOVES[kind] : undefined
  return to === undefined || typeof data.step !== 'string' ? undefined : { of: data.step, to }
}
