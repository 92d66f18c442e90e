import { findVersion } from '../../../core.ts'
import { StintError } from '../../../public.ts'
import { buildCommand } from '@stricli/core'
import { realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Context } from '../../context/context.ts'
import { text } from '../../context/flags.ts'

export const mcp = buildCommand<{ project?: string }, [], Context>({
  docs: {
    brief: 'Serve the journal to an agent program over MCP',
    fullDescription:
      'Speaks the Model Context Protocol on standard input and output, until its input ends. An agent program starts it; stint setup claude and stint setup codex\ntell it how. It works in the folder that it is started in, or in the one that the program says it has open.',
    customUsage: [
      { input: '', brief: 'in this folder' },
      { input: '--project ../other', brief: 'in another one, whatever the program says' },
    ],
  },
  parameters: { flags: { project: text('The folder to work in', 'DIR') } },
  async func({ project }) {
    const { cwd, env } = this
    const { serveMcp } = await import('../../../mcp/serve-mcp.ts')
    const { usableFolder } = await import('../../../mcp/folder.ts')
    const folder = project === undefined ? {} : { project: folderNamed(resolve(cwd, project)) }
    await serveMcp({
      version: findVersion(),
      env,
      startedIn: usableFolder(() => realpathSync(cwd)),
      ...folder,
    })
  },
})

function folderNamed(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path
  throw new StintError(
    'NO_FOLDER',
    `${path} is not a folder`,
    'stint mcp --project DIR names the folder of a project',
  )
}
