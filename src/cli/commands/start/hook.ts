import { serveHook, statusLine } from '../../../core.ts'
import { buildCommand } from '@stricli/core'
import type { Context } from '../../context/context.ts'
import { Output } from '../../context/output.ts'

// Both are served by a program of their own before the command line is loaded; these are for whoever asks what they are.

export const hook = buildCommand<{}, [], Context>({
  docs: {
    brief: 'Serve one event of an agent program',
    fullDescription:
      'Reads the event from standard input, as agent programs give it to their hooks, and answers on standard output.\nNever blocks and never fails; STINT_HOOKS=off makes it do nothing. stint setup registers it.',
  },
  parameters: {},
  async func() {
    const answer = await serveHook(await this.readStdin(), this.env)
    if (answer !== '') new Output(this).line(answer)
  },
})

export const statusline = buildCommand<{}, [], Context>({
  docs: {
    brief: 'Print the line under the prompt of an agent program',
    fullDescription:
      'Reads what the agent program tells its status line from standard input. stint setup registers it.',
  },
  parameters: {},
  async func() {
    new Output(this).line(
      await statusLine(await this.readStdin(), this.env, new Date().toISOString()),
    )
  },
})
