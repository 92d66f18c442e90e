import { defined } from '../text/defined.ts'

/** What a hook answers the harness. */
export interface Answer {
  /** One line for the person. */
  readonly person?: string
  /** Put before the model. */
  readonly model?: string
  /** Given to the summariser, which takes nothing but plain text. */
  readonly plain?: string
}

/** How many characters of it the model reads. */
export function charactersForModel({ model, plain }: Answer): number {
  return (model?.length ?? 0) + (plain?.length ?? 0)
}

/** The answer as Claude Code reads it from standard output. */
export function printed(event: string, { person, model, plain }: Answer): string {
  if (plain !== undefined) return plain
  if (person === undefined && model === undefined) return ''
  return JSON.stringify({
    ...defined({ systemMessage: person }),
    ...(model === undefined
      ? {}
      : { hookSpecificOutput: { hookEventName: event, additionalContext: model } }),
  })
}
