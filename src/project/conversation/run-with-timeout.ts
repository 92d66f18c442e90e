import { Script } from 'node:vm'
import { StintError } from '../../journal/errors.ts'

export class PatternTimeout extends StintError {
  override readonly name = 'PatternTimeout'
  constructor(cause: unknown) {
    const hint =
      'make it simpler: a repetition within a repetition tries every way to divide a text'
    super(
      'TOOK_TOO_LONG',
      `a pattern of redact.patterns in config.yaml takes too long, so nothing was recorded; ${hint}`,
      hint,
      { cause },
    )
  }
}

const WORK_KEY = '__stintWork'
let script: Script | undefined

/**
 * V8 interrupts a script even within a regular expression. Interrupted work runs no `finally`, so
 * nothing may be written or locked within.
 */
export function runWithTimeout<T>(work: () => T, ms: number): T {
  script ??= new Script(`globalThis.${WORK_KEY}()`)
  const globals = globalThis as { [WORK_KEY]?: () => unknown }
  globals[WORK_KEY] = work
  try {
    return script.runInThisContext({ timeout: ms }) as T
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      throw new PatternTimeout(error)
    throw error
  } finally {
    delete globals[WORK_KEY]
  }
}
