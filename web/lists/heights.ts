/**
 * The heights of a list's rows, most of them estimated. Rows are numbered from `first` and keep their numbers when others are prepended.
 * Sums are stored in a Fenwick tree, so that finding a position among a hundred thousand rows takes a few steps.
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

  /** Sets the current rows. */
  cover(first: number, count: number): void {
    if (first === this.#first && count === this.#count) return
    this.#first = first
    this.#count = count
    const tree = new Float64Array(count + 1)
    for (let position = 1; position <= count; position += 1) {
      tree[position] = tree[position]! + this.heightOf(first + position - 1)
      const parent = position + (position & -position)
      if (parent <= count) tree[parent] = tree[parent]! + tree[position]!
    }
    this.#tree = tree
  }

  /** The numbers belong to other rows now, so all measurements are dropped. */
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
    const position = number - this.#first + 1
    if (Math.abs(change) < 0.5 || position < 1 || position > this.#count) return false
    this.#measured.set(number, height)
    for (let at = position; at <= this.#count; at += at & -at)
      this.#tree[at] = this.#tree[at]! + change
    return true
  }

  topOf(number: number): number {
    return this.#sum(Math.max(0, Math.min(number - this.#first, this.#count)))
  }

  rowAt(top: number): number {
    let position = 0
    let rest = top
    for (let step = 2 ** Math.floor(Math.log2(Math.max(this.#count, 1))); step >= 1; step /= 2) {
      const next = position + step
      if (next <= this.#count && this.#tree[next]! <= rest) {
        position = next
        rest -= this.#tree[next]!
      }
    }
    return this.#first + Math.max(0, Math.min(position, this.#count - 1))
  }

  #sum(count: number): number {
    let sum = 0
    for (let at = count; at > 0; at -= at & -at) sum += this.#tree[at]!
    return sum
  }
}
