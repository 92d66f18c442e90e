// How a tool is defined: its arguments in a subset of JSON Schema, and its result.
import type { Project } from '../../core.ts'
import { StintError } from '../../public/projection.ts'

/** The result as data, which most harnesses show to the model, and as text. Undefined fields are left out. */
export interface McpToolResult {
  readonly value: Readonly<Record<string, unknown>>
  readonly text: string
}

export interface McpToolCall {
  readonly project: Project
  /** Aborted when the client cancels the call. */
  readonly signal: AbortSignal
}

export interface McpTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: ObjectSchema
  /** `spends` marks tools for which a user may want to be asked first. */
  readonly effect: 'reads' | 'records' | 'spends'
  run(call: McpToolCall, args: never): Promise<McpToolResult>
}

export interface ObjectSchema {
  readonly type: 'object'
  readonly properties: Properties
  readonly required?: readonly string[]
  /** The schema of other properties; none are allowed without it. */
  readonly additionalProperties?: ValueSchema
}

type Properties = Readonly<Record<string, ValueSchema>>

type ValueSchema = (
  | { readonly type: 'string'; readonly enum?: readonly string[] }
  | { readonly type: 'boolean' | 'integer' }
  | { readonly type: 'array'; readonly items: ValueSchema }
  | ObjectSchema
) & { readonly description?: string }

type ValueOf<V> = V extends { enum: readonly (infer E)[] }
  ? E
  : V extends { type: 'string' }
    ? string
    : V extends { type: 'boolean' }
      ? boolean
      : V extends { type: 'integer' }
        ? number
        : V extends { items: infer I }
          ? readonly ValueOf<I>[]
          : Readonly<Record<string, string>>

export type McpToolArguments<P, R = never> = {
  readonly [K in keyof P as K extends R ? K : never]: ValueOf<P[K]>
} & { readonly [K in keyof P as K extends R ? never : K]?: ValueOf<P[K]> }

export const stringSchema = { type: 'string' } as const

/** Derives the argument types of `run` from the schema. */
export function defineTool<const P extends Properties, const R extends keyof P & string = never>({
  properties,
  required,
  ...rest
}: Omit<McpTool, 'inputSchema' | 'run'> & {
  readonly properties: P
  readonly required?: readonly R[]
  run(call: McpToolCall, args: McpToolArguments<P, R>): Promise<McpToolResult>
}): McpTool {
  return { ...rest, inputSchema: { type: 'object', properties, ...(required && { required }) } }
}

export function badArguments(message: string, hint: string): StintError {
  return new StintError('BAD_ARGUMENTS', message, hint)
}

/** Unknown arguments are refused: ignoring a misspelt name would look like success. */
export function checkArguments(tool: string, schema: ObjectSchema, args: unknown): object {
  const value = args ?? {}
  checkObject(tool, schema, value)
  return value
}

function checkObject(path: string, schema: ObjectSchema, value: unknown): asserts value is object {
  const { properties, required = [], additionalProperties: others } = schema
  const names = Object.keys(properties)
    .map((name) => (required.includes(name) ? `${name} (needed)` : name))
    .join(', ')
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badArguments(`${path} is ${typeName(value)} and has to be an object`, `give ${names}`)
  const schemaOf = (name: string) => (Object.hasOwn(properties, name) ? properties[name] : others)
  const fields = value as Readonly<Record<string, unknown>>
  const unknown = Object.keys(fields).find((name) => schemaOf(name) === undefined)
  if (unknown !== undefined)
    throw badArguments(`${path} has no ${JSON.stringify(unknown)}`, `it takes ${names}`)
  const missing = required.find((name) => fields[name] === undefined)
  if (missing !== undefined) throw badArguments(`${path} needs ${missing}`, `it takes ${names}`)
  for (const [name, field] of Object.entries(fields))
    if (field !== undefined) checkValue(`${path}.${name}`, schemaOf(name)!, field)
}

const TYPE_NAMES = {
  string: 'a text',
  boolean: 'true or false',
  integer: 'a whole number',
} as const

function checkValue(path: string, schema: ValueSchema, value: unknown): void {
  if (schema.type === 'object') return checkObject(path, schema, value)
  if (schema.type === 'array') {
    if (!Array.isArray(value))
      throw badArguments(`${path} is ${typeName(value)} and has to be a list`, 'give […]')
    for (const [index, item] of value.entries()) checkValue(`${path}[${index}]`, schema.items, item)
    return
  }
  const isValid =
    schema.type === 'integer'
      ? Number.isInteger(value) && (value as number) >= 0
      : typeof value === schema.type
  if (!isValid) {
    throw badArguments(
      `${path} is ${typeName(value)} and has to be ${TYPE_NAMES[schema.type]}`,
      schema.description ?? `give ${TYPE_NAMES[schema.type]}`,
    )
  }
  const { enum: allowed } = schema as { enum?: readonly unknown[] }
  if (allowed === undefined || allowed.includes(value)) return
  throw badArguments(
    `${path} cannot be ${JSON.stringify(value)}`,
    `it is one of ${allowed.join(', ')}`,
  )
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  const kind = typeof value
  return kind === 'string' ? 'a text' : kind === 'object' ? 'an object' : `a ${kind}`
}
