// The generator of the study: MT19937, seeded and read like Python's `random`, so that the same seed draws exactly the same sessions.

const SIZE = 624
const SHIFT = 397
const UPPER = 0x80000000
const LOWER = 0x7fffffff
const TWIST = 0x9908b0df
const WORD = 2 ** 32

export class MersenneTwister {
  readonly #state = new Uint32Array(SIZE)
  #next = SIZE

  /** Any safe integer from 0 on. */
  constructor(seed: number) {
    this.#seedBy(seed < WORD ? [seed] : [seed % WORD, Math.floor(seed / WORD)])
  }

  /** From 0 up to but excluding 1, in steps of 2^-53. */
  random(): number {
    const high = this.#word() >>> 5
    const low = this.#word() >>> 6
    return (high * 67108864 + low) / 9007199254740992
  }

  uniform(from: number, to: number): number {
    return from + (to - from) * this.random()
  }

  /** Chooses an index by weights, given as their running sums. */
  choose(sums: readonly number[]): number {
    const last = sums.length - 1
    const wanted = this.random() * sums[last]!
    let chosen = 0
    while (chosen < last && sums[chosen]! <= wanted) chosen += 1
    return chosen
  }

  /** A whole number, both ends included. Python redraws values out of range, so the number of words used varies. */
  between(from: number, to: number): number {
    const width = to - from + 1
    const shift = Math.clz32(width)
    for (;;) {
      const drawn = this.#word() >>> shift
      if (drawn < width) return from + drawn
    }
  }

  #word(): number {
    if (this.#next === SIZE) this.#twist()
    let word = this.#state[this.#next++]!
    word ^= word >>> 11
    word ^= (word << 7) & 0x9d2c5680
    word ^= (word << 15) & 0xefc60000
    return (word ^ (word >>> 18)) >>> 0
  }

  #twist(): void {
    const state = this.#state
    for (let at = 0; at < SIZE; at += 1) {
      const joined = (state[at]! & UPPER) | (state[(at + 1) % SIZE]! & LOWER)
      state[at] = state[(at + SHIFT) % SIZE]! ^ (joined >>> 1) ^ ((joined & 1) === 0 ? 0 : TWIST)
    }
    this.#next = 0
  }

  #seedBy(words: readonly number[]): void {
    const state = this.#state
    state[0] = 19650218
    for (let at = 1; at < SIZE; at += 1)
      state[at] = Math.imul(1812433253, mixed(state[at - 1]!)) + at
    let at = 1
    const stepOn = () => {
      at += 1
      if (at < SIZE) return
      state[0] = state[SIZE - 1]!
      at = 1
    }
    for (let round = 0; round < SIZE; round += 1, stepOn()) {
      const used = round % words.length
      state[at] = (state[at]! ^ Math.imul(mixed(state[at - 1]!), 1664525)) + words[used]! + used
    }
    for (let round = 1; round < SIZE; round += 1, stepOn()) {
      state[at] = (state[at]! ^ Math.imul(mixed(state[at - 1]!), 1566083941)) - at
    }
    state[0] = UPPER
  }
}

function mixed(word: number) {
  return word ^ (word >>> 30)
}
