import { PatternTimeout, runWithTimeout } from '../conversation/run-with-timeout.ts'
import { withoutSecrets } from './clean-draft.ts'
import type { Config } from '../config/config.ts'
import { shorten } from '../../text/clean.ts'

export const LONGEST_MESSAGE = 4000
export const LONGEST_RESULT = 800

/** Longer than any secret: half a secret is not recognised. */
const SECRET_MARGIN = 4096
const REDACT_TIMEOUT_MS = 100
const TIMED_OUT_TEXT = '[left out: a pattern in config.yaml took too long for it]'

/** Redacts first: half a secret is not recognised. */
export function redactAndClip(text: string, max: number, config: Config): string {
  return shorten(redactInTime(text.slice(0, max + SECRET_MARGIN), config), max)
}

/**
 * Text on which the user's patterns time out is left out: it may contain what they should redact.
 */
export function redactInTime(text: string, config: Config): string {
  if (config.redact.patterns.length === 0) return withoutSecrets(text, config)
  try {
    return runWithTimeout(() => withoutSecrets(text, config), REDACT_TIMEOUT_MS)
  } catch (error) {
    if (!(error instanceof PatternTimeout)) throw error
    return TIMED_OUT_TEXT
  }
}
