import { publicSessionHead, shortId } from '../../public.ts'
import type { Tool } from './tool.ts'

export const checkpoint: Tool = {
  name: 'checkpoint',
  description: 'Pin the state of the session and keep the working tree.',
  effect: 'records',
  inputSchema: {
    type: 'object',
    properties: {
      note: { type: 'string' },
      tldr: { type: 'string' },
    },
  },
  async run({ project }, args) {
    const { state, checkpoint: made } = await project.checkpoint({ by: 'mcp', ...args })
    const id = shortId(made.id)
    const commit = made.code?.commit.slice(0, 7)
    return {
      value: {
        session: state.name,
        checkpoint: id,
        note: made.text,
        code: commit,
        tldr: publicSessionHead(state).tldr,
      },
      text: `${state.name}: checkpoint ${id}${commit === undefined ? '' : `, code kept as ${commit}`}`,
    }
  },
}
