import { basename, join, relative, resolve } from 'node:path'
import { StintError } from '../../journal/errors.ts'
import { namesIn, readOrUndefined } from '../../journal/look.ts'
import type { WorkflowTemplate } from '../../session/entries.ts'
import { NINE_PHASES } from './nine-phases.ts'
import { readTemplate } from './template-file.ts'

export const DEFAULT_TEMPLATE = 'nine-phases'

/** Where templates are looked for. */
export interface TemplatePlaces {
  readonly sessions: string
  /** What a path is relative to. */
  readonly cwd: string
}

export interface FoundTemplate {
  readonly name: string
  /** The file it comes from; absent for the one that is built in. */
  readonly path?: string
  readonly text: string
}

const FILE = /\.ya?ml$/

/** The template of a name, the user's own before the one that is built in, or in the file at a path. */
export function findTemplate(wanted: string, places: TemplatePlaces): FoundTemplate {
  if (wanted.includes('/') || FILE.test(wanted))
    return templateAt(resolve(places.cwd, wanted), wanted)
  const own = ownTemplates(places).find(({ name }) => name === wanted)
  if (own !== undefined) return own
  if (wanted === DEFAULT_TEMPLATE) return { name: wanted, text: NINE_PHASES }
  const names = listTemplates(places).map(({ name }) => name)
  throw new StintError(
    'NO_TEMPLATE',
    `there is no template "${wanted}"; there are ${names.join(', ')}`,
    `put one of your own at ${join(places.sessions, 'workflows', `${wanted.replaceAll(/[^\w.-]/g, '-')}.yaml`)}, or name a file`,
  )
}

/** What a template says. Mistakes are named after its file as it is seen from here. */
export function templateIn(found: FoundTemplate, { cwd }: TemplatePlaces): WorkflowTemplate {
  return readTemplate(
    found.text,
    found.path === undefined ? found.name : relative(cwd, found.path),
    found.name,
  )
}

/** Every template that can be named, the user's own first. */
export function listTemplates(places: TemplatePlaces): readonly FoundTemplate[] {
  const own = ownTemplates(places)
  const isReplaced = own.some(({ name }) => name === DEFAULT_TEMPLATE)
  return isReplaced ? own : [...own, { name: DEFAULT_TEMPLATE, text: NINE_PHASES }]
}

function ownTemplates({ sessions }: TemplatePlaces): readonly FoundTemplate[] {
  const folder = join(sessions, 'workflows')
  return namesIn(folder)
    .filter((name) => FILE.test(name) && !name.startsWith('.'))
    .toSorted()
    .map((name) => templateAt(join(folder, name), name))
}

function templateAt(path: string, wanted: string): FoundTemplate {
  const text = readOrUndefined(path)?.toString('utf8')
  if (text === undefined)
    throw new StintError(
      'NO_TEMPLATE',
      `there is no file ${wanted}`,
      'stint workflow template lists the templates by name',
    )
  return { name: basename(path).replace(FILE, ''), path, text }
}
