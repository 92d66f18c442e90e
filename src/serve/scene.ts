import type { Context } from 'hono'
import type { HttpBindings } from '@hono/node-server'
import type { Live } from './live.ts'
import type { Prompts } from './prompts.ts'
import type { OpenedProject } from '../pages/opened-project.ts'
import type { Projects } from './projects.ts'
import { Refused } from './problem.ts'

export interface Scene {
  readonly version: string
  readonly env: NodeJS.ProcessEnv
  readonly projects: Projects
  readonly live: Live
  readonly prompts: Prompts
  /** Aborted when the server ends. */
  readonly ending: AbortSignal
}

export type Bindings = { Bindings: HttpBindings }
export type Asked = Context<Bindings>

export function projectIn(scene: Scene, asked: Asked): OpenedProject {
  const project = scene.projects.of(asked.req.query('project'))
  // Followers now hear of this project too.
  scene.live.watch(project.key)
  return project
}

/** Refuses what is no whole number. */
export function numberIn(
  asked: Asked,
  name: string,
  { least = 0, most = Number.MAX_SAFE_INTEGER } = {},
): number | undefined {
  const text = asked.req.query(name)
  if (text === undefined || text === '') return undefined
  const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN
  if (!(value >= least))
    throw new Refused(400, 'NOT_A_NUMBER', `${name} is not a whole number from ${least} on`)
  return Math.min(value, most)
}

export function textIn(asked: Asked, name: string): string | undefined {
  const text = asked.req.query(name)
  return text === undefined || text === '' ? undefined : text
}

export async function bodyOf(asked: Asked): Promise<Readonly<Record<string, unknown>>> {
  let value: unknown
  try {
    value = JSON.parse(await asked.req.text())
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new Refused(400, 'NOT_JSON', 'what was sent is not JSON')
    throw error
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refused(400, 'NOT_JSON', 'what was sent is not a JSON object')
  }
  return value as Readonly<Record<string, unknown>>
}

export function textOf(body: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = Object.hasOwn(body, name) ? body[name] : undefined
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw new Refused(400, 'WRONG_FIELD', `${name} has to be a text`)
  return value
}

export function flagOf(body: Readonly<Record<string, unknown>>, name: string): boolean | undefined {
  const value = Object.hasOwn(body, name) ? body[name] : undefined
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'boolean')
    throw new Refused(400, 'WRONG_FIELD', `${name} has to be true or false`)
  return value
}

export function listOfTexts(
  body: Readonly<Record<string, unknown>>,
  name: string,
): readonly string[] | undefined {
  const value = Object.hasOwn(body, name) ? body[name] : undefined
  if (value === undefined || value === null) return undefined
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'string')) {
    throw new Refused(400, 'WRONG_FIELD', `${name} has to be a list of texts`)
  }
  return value as readonly string[]
}
