// How figures of the study are written, alike on the terminal, on the page and in the docs.
// The sentences that stand beside the tables, wherever these are shown.
import type { Arm, ArmName, Study } from './contract.ts'
import { VERDICTS } from './ratio.ts'

export const ARM_WORDS: Readonly<Record<ArmName, string>> = {
  none: 'none',
  'session-json': 'session.json',
  'enhanced-log': 'enhanced log',
  'plan-once': 'plan once',
  stint: 'stint',
}

/** `3,184`, `13.8`. */
export function amount(value: number, digits = 0): string {
  return value.toLocaleString('en-GB', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
}

/** `87.9 %`. */
export function percent(share: number, digits = 1): string {
  return `${amount(share * 100, digits)} %`
}

/** `+134.5 %`, `−3.0 %`, `0 %`: with a sign, and without the minus of a zero that was rounded. */
export function signedPercent(share: number, digits = 1): string {
  return signed(share * 100, (value) => `${amount(value, digits)} %`)
}

export function signed(value: number, write: (value: number) => string): string {
  const text = write(Math.abs(value))
  if (!/[1-9]/.test(text)) return text
  return `${value < 0 ? '−' : '+'}${text}`
}

/** `318M`. */
export function millions(value: number): string {
  return value >= 9_950_000 ? `${amount(value / 1e6)}M` : `${amount(value / 1e6, 1)}M`
}

/** A ratio to one: `129.4`. Above a thousand its digits say nothing. */
export function ratioWords(value: number): string {
  return amount(value, value >= 1000 ? 0 : 1)
}

/** What was drawn at the bound of a rate is at most that. */
export function atMost({ basis }: Pick<Arm, 'basis'>, text: string): string {
  return basis === 'measured' ? `≤ ${text}` : text
}

export function atLeast({ basis }: Pick<Arm, 'basis'>, text: string): string {
  return basis === 'measured' ? `≥ ${text}` : text
}

export const ratioFormWords =
  'First form: every change of success is a cost. Second form, which the study gave to plan once: a gain is a benefit.'

export const verdictWords = `Its verdicts: ${VERDICTS.map(({ above, verdict }) =>
  above === -Infinity ? `else ${verdict}` : `above ${above} ${verdict}`,
).join(', ')}.`

/** Where the figures of Stint come from. */
export function measurementWords({
  measurement: { at, version, machine },
  measured,
}: Study): readonly string[] {
  const where =
    measured === 'here'
      ? 'on this machine'
      : 'and shipped with it; stint simulate --measure does it on this machine'
  return [
    `Measured on ${at.slice(0, 10)} with Stint ${version}, ${machine}, ${where}.`,
    'What never happened in N trials is at most 3/N; what did is bounded exactly (Clopper and Pearson), both with 95 % confidence.',
    'Of session.json: the same trials of one that is read, changed and written back in place, so that it is seen that they find what they look for.',
    'Tokens and writes of Stint are those of a session that two fresh conversations went on with.',
    'Each command of Stint that the agent ran is an API call. Cognitive load was not measured, and is taken for that of none.',
  ]
}
