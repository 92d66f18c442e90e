import type { Context } from 'hono'
import type { HttpBindings } from '@hono/node-server'
import type { OpenedProject, ProjectPool } from '../core.ts'
import type { EventHub } from './event-hub.ts'
import type { PromptRegistry } from './prompt-registry.ts'
import { HttpError } from './http-error.ts'

export interface ServerContext {
  readonly version: string
  readonly projects: ProjectPool
  readonly eventHub: EventHub
  readonly prompts: PromptRegistry
  /** Aborted when the server ends. */
  readonly ending: AbortSignal
}

export type Bindings = { Bindings: HttpBindings }
export type RequestContext = Context<Bindings>
type Body = Readonly<Record<string, unknown>>

export function requestedProject(
  { projects, eventHub }: ServerContext,
  c: RequestContext,
): OpenedProject {
  const project = projects.get(c.req.query('project'))
  // Subscribers now receive events of this project too.
  eventHub.watch(project.key)
  return project
}

export function queryNumber(
  c: RequestContext,
  name: string,
  { min = 0, max = Number.MAX_SAFE_INTEGER } = {},
): number | undefined {
  const text = queryText(c, name)
  if (text === undefined) return undefined
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN
  if (!(value >= min))
    throw new HttpError(400, 'NOT_A_NUMBER', `${name} is not a whole number from ${min} on`)
  return Math.min(value, max)
}

export function queryText(c: RequestContext, name: string): string | undefined {
  return c.req.query(name) || undefined
}

export async function readBody(c: RequestContext): Promise<Body> {
  let value: unknown
  try {
    value = JSON.parse(await c.req.text())
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new HttpError(400, 'NOT_JSON', 'what was sent is not JSON')
    throw error
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new HttpError(400, 'NOT_JSON', 'what was sent is not a JSON object')
  return value as Body
}

function bodyField<T>(
  isValid: (value: unknown) => boolean,
  expected: string,
): (body: Body, name: string) => T | undefined {
  return (body, name) => {
    const value = (Object.hasOwn(body, name) ? body[name] : undefined) ?? undefined
    if (value !== undefined && !isValid(value))
      throw new HttpError(400, 'WRONG_FIELD', `${name} has to be ${expected}`)
    return value as T | undefined
  }
}

const isText = (value: unknown) => typeof value === 'string'
export const bodyText = bodyField<string>(isText, 'a text')
export const bodyFlag = bodyField<boolean>((value) => typeof value === 'boolean', 'true or false')
export const bodyTexts = bodyField<readonly string[]>(
  (value) => Array.isArray(value) && value.every(isText),
  'a list of texts',
)
