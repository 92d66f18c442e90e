/** Chance that comes out the same for the same seed (mulberry32). */
export class Chance {
  #state: number

  constructor(seed: number) {
    // Neighbouring seeds are to have nothing in common.
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0
  }

  /** From 0 to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let bits = this.#state
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }
}
