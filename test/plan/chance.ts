/** Chance that comes out the same for the same seed. */
export class Chance {
  #state: number

  constructor(seed: number) {
    // Neighbouring seeds are to have nothing in common.
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0
  }

  /** From 0 to 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let bits = this.#state
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  one<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!
  }

  /** One of the names, each with its share. */
  of<K extends string>(shares: Readonly<Record<K, number>>): K {
    let left = this.next()
    const names = Object.keys(shares) as K[]
    return names.find((name) => (left -= shares[name]) < 0) ?? names.at(-1)!
  }

  /** Of the normal distribution (Box and Muller). */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next())
  }
}
