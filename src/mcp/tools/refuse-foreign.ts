import type { Project } from '../../core.ts'
import { StintError } from '../../public/projection.ts'

/** What a stranger recorded does not reach a model before the user agreed, not even on request. */
export function refuseForeign(
  { trust }: Project,
  { id, name }: { readonly id: string; readonly name: string },
): void {
  if (trust.refuses(id)) throw fromElsewhere('FOREIGN_JOURNAL', name)
}

export function fromElsewhere(code: 'FOREIGN_JOURNAL' | 'NEEDS_CONSENT', name: string): StintError {
  return new StintError(
    code,
    `${name} was not written on this machine, so it is not shown to a model`,
    'ask the user to run stint trust, which shows it and asks',
  )
}
