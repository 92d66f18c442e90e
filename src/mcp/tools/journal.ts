import type { LogEntry } from '../../library.ts'
import { publicSessionHead, shortId } from '../../public.ts'
import { badArguments } from './schema.ts'
import type { Tool } from './tool.ts'

const KINDS = [
  'progress',
  'decision',
  'discovery',
  'gotcha',
  'blocker',
  'resolved',
  'next',
  'step',
  'current',
  'done',
  'key',
  'file',
  'command',
  'note',
  'goal',
  'tldr',
] as const

interface Given {
  readonly kind: (typeof KINDS)[number]
  readonly text: string
  readonly context?: string
  readonly options?: string
  readonly choice?: string
  readonly rationale?: string
  readonly resolution?: string
  readonly description?: string
}

/** The fields that belong to some kinds only. */
const BELONGS: Readonly<Record<string, Given['kind']>> = {
  context: 'decision',
  options: 'decision',
  choice: 'decision',
  rationale: 'decision',
  resolution: 'resolved',
  description: 'file',
}

const string = { type: 'string' } as const

export const journal: Tool = {
  name: 'journal',
  description:
    'Record in the session as it happens. done, current and resolved name a step or blocker by its text.',
  effect: 'records',
  inputSchema: {
    type: 'object',
    properties: {
      entries: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            kind: { type: 'string', enum: KINDS },
            text: string,
          },
          additionalProperties: string,
          description:
            'decision: context, options, choice, rationale; resolved: resolution; file (text is its path): description',
          required: ['kind', 'text'],
        },
      },
      retract: { type: 'array', items: string },
      session: string,
    },
  },
  async run({ project }, args) {
    const given = (args.entries ?? []) as readonly Given[]
    const retract = (args.retract ?? []) as readonly string[]
    if (given.length === 0 && retract.length === 0) {
      throw badArguments(
        'there is nothing to record',
        'entries: [{"kind": "progress", "text": "what was done"}]',
      )
    }
    const { reading, appended, isLeft } = await project.log({
      by: 'mcp',
      entries: given.map(entryOf),
      retract,
      ...(args.session === undefined ? {} : { session: args.session as string }),
    })
    const { name, counts } = publicSessionHead(reading.state)
    const steps = `${counts.stepsDone}/${counts.steps}`
    const recorded = appended
      .filter(({ kind }) => kind !== 'git.observed')
      .map(({ id, kind }) => ({ id: shortId(id), kind }))
    const lacksReason = given.some(
      ({ kind, rationale }) => kind === 'decision' && rationale === undefined,
    )
    return {
      value: {
        session: name,
        recorded,
        steps,
        ...(isLeft === true ? { left: 'the run takes it in' } : {}),
        ...(lacksReason ? { advice: 'a decision without a rationale will be argued again' } : {}),
      },
      text: `${name}: recorded ${recorded.map(({ kind, id }) => `${kind} (${id})`).join(', ')}; ${steps} steps`,
    }
  },
}

function entryOf({ kind, text, ...fields }: Given, index: number): LogEntry {
  const stray = Object.keys(fields).find((name) => BELONGS[name] !== kind)
  if (stray !== undefined) {
    const whose = Object.hasOwn(BELONGS, stray)
      ? `${stray} belongs to ${BELONGS[stray]}`
      : `there are ${Object.keys(BELONGS).join(', ')}`
    throw badArguments(`entries[${index}]: ${stray} does not belong to ${kind}`, whose)
  }
  return { [kind]: text, ...fields } as unknown as LogEntry
}
