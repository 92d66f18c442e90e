import { toonIn } from '../context/toon-told.ts'
import { statOrUndefined } from '../journal/look.ts'
import type { LiveSession } from '../project/store/live-session.ts'
import type { EntryData } from '../session/entries.ts'
import type { SessionState } from '../session/state.ts'
import { defined } from '../text/defined.ts'

/** What it would have taken to give the whole document in place of a context, and JSON in place of its tables. */
export type ToldInstead = Pick<EntryData['context.given'], 'whole' | 'toon'>

export function toldInstead(text: string, session: LiveSession, state: SessionState): ToldInstead {
  const whole = statOrUndefined(session.documentPath(state))?.size
  const toon = toonIn(text)
  return { ...defined({ whole, toon }) }
}
