// Which settings can cause an effect. A configuration may come with a clone, so these are left out
// until the user has agreed to their values on this machine.
import { createHash } from 'node:crypto'
import type { Consent } from './consent.ts'

/** Settings that only change display, budgets or reminders. Any other setting, also a new one, needs consent. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'auto',
  'nudges',
  'budget',
  'prices',
  // Can only remove text, and leaving it out would store what a user wants redacted.
  'redact.patterns',
  'checkpoint.max_file_mb',
  'run.on_failure',
  'run.on_limit',
  'run.batch',
  'run.silence_minutes',
  'run.task_minutes',
  'run.verify_minutes',
  'run.idle_turns',
  'run.small_up_to',
  'run.large_from',
  'run.batch_places',
  'run.batch_small',
  'run.batch_medium',
  'run.batch_leave_above',
  'delegates.most',
  'delegates.send_back',
])

export type EffectValues = Readonly<Record<string, unknown>>

/** The settings of a parsed config.yaml that need consent, by key. */
export function effectValues(settings: unknown): EffectValues {
  return Object.fromEntries(
    entriesOf(settings).flatMap(([name, value]) =>
      WITHOUT_EFFECT.has(name) ? [] : effectsIn(name, value),
    ),
  )
}

function effectsIn(name: string, value: unknown): readonly (readonly [string, unknown])[] {
  if (!isSection(value)) return value === null ? [] : [[name, value]]
  return entriesOf(value)
    .map(([key, item]) => [`${name}.${key}`, item] as const)
    .filter(([key, item]) => item !== null && !WITHOUT_EFFECT.has(key))
}

/** The settings without those that can cause an effect in the sections of `keys`: half a section may be invalid. */
export function withoutSections(settings: unknown, keys: readonly string[]): unknown {
  const sectionOf = (key: string) => key.split('.', 1)[0]
  const sections = new Set(keys.map(sectionOf))
  const left = new Set(
    Object.keys(effectValues(settings)).filter((key) => sections.has(sectionOf(key))),
  )
  return Object.fromEntries(
    entriesOf(settings)
      .filter(([name]) => !left.has(name))
      .map(([name, value]) => [
        name,
        isSection(value)
          ? Object.fromEntries(entriesOf(value).filter(([key]) => !left.has(`${name}.${key}`)))
          : value,
      ]),
  )
}

/** Keys whose values the user has not agreed to. */
export function notAgreed(values: EffectValues, consent: Consent | undefined): readonly string[] {
  return Object.keys(values).filter((key) => consent?.values[key] !== hashOf(values[key]))
}

export function hashOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex')
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    isSection(item)
      ? Object.fromEntries(entriesOf(item).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  )
}

function isSection(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function entriesOf(value: unknown): [string, unknown][] {
  return isSection(value) ? Object.entries(value) : []
}
