/**
 * The heights of a list's rows, most of them estimated. Rows have numbers from `first` on, and keep them when others are put in front.
 * Sums are kept in a Fenwick tree, so that finding a place among a hundred thousand rows is a few steps.
 */
export class Heights {
  readonly #estimate: number
  readonly #measured = new Map<number, number>()
  #first = 0
  #count = 0
  #tree = new Float64Array(1)

  constructor(estimate: number) {
    this.#estimate = estimate
  }

  get first(): number {
    return this.#first
  }

  get count(): number {
    return this.#count
  }

  get total(): number {
    return this.#sum(this.#count)
  }

  /** The rows there are now. */
  cover(first: number, count: number): void {
    if (first === this.#first && count === this.#count) return
    this.#first = first
    this.#count = count
    const tree = new Float64Array(count + 1)
    for (let place = 1; place <= count; place += 1) {
      tree[place] = tree[place]! + this.heightOf(first + place - 1)
      const parent = place + (place & -place)
      if (parent <= count) tree[parent] = tree[parent]! + tree[place]!
    }
    this.#tree = tree
  }

  /** Other rows stand under the same numbers: what was measured is void. */
  forget(): void {
    this.#measured.clear()
    const { first, count } = this
    this.#count = -1
    this.cover(first, count)
  }

  heightOf(number: number): number {
    return this.#measured.get(number) ?? this.#estimate
  }

  measure(number: number, height: number): boolean {
    const change = height - this.heightOf(number)
    const place = number - this.#first + 1
    if (Math.abs(change) < 0.5 || place < 1 || place > this.#count) return false
    this.#measured.set(number, height)
    for (let at = place; at <= this.#count; at += at & -at)
      this.#tree[at] = this.#tree[at]! + change
    return true
  }

  topOf(number: number): number {
    return this.#sum(Math.max(0, Math.min(number - this.#first, this.#count)))
  }

  /** The row that stands at this height. */
  rowAt(top: number): number {
    let place = 0
    let rest = top
    for (let step = 2 ** Math.floor(Math.log2(Math.max(this.#count, 1))); step >= 1; step /= 2) {
      const next = place + step
      if (next <= this.#count && this.#tree[next]! <= rest) {
        place = next
        rest -= this.#tree[next]!
      }
    }
    return this.#first + Math.max(0, Math.min(place, this.#count - 1))
  }

  #sum(count: number): number {
    let sum = 0
    for (let at = count; at > 0; at -= at & -at) sum += this.#tree[at]!
    return sum
  }
}
