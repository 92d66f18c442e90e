import { shortId } from '../../public.ts'
import { badArguments, stringSchema, defineTool } from './tool.ts'

/** What belongs to one of them only. */
const BELONGS: Readonly<Record<string, readonly string[]>> = {
  reason: ['create'],
  to: ['create'],
  handoff: ['show', 'accept'],
  force: ['accept'],
}

export const handoffTool = defineTool({
  name: 'handoff',
  description: 'Pass the session on to a fresh conversation, or take one up.',
  effect: 'records',
  properties: {
    action: { type: 'string', enum: ['create', 'show', 'accept'] },
    handoff: { type: 'string', description: 'SESSION/NUMBER' },
    reason: stringSchema,
    to: stringSchema,
    force: { type: 'boolean' },
  },
  required: ['action'],
  async run({ project: { handoffs } }, { action, ...given }) {
    const stray = Object.keys(given).find((name) => BELONGS[name]?.includes(action) === false)
    if (stray !== undefined)
      throw badArguments(
        `${stray} does not go with ${action}`,
        `${stray} goes with ${BELONGS[stray]!.join(' and ')}`,
      )
    if (action === 'create') {
      const { state, handoff: made, path, leftOut } = await handoffs.create({ by: 'mcp', ...given })
      const { tokens, code } = made
      const name = `${state.name}/${made.number}`
      const commit = code?.commit.slice(0, 7)
      return {
        value: { handoff: name, id: shortId(made.id), path, tokens, code: commit, leftOut },
        text: `Handoff ${name} is made (${tokens} tokens): ${path}\nThe next conversation takes it up by: stint handoff accept ${name}`,
      }
    }
    if (action === 'show') {
      const shown = await handoffs.show({ check: true, ...given })
      const { session, moved = [], file } = shown
      const { number, at, document } = shown.handoff
      return {
        value: { handoff: `${session.name}/${number}`, at, file, moved, document },
        text: [...moved.map((line) => `Moved since: ${line}`), document].join('\n'),
      }
    }
    const accepted = await handoffs.accept({ by: 'mcp', ...given })
    const { outcome, isTaken, isForced, moved, notes, number, session, bound, text } = accepted
    const name = `${session.name}/${number}`
    const refused = 'not taken up: look at what moved, then accept with force, or create a new one'
    return {
      value: {
        handoff: name,
        outcome,
        isTakenUp: isTaken,
        isForced: isForced || undefined,
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
  },
})
