import { shortId } from '../../public.ts'
import { badArguments } from './schema.ts'
import type { Answer, Call, Tool } from './tool.ts'

interface Given {
  readonly action: 'create' | 'show' | 'accept'
  readonly handoff?: string
  readonly reason?: string
  readonly to?: string
  readonly force?: boolean
}

/** What belongs to one of them only. */
const BELONGS: Readonly<Record<string, readonly Given['action'][]>> = {
  reason: ['create'],
  to: ['create'],
  handoff: ['show', 'accept'],
  force: ['accept'],
}

export const handoff: Tool = {
  name: 'handoff',
  description: 'Pass the session on to a fresh conversation, or take one up.',
  effect: 'records',
  inputSchema: {
    type: 'object',
    properties: {
      action: { type: 'string', enum: ['create', 'show', 'accept'] },
      handoff: { type: 'string', description: 'SESSION/NUMBER' },
      reason: { type: 'string' },
      to: { type: 'string' },
      force: { type: 'boolean' },
    },
    required: ['action'],
  },
  async run(call, args) {
    const { action, ...given } = args as unknown as Given
    const stray = Object.keys(given).find((name) => BELONGS[name]?.includes(action) === false)
    if (stray !== undefined)
      throw badArguments(
        `${stray} does not go with ${action}`,
        `${stray} goes with ${BELONGS[stray]!.join(' and ')}`,
      )
    return { create, show, accept }[action](call, given)
  },
}

async function create({ project }: Call, given: Omit<Given, 'action'>): Promise<Answer> {
  const {
    state,
    handoff: made,
    path,
    leftOut,
  } = await project.handoffs.create({ by: 'mcp', ...given })
  const name = `${state.name}/${made.number}`
  return {
    value: {
      handoff: name,
      id: shortId(made.id),
      path,
      tokens: made.tokens,
      code: made.code?.commit.slice(0, 7),
      leftOut,
    },
    text: `Handoff ${name} is made (${made.tokens} tokens): ${path}\nThe next conversation takes it up by: stint handoff accept ${name}`,
  }
}

async function show({ project }: Call, given: Omit<Given, 'action'>): Promise<Answer> {
  const shown = await project.handoffs.show({ check: true, ...given })
  const { handoff: made, session, moved = [], file } = shown
  return {
    value: {
      handoff: `${session.name}/${made.number}`,
      at: made.at,
      file,
      moved,
      document: made.document,
    },
    text: [...moved.map((line) => `Moved since: ${line}`), made.document].join('\n'),
  }
}

async function accept({ project }: Call, given: Omit<Given, 'action'>): Promise<Answer> {
  const accepted = await project.handoffs.accept({ by: 'mcp', ...given })
  const { outcome, isTaken, isForced, moved, notes, number, session, bound, text } = accepted
  const name = `${session.name}/${number}`
  const refused = 'not taken up: look at what moved, then accept with force, or create a new one'
  return {
    value: {
      handoff: name,
      outcome,
      isTakenUp: isTaken,
      isForced: isForced ? true : undefined,
      moved,
      remarks: notes.length === 0 ? undefined : notes,
      boundSession: bound?.name,
      ...(isTaken ? { document: text } : { hint: refused }),
    },
    text: [
      `Handoff ${name}: ${outcome}`,
      ...moved.map((line) => `Moved: ${line}`),
      ...notes,
      isTaken ? text : refused,
    ].join('\n'),
  }
}
