import { Script } from 'node:vm'
import { StintError } from '../journal/errors.ts'
import { withoutSecrets } from '../project/store/clean-draft.ts'
import type { Config } from '../project/config/config.ts'
import { shorten } from '../text/clean.ts'

/** How much is kept of an agent's last message of a turn, and of a delegated agent's result. */
export const LONGEST_MESSAGE = 1200
export const LONGEST_RESULT = 800

/** As long as any secret: one that is cut in two is not known by its parts. */
const MARGIN = 4096
const PATIENCE_MS = 100
const LEFT_OUT = '[left out: a pattern in config.yaml took too long for it]'

/** The beginning of a text, without secrets. They are taken out first, and then the rest is cut. */
export function clip(text: string, max: number, config: Config): string {
  return shorten(secretless(text.slice(0, max + MARGIN), config), max)
}

/** A text without secrets. What the person's own patterns do not get through in time is left out: it may be what they are for. */
export function secretless(text: string, config: Config): string {
  if (config.redact.patterns.length === 0) return withoutSecrets(text, config)
  try {
    return withinTime(() => withoutSecrets(text, config), PATIENCE_MS)
  } catch (error) {
    if (!(error instanceof TookTooLong)) throw error
    return LEFT_OUT
  }
}

/** Work was ended because it took too long. */
export class TookTooLong extends StintError {
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
 * Does what patterns of the user's take part in, and throws `TookTooLong` when they do not end: V8 interrupts a script,
 * even within a regular expression, and nothing else does. Whatever is interrupted runs no `finally`, so that
 * nothing may be written or locked within.
 */
export function withinTime<T>(work: () => T, ms: number): T {
  caller ??= new Script(`globalThis.${PLACE}()`)
  const around = globalThis as { [PLACE]?: () => unknown }
  around[PLACE] = work
  try {
    return caller.runInThisContext({ timeout: ms }) as T
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      throw new TookTooLong(error)
    throw error
  } finally {
    delete around[PLACE]
  }
}
