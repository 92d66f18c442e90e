import type { HarnessEvent } from '../harness/contract.ts'

const TIMES = 3
const LONGEST = 400

/** Notices an agent that does the same thing again and again and gets the same error, with no edit in between. */
export class SameError {
  #last = ''
  #times = 0

  /** Answers what happened when it happened once too often. */
  saw(event: Extract<HarnessEvent, { type: 'tool' }>): string | undefined {
    if (event.status === 'started') return undefined
    if (event.status === 'completed') {
      // Something was changed: the same error may now have another cause.
      if (event.path !== undefined) this.#times = 0
      return undefined
    }
    const sign = `${event.name} ${event.command ?? event.path ?? ''}\n${signOf(event.output ?? '')}`
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
