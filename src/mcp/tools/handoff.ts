import { shortId } from '../../public/projection.ts'
import { refuseForeign } from './refuse-foreign.ts'
import { badArguments, stringSchema, defineTool } from './tool.ts'

/** The fields that only some actions take. */
const ACTIONS_OF_FIELD: Readonly<Record<string, readonly string[]>> = {
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
  async run({ project }, { action, ...fields }) {
    const { handoffs } = project
    const field = Object.keys(fields).find(
      (name) => ACTIONS_OF_FIELD[name]?.includes(action) === false,
    )
    if (field !== undefined)
      throw badArguments(
        `${field} does not go with ${action}`,
        `${field} goes with ${ACTIONS_OF_FIELD[field]!.join(' and ')}`,
      )
    // Of a file, which the command line takes, an agent could read any.
    if (fields.handoff?.endsWith('.md') === true)
      throw badArguments('handoff cannot be a file', 'SESSION/NUMBER')
    if (action === 'create') {
      const {
        state,
        handoff: created,
        path,
        leftOut,
      } = await handoffs.create({ by: 'mcp', ...fields })
      const { tokens, code } = created
      const name = `${state.name}/${created.number}`
      const commit = code?.commit.slice(0, 7)
      return {
        value: { handoff: name, id: shortId(created.id), path, tokens, code: commit, leftOut },
        text: `Handoff ${name} is made (${tokens} tokens): ${path}\nThe next conversation takes it up by: stint handoff accept ${name}`,
      }
    }
    if (action === 'show') {
      const shown = await handoffs.show({ check: true, ...fields })
      const { session, moved = [], file } = shown
      refuseForeign(project, session)
      const { number, at, document } = shown.handoff
      return {
        value: { handoff: `${session.name}/${number}`, at, file, moved, document },
        text: [...moved.map((line) => `Moved since: ${line}`), document].join('\n'),
      }
    }
    const accepted = await handoffs.accept({ by: 'mcp', ...fields })
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
