import type { RawEntry } from '../session/in-effect.ts'
import type { SessionState } from '../session/state.ts'
import type { LiveSession } from './store/live-session.ts'
import { type LogEntry, draftsFor } from './lifecycle/log-entries.ts'

/** Appending renders nothing; the next command, or `project.view()`, renders the views. */
export class SessionHandle {
  readonly #session: LiveSession

  constructor(session: LiveSession) {
    this.#session = session
  }

  get id(): string {
    return this.#session.id
  }

  /** Returns the entries once they are durable. */
  append(entries: readonly LogEntry[], options: { by?: string } = {}): readonly RawEntry[] {
    const context = { mint: () => this.#session.mint(), by: options.by ?? 'library' }
    return this.#session.append(
      entries.flatMap((entry) => draftsFor(entry, () => this.#session.open(), context)),
    )
  }

  state(): SessionState {
    return this.#session.open()
  }

  close(): void {
    this.#session.close()
  }
}
