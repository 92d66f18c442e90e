// The tools that record: entries and a checkpoint.
import type { LogEntry } from '../../library.ts'
import { publicSessionHead, shortId } from '../../public/projection.ts'
import { defined } from '../../text/defined.ts'
import { badArguments, stringSchema, defineTool } from './tool.ts'

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

/** The kind that each extra field belongs to. */
const KIND_OF_FIELD: Readonly<Record<string, (typeof KINDS)[number]>> = {
  context: 'decision',
  options: 'decision',
  choice: 'decision',
  rationale: 'decision',
  resolution: 'resolved',
  description: 'file',
}

export const journalTool = defineTool({
  name: 'journal',
  description:
    'Record in the session as it happens. done, current and resolved name a step or blocker by its text.',
  effect: 'records',
  properties: {
    entries: {
      type: 'array',
      items: {
        type: 'object',
        properties: { kind: { type: 'string', enum: KINDS }, text: stringSchema },
        additionalProperties: stringSchema,
        description:
          'decision: context, options, choice, rationale; resolved: resolution; file (text is its path): description',
        required: ['kind', 'text'],
      },
    },
    retract: { type: 'array', items: stringSchema },
    session: stringSchema,
  },
  async run({ project }, { entries = [], retract = [], session }) {
    if (entries.length === 0 && retract.length === 0) {
      throw badArguments(
        'there is nothing to record',
        'entries: [{"kind": "progress", "text": "what was done"}]',
      )
    }
    const { reading, appended, isLeft } = await project.log({
      by: 'mcp',
      entries: entries.map(toLogEntry),
      retract,
      ...defined({ session }),
    })
    const { name, counts } = publicSessionHead(reading.state)
    const steps = `${counts.stepsDone}/${counts.steps}`
    const recorded = appended
      .filter(({ kind }) => kind !== 'git.observed')
      .map(({ id, kind }) => ({ id: shortId(id), kind }))
    const lacksRationale = entries.some(
      ({ kind, rationale }) => kind === 'decision' && rationale === undefined,
    )
    return {
      value: {
        session: name,
        recorded,
        steps,
        ...(isLeft && { left: 'the run takes it in' }),
        ...(lacksRationale && { advice: 'a decision without a rationale will be argued again' }),
      },
      text: `${name}: recorded ${recorded.map(({ kind, id }) => `${kind} (${id})`).join(', ')}; ${steps} steps`,
    }
  },
})

function toLogEntry(
  { kind = '', text, ...fields }: Readonly<Record<string, string>>,
  index: number,
): LogEntry {
  const unknownField = Object.keys(fields).find((name) => KIND_OF_FIELD[name] !== kind)
  if (unknownField !== undefined) {
    const hint = Object.hasOwn(KIND_OF_FIELD, unknownField)
      ? `${unknownField} belongs to ${KIND_OF_FIELD[unknownField]}`
      : `there are ${Object.keys(KIND_OF_FIELD).join(', ')}`
    throw badArguments(`entries[${index}]: ${unknownField} does not belong to ${kind}`, hint)
  }
  return { [kind]: text, ...fields } as unknown as LogEntry
}

export const checkpointTool = defineTool({
  name: 'checkpoint',
  description: 'Pin the state of the session and keep the working tree.',
  effect: 'records',
  properties: { note: stringSchema, tldr: stringSchema },
  async run({ project }, args) {
    const { state, checkpoint: saved } = await project.checkpoint({ by: 'mcp', ...args })
    const id = shortId(saved.id)
    const commit = saved.code?.commit.slice(0, 7)
    const { tldr } = publicSessionHead(state)
    return {
      value: { session: state.name, checkpoint: id, note: saved.text, code: commit, tldr },
      text: `${state.name}: checkpoint ${id}${commit === undefined ? '' : `, code kept as ${commit}`}`,
    }
  },
})
