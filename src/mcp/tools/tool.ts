// How a tool is written: what it is called with, in the part of JSON Schema that is needed, and what it answers.
import type { Project } from '../../library.ts'
import { StintError } from '../../public.ts'

/** What a tool answers: the same as data, which most harnesses show to the model, and in words. Undefined fields are left out. */
export interface McpToolResult {
  readonly value: Readonly<Record<string, unknown>>
  readonly text: string
}

/** What a call of a tool works with. */
export interface McpToolCall {
  readonly project: Project
  /** Ends when the caller does not want the answer any more. */
  readonly signal: AbortSignal
}

export interface McpTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: ObjectSchema
  /** What it does to the world: `spends` is for what a person may want to be asked about first. */
  readonly effect: 'reads' | 'records' | 'spends'
  run(call: McpToolCall, args: never): Promise<McpToolResult>
}

export interface ObjectSchema {
  readonly type: 'object'
  readonly properties: Properties
  readonly required?: readonly string[]
  /** What the others are, when there may be any. */
  readonly additionalProperties?: ValueSchema
}

type Properties = Readonly<Record<string, ValueSchema>>

type ValueSchema = (
  | { readonly type: 'string'; readonly enum?: readonly string[] }
  | { readonly type: 'boolean' | 'integer' }
  | { readonly type: 'array'; readonly items: ValueSchema }
  | ObjectSchema
) & { readonly description?: string }

type Value<V> = V extends { enum: readonly (infer E)[] }
  ? E
  : V extends { type: 'string' }
    ? string
    : V extends { type: 'boolean' }
      ? boolean
      : V extends { type: 'integer' }
        ? number
        : V extends { items: infer I }
          ? readonly Value<I>[]
          : Readonly<Record<string, string>>

/** Arguments that fit their schema. */
export type McpToolArguments<P, R = never> = {
  readonly [K in keyof P as K extends R ? K : never]: Value<P[K]>
} & { readonly [K in keyof P as K extends R ? never : K]?: Value<P[K]> }

export const stringSchema = { type: 'string' } as const

/** A tool whose arguments have the types that its schema says. */
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

class BadArguments extends StintError {
  override readonly name = 'BadArguments'
  constructor(message: string, hint: string) {
    super('BAD_ARGUMENTS', message, hint)
  }
}

/** Refuses what only a person could have meant otherwise. */
export function badArguments(message: string, hint: string): StintError {
  return new BadArguments(message, hint)
}

/** Refuses what the schema does not know: a misspelt name that is passed over looks like success. */
export function checkArguments(tool: string, schema: ObjectSchema, given: unknown): object {
  const value = given ?? {}
  checkObject(tool, schema, value)
  return value
}

function checkObject(where: string, schema: ObjectSchema, value: unknown): asserts value is object {
  const { properties, required = [], additionalProperties: others } = schema
  const names = Object.keys(properties)
    .map((name) => (required.includes(name) ? `${name} (needed)` : name))
    .join(', ')
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BadArguments(`${where} is ${kindOf(value)} and has to be an object`, `give ${names}`)
  const schemaOf = (name: string) => (Object.hasOwn(properties, name) ? properties[name] : others)
  const fields = value as Readonly<Record<string, unknown>>
  const unknown = Object.keys(fields).find((name) => schemaOf(name) === undefined)
  if (unknown !== undefined)
    throw new BadArguments(`${where} has no ${JSON.stringify(unknown)}`, `it takes ${names}`)
  const missing = required.find((name) => fields[name] === undefined)
  if (missing !== undefined)
    throw new BadArguments(`${where} needs ${missing}`, `it takes ${names}`)
  for (const [name, field] of Object.entries(fields))
    if (field !== undefined) checkValue(`${where}.${name}`, schemaOf(name)!, field)
}

const A = { string: 'a text', boolean: 'true or false', integer: 'a whole number' } as const

function checkValue(where: string, schema: ValueSchema, value: unknown): void {
  if (schema.type === 'object') return checkObject(where, schema, value)
  if (schema.type === 'array') {
    if (!Array.isArray(value))
      throw new BadArguments(`${where} is ${kindOf(value)} and has to be a list`, 'give […]')
    for (const [index, item] of value.entries())
      checkValue(`${where}[${index}]`, schema.items, item)
    return
  }
  const isFitting =
    schema.type === 'integer'
      ? Number.isInteger(value) && (value as number) >= 0
      : typeof value === schema.type
  if (!isFitting) {
    throw new BadArguments(
      `${where} is ${kindOf(value)} and has to be ${A[schema.type]}`,
      schema.description ?? `give ${A[schema.type]}`,
    )
  }
  const { enum: allowed } = schema as { enum?: readonly unknown[] }
  if (allowed === undefined || allowed.includes(value)) return
  throw new BadArguments(
    `${where} cannot be ${JSON.stringify(value)}`,
    `it is one of ${allowed.join(', ')}`,
  )
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  const kind = typeof value
  return kind === 'string' ? 'a text' : kind === 'object' ? 'an object' : `a ${kind}`
}
