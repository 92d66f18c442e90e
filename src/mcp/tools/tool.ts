import type { Project } from '../../library.ts'
import type { Arguments, ObjectSchema } from './schema.ts'

/** What a tool answers: the same as data, which most harnesses show to the model, and in words. */
export interface Answer {
  readonly value: Readonly<Record<string, unknown>>
  readonly text: string
}

/** What a call of a tool works with. */
export interface Call {
  readonly project: Project
  /** Ends when the caller does not want the answer any more. */
  readonly signal: AbortSignal
}

export interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: ObjectSchema
  /** What it does to the world: `spends` is for what a person may want to be asked about first. */
  readonly effect: 'reads' | 'records' | 'spends'
  run(call: Call, args: Arguments): Promise<Answer>
}
