import { type RawEntry, inEffect } from '../session/in-effect.ts'
import { countOf, objectOf } from '../text/json-fields.ts'
import {
  type Amounts,
  type ByDay,
  NOTHING,
  Sums,
  add,
  dayOf,
  saving,
  tokensGiven,
  tokensIn,
  tokensSaved,
} from './amounts.ts'

export interface Joined {
  readonly id: string
  readonly at: string
  /** Characters of the session that were injected. */
  readonly given: number
  /** Tokens saved by how that was injected. */
  readonly saved: number
}

export interface JournalAmounts {
  readonly days: ByDay
  readonly conversations: readonly Joined[]
}

/** Agent programs cut command output at this length, so more was never avoided. */
const MOST_OF_OUTPUT = 30_000

export function journalAmounts(entries: readonly RawEntry[]): JournalAmounts {
  const sums = new Sums()
  const noticed = new Map<string, Noticed>()
  const conversations = new Map<string, Joined>()
  for (const entry of inEffect(entries)) {
    const { at, by, data, kind } = entry
    const day = dayOf(at)
    const ofDay = noticed.get(day) ?? { entries: 0, given: 0, givenChars: 0, ran: NOTHING }
    if (by === 'hook') ofDay.entries += 1
    else sums.add(day, { writes: 1 })
    const conversation = data.conversation as string
    if (
      kind === 'conversation.joined' &&
      typeof conversation === 'string' &&
      !conversations.has(conversation)
    )
      conversations.set(conversation, { id: conversation, at, given: 0, saved: 0 })
    if (kind === 'context.given') {
      const chars = countOf(data.chars) ?? 0
      if (by === 'hook') {
        ofDay.given += 1
        ofDay.givenChars += chars
      } else
        sums.add(day, {
          injections: 1,
          injectedChars: chars,
          injectedTokens: tokensGiven(chars),
        })
      const known = conversations.get(String(conversation))
      const saved = savedByContext(data, chars)
      if (known !== undefined)
        conversations.set(known.id, {
          ...known,
          given: known.given + chars,
          saved: known.saved + tokensIn(saved),
        })
      sums.add(day, saved)
    } else if (kind === 'output.kept') {
      const [bytes, shown] = [countOf(data.bytes), countOf(data.shown)]
      if (bytes !== undefined && shown !== undefined)
        sums.add(day, saving('digest', tokensSaved(Math.min(bytes, MOST_OF_OUTPUT), shown)))
    } else if (kind === 'hooks.ran') ofDay.ran = add(ofDay.ran, costsIn(data))
    noticed.set(day, ofDay)
  }
  for (const [day, ofDay] of noticed) sums.add(day, ofHooks(ofDay))
  return { days: sums.byDay, conversations: [...conversations.values()] }
}

interface Noticed {
  entries: number
  given: number
  givenChars: number
  ran: Amounts
}

/** Injections are also recorded on their own; older journals have only those. */
function ofHooks({ entries, given, givenChars, ran }: Noticed) {
  const injectedChars = Math.max(givenChars, ran.injectedChars)
  return {
    ...ran,
    injections: Math.max(given, ran.injections),
    injectedChars,
    injectedTokens: tokensGiven(injectedChars),
    writes: Math.max(entries, ran.writes),
  }
}

type Data = Readonly<Record<string, unknown>>

/** Against the whole document. TOON savings are a part of that, so they count as one or the other. */
function savedByContext(data: Data, chars: number) {
  const whole = countOf(data.whole)
  const toon = objectOf(data.toon)
  const [told, json] = [countOf(toon?.['chars']), countOf(toon?.['json'])]
  const byToon = told === undefined || json === undefined ? undefined : tokensSaved(json, told)
  const pointers =
    whole === undefined ? {} : saving('pointers', tokensSaved(whole, chars) - (byToon ?? 0)).saved
  return { saved: { ...(byToon === undefined ? {} : saving('toon', byToon).saved), ...pointers } }
}

export function costsIn(data: { readonly events?: unknown; readonly writes?: unknown }): Amounts {
  const events = Object.values(objectOf(data.events) ?? {}).map((event) => objectOf(event) ?? {})
  const sum = (name: string) =>
    events.reduce((total, event) => total + (countOf(event[name]) ?? 0), 0)
  const injectedChars = sum('chars')
  return {
    injections: sum('gave'),
    injectedChars,
    injectedTokens: tokensGiven(injectedChars),
    hooks: sum('times'),
    hookMs: sum('ms'),
    writes: countOf(data.writes) ?? 0,
    saved: {},
  }
}
