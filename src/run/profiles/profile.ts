/** How a kind of work is to be done: one line that says when, and a body that a conversation gets when a task needs it. */
export interface Profile {
  readonly name: string
  readonly description: string
  /** Labels of tasks that ask for it. */
  readonly labels: readonly string[]
  /** The model it would like to be worked by. */
  readonly model?: string
  readonly body: string
  /** What the body costs a model, at most. */
  readonly tokens: number
  /** The file it was read from, from the root of the repository; absent for one that comes with Stint. */
  readonly file?: string
}
