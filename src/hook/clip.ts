import { PatternTimeout, runWithTimeout } from '../project/conversation/run-with-timeout.ts'
import { withoutSecrets } from '../project/store/clean-draft.ts'
import type { Config } from '../project/config/config.ts'
import { shorten } from '../text/clean.ts'

export const LONGEST_MESSAGE = 1200
export const LONGEST_RESULT = 800

/** Longer than any secret, because half of one is not recognised. */
const MARGIN = 4096
const PATIENCE_MS = 100
const LEFT_OUT = '[left out: a pattern in config.yaml took too long for it]'

/** Redacts before it cuts. */
export function redactAndClip(text: string, max: number, config: Config): string {
  return shorten(redactInTime(text.slice(0, max + MARGIN), config), max)
}

/** Text that the user's patterns do not get through in time is left out: it may be what they are for. */
export function redactInTime(text: string, config: Config): string {
  if (config.redact.patterns.length === 0) return withoutSecrets(text, config)
  try {
    return runWithTimeout(() => withoutSecrets(text, config), PATIENCE_MS)
  } catch (error) {
    if (!(error instanceof PatternTimeout)) throw error
    return LEFT_OUT
  }
}
