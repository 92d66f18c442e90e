// The sentences that stand beside the tables, wherever these are shown.
import type { Study } from './contract.ts'
import { VERDICTS } from './ratio.ts'

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
