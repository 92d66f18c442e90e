import { basename, join, relative, resolve } from 'node:path'
import { StintError } from '../../journal/errors.ts'
import { namesIn, readOrUndefined } from '../../journal/look.ts'
import type { WorkflowTemplate } from '../../session/entries.ts'
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

/** The template that is used when none is named. As text, so that it can be printed with its explanations. */
export const NINE_PHASES = `# Nine phases over three conversations. Copy this to .sessions/workflows/NAME.yaml and change it.
name: nine-phases
phases:
  # id: how the phase is named in commands; its number when left out.
  # conversation: phases that name the same one share a conversation, and where it changes is the place for a fresh one.
  # tokens: what the phase typically uses, a number or a range; says how much of the whole it is.
  - id: 1
    name: Requirements
    conversation: planning
    tokens: 12.5K-20K
    focus: what is wanted, by whom, and how it will be told that it is there
  - id: 2
    name: Design
    conversation: planning
    tokens: 12.5K-20K
    focus: how it is going to be built, and what was decided against
  - id: 3
    name: UI
    conversation: planning
    tokens: 12.5K-20K
    focus: what people see and do
  # gate: approval means that the next phase opens when a person approved this one.
  - id: 4
    name: Tests
    conversation: planning
    tokens: 12.5K-20K
    focus: which tests will show that it works
    gate: approval
  - id: 5
    name: TDD Implementation
    conversation: implementation
    tokens: 80K-150K
    gate: approval
    # sub_phases have an id (the phase's with a letter when left out), a name, a focus and deliverables.
    sub_phases:
      - id: 5a
        name: TDD RED
        focus: tests that fail for the right reason
      - id: 5b
        name: TDD GREEN
        focus: the least code that makes them pass
      - id: 5c
        name: TDD REFACTOR
        focus: the same behaviour in better code
  # deliverables: paths that the phase is to leave behind, such as [docs/design.md].
  - id: 6
    name: Review
    conversation: review and deploy
    tokens: 10K-15K
    focus: the change as somebody reads it who did not write it
  - id: 7
    name: Verify
    conversation: review and deploy
    tokens: 10K-15K
    focus: the whole, run as it will be used
  - id: 8
    name: Docs
    conversation: review and deploy
    tokens: 10K-15K
    focus: what users and the next developer have to know
  - id: 9
    name: Notify
    conversation: review and deploy
    tokens: 10K-15K
    focus: telling those who wait for it
`
