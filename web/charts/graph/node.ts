/** A task, or the place where a long line passes a layer. */
export interface Node {
  readonly id: string
  readonly isTask: boolean
  layer: number
  before: Node[]
  behind: Node[]
  /** The middle, from above. */
  middle: number
}
