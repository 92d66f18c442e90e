import { Script } from 'node:vm'
import { StintError } from '../../journal/errors.ts'

export class PatternTimeout extends StintError {
  override readonly name = 'TookTooLong'
  constructor(cause: unknown) {
    const hint =
      'make it simpler: a repetition within a repetition tries every way to divide a text'
    super(
      'TOOK_TOO_LONG',
      `a pattern of redact.patterns in config.yaml takes too long, so nothing was recorded; ${hint}`,
      hint,
      {
        cause,
      },
    )
  }
}

const PLACE = '__stintWork'
let caller: Script | undefined

/**
 * V8 interrupts a script even within a regular expression. Interrupted work runs no `finally`, so
 * nothing may be written or locked within.
 */
export function runWithTimeout<T>(work: () => T, ms: number): T {
  caller ??= new Script(`globalThis.${PLACE}()`)
  const around = globalThis as { [PLACE]?: () => unknown }
  around[PLACE] = work
  try {
    return caller.runInThisContext({ timeout: ms }) as T
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      throw new PatternTimeout(error)
    throw error
  } finally {
    delete around[PLACE]
  }
}
