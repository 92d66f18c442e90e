// The part of JSON Schema that our tools are described in, and what is wrong with arguments by it.
import { StintError } from '../../public.ts'

export interface ObjectSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, ValueSchema>>
  readonly required?: readonly string[]
  /** What the others are, when there may be any. */
  readonly additionalProperties?: ValueSchema
}

export type ValueSchema = (
  | { readonly type: 'string'; readonly enum?: readonly string[] }
  | { readonly type: 'boolean' | 'integer' }
  | { readonly type: 'array'; readonly items: ValueSchema }
  | ObjectSchema
) & { readonly description?: string }

/** Arguments that fit their schema. */
export type Arguments = Readonly<Record<string, unknown>>

class BadArguments extends StintError {
  override readonly name = 'BadArguments'
  constructor(message: string, hint: string) {
    super('BAD_ARGUMENTS', message, hint)
  }
}

/** Refuses what the schema does not know: a misspelt name that is passed over looks like success. */
export function checkArguments(tool: string, schema: ObjectSchema, given: unknown): Arguments {
  const value = given ?? {}
  checkObject(tool, schema, value)
  return value as Arguments
}

/** Refuses what only a person could have meant otherwise. */
export function badArguments(message: string, hint: string): StintError {
  return new BadArguments(message, hint)
}

function checkObject(where: string, schema: ObjectSchema, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new BadArguments(
      `${where} is ${kindOf(value)} and has to be an object`,
      `give ${namesOf(schema)}`,
    )
  }
  const others = schema.additionalProperties
  const unknown = Object.keys(value).find(
    (name) => others === undefined && !Object.hasOwn(schema.properties, name),
  )
  if (unknown !== undefined) {
    throw new BadArguments(
      `${where} has no ${JSON.stringify(unknown)}`,
      `it takes ${namesOf(schema)}`,
    )
  }
  const missing = schema.required?.find((name) => (value as Arguments)[name] === undefined)
  if (missing !== undefined)
    throw new BadArguments(`${where} needs ${missing}`, `it takes ${namesOf(schema)}`)
  for (const [name, field] of Object.entries(value)) {
    if (field !== undefined)
      checkValue(
        `${where}.${name}`,
        (Object.hasOwn(schema.properties, name) ? schema.properties[name] : others)!,
        field,
      )
  }
}

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
  if (
    schema.type !== 'string' ||
    schema.enum === undefined ||
    schema.enum.includes(value as string)
  )
    return
  throw new BadArguments(
    `${where} cannot be ${JSON.stringify(value)}`,
    `it is one of ${schema.enum.join(', ')}`,
  )
}

const A = { string: 'a text', boolean: 'true or false', integer: 'a whole number' } as const

function namesOf({ properties, required = [] }: ObjectSchema): string {
  return Object.keys(properties)
    .map((name) => (required.includes(name) ? `${name} (needed)` : name))
    .join(', ')
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  const kind = typeof value
  return kind === 'string' ? 'a text' : kind === 'object' ? 'an object' : `a ${kind}`
}
