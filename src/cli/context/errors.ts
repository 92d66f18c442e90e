import { isSystemError } from '../../core.ts'
import { type PublicError, StintError, publicError } from '../../public.ts'

export const EXIT = { ok: 0, failure: 1, misuse: 2, defect: 70, interrupted: 130 } as const

/** The command line was not understood: exit 2, and what to type instead. */
export class Misuse extends StintError {
  override readonly name = 'Misuse'
  constructor(message: string, hint?: string) {
    super('MISUSE', message, hint)
  }
}

/** What the library refuses because of what was given, or because nothing was where something has to be. */
const GIVEN_WRONG: ReadonlySet<string> = new Set([
  'EMPTY_TEXT',
  'NEEDS_NAME',
  'BUDGET_OUT_OF_RANGE',
  'SCRIPT_INVALID',
])

export function exitCodeFor(error: unknown): number {
  if (error instanceof Misuse) return EXIT.misuse
  if (error instanceof StintError && error.code === 'INTERRUPTED') return EXIT.interrupted
  if (error instanceof StintError && GIVEN_WRONG.has(error.code)) return EXIT.misuse
  return error instanceof StintError || isSystemError(error) ? EXIT.failure : EXIT.defect
}

/** An error in words: what happened and what to do next. Only a defect shows its stack. */
export function describeError(error: unknown): string {
  if (error instanceof StintError)
    return error.hint === undefined
      ? `stint: ${error.message}`
      : `stint: ${error.message}\n  ${error.hint}`
  if (isSystemError(error)) return `stint: ${(error as Error).message}`
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return `stint: this is a defect in stint, nothing recorded was lost\n${stack}`
}

export function errorJson(error: unknown): { readonly error: PublicError } {
  return { error: publicError(error) }
}
