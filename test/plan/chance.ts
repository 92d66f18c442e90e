import { Chance as Drawn } from '../../bench/measure/trials.ts'

/** A seeded random generator with the distributions that generated backlogs need. */
export class Chance extends Drawn {
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  one<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!
  }

  /** One of the names, by weight. */
  of<K extends string>(shares: Readonly<Record<K, number>>): K {
    let left = this.next()
    const names = Object.keys(shares) as K[]
    return names.find((name) => (left -= shares[name]) < 0) ?? names.at(-1)!
  }

  /** Normally distributed (Box-Muller). */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next())
  }
}
