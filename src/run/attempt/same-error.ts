import type { HarnessEvent } from '../../harness/contract/drive.ts'

const TIMES = 3
const LONGEST = 400

/** Notices an agent that does the same thing again and again and gets the same error, while nothing in the tree changes. */
export class SameError {
  readonly #fingerprint: () => string
  #last = ''
  #times = 0

  constructor(fingerprint: () => string) {
    this.#fingerprint = fingerprint
  }

  /** Answers what happened when it happened once too often. */
  saw(event: Extract<HarnessEvent, { type: 'tool' }>): string | undefined {
    if (event.status !== 'failed') return undefined
    // After a change the same error may have another cause, whichever way it was changed.
    const sign = [
      event.name,
      event.command ?? event.path ?? '',
      signOf(event.output ?? ''),
      this.#fingerprint(),
    ].join('\n')
    this.#times = sign === this.#last ? this.#times + 1 : 1
    this.#last = sign
    if (this.#times < TIMES) return undefined
    this.#times = 0
    return `${event.command ?? event.path ?? event.name} failed ${TIMES} times in the same way`
  }
}

// Times, durations and addresses differ between two runs of the same failure.
function signOf(output: string): string {
  return output
    .slice(-LONGEST)
    .replaceAll(/0x[0-9a-f]+|\d+(?:[.,:]\d+)*/gi, '#')
    .trim()
}
