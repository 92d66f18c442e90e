import { defined } from '../text/defined.ts'

/** What a hook answers the harness. */
export interface HookResponse {
  /** One line for the person. */
  readonly person?: string
  /** Injected into the model's context. */
  readonly model?: string
  /** For the summariser, which takes nothing but plain text. */
  readonly plain?: string
}

/** How many characters of it the model reads. */
export function charactersForModel({ model, plain }: HookResponse): number {
  return (model?.length ?? 0) + (plain?.length ?? 0)
}

/** The response as Claude Code reads it from standard output. */
export function printed(event: string, { person, model, plain }: HookResponse): string {
  if (plain !== undefined) return plain
  if (person === undefined && model === undefined) return ''
  return JSON.stringify({
    ...defined({ systemMessage: person }),
    ...(model === undefined
      ? {}
      : { hookSpecificOutput: { hookEventName: event, additionalContext: model } }),
  })
}
