import {
  type Document,
  type DocumentOptions,
  type ParseOptions,
  type SchemaOptions,
  parseDocument,
} from 'yaml'

interface YamlMistake {
  readonly offset: number
  readonly message: string
}

export type ParsedYaml =
  | { readonly isValid: true; readonly document: Document.Parsed; readonly value: unknown }
  | {
      readonly isValid: false
      readonly mistakes: readonly [YamlMistake, ...YamlMistake[]]
      /** It may be valid, and is more than is read. */
      readonly isBeyondLimits: boolean
    }

type YamlOptions = ParseOptions &
  DocumentOptions &
  SchemaOptions & { readonly maxLength?: number; readonly mapAsMap?: boolean }

/** The parser compares each key of a map with all before it, so that time grows with the square of the length. */
const MAX_LENGTH = 64 * 1024

/** Never throws. What a repository brings may nest deeper than the stack, and its aliases may unfold without end. */
export function parseYaml(
  text: string,
  { maxLength = MAX_LENGTH, mapAsMap = false, ...options }: YamlOptions = {},
): ParsedYaml {
  if (text.length > maxLength)
    return beyondLimits(`it has more than ${maxLength / 1024} KB, which is more than is read`)
  try {
    const document = parseDocument(text, { logLevel: 'silent', ...options })
    const [first, ...rest] = document.errors.map(({ pos: [offset], message }) => ({
      offset,
      message,
    }))
    // The parser reports the end of the stack as a mistake.
    if (first?.message.startsWith('Maximum call stack') === true) return beyondLimits(TOO_DEEP)
    if (first !== undefined)
      return { isValid: false, mistakes: [first, ...rest], isBeyondLimits: false }
    return { isValid: true, document, value: document.toJS({ mapAsMap }) }
  } catch (error) {
    // Anything else is a defect.
    if (error instanceof RangeError) return beyondLimits(TOO_DEEP)
    if (error instanceof ReferenceError) return beyondLimits('it refers to itself too often')
    throw error
  }
}

const TOO_DEEP = 'it is nested too deep'

function beyondLimits(message: string): ParsedYaml {
  return { isValid: false, mistakes: [{ offset: 0, message }], isBeyondLimits: true }
}

/** The first mistake, in one line. */
export function yamlMistake({ mistakes: [{ message }] }: ParsedYaml & { isValid: false }): string {
  return message.split('\n')[0]!
}
