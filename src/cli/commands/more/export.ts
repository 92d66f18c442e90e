import { EXPORT_FORMATS } from '../../../core.ts'
import type { ExportFormat } from '../../../library.ts'
import { buildCommand } from '@stricli/core'
import { relative } from 'node:path'
import type { Context } from '../../context/context.ts'
import { Misuse } from '../../context/errors.ts'
import { json, optionalSession, text, toggle } from '../../context/flags.ts'
import { withProject } from '../../context/with-project.ts'
import { defined } from '../../../text/defined.ts'

interface Flags {
  readonly format?: ExportFormat
  readonly output?: string
  readonly force?: boolean
  readonly json?: boolean
}

export const exporting = buildCommand<Flags, [string?], Context>({
  docs: {
    brief: 'Give a session out: as JSON, TOON, Markdown, session.json or a workflow log',
    fullDescription: [
      'json          the whole state, for programs',
      "toon          a summary in few tokens, for a model's context",
      'markdown      the document, for people',
      'session-json  tasks, delegates and parallel groups in one file, for tools that look for a session.json',
      'workflow-log  YAML and Markdown, to be kept with the code',
      'To standard output, or with --output into a file, written in one step. A session.json goes when its session is closed.',
    ].join('\n'),
    customUsage: [
      { input: '--format toon', brief: 'the current session, in few tokens' },
      {
        input: 'fix-auth --format markdown --output fix-auth.md',
        brief: 'the document of one, into a file',
      },
      {
        input: '--format session-json --output session.json',
        brief: 'for a session of six tasks or more',
      },
    ],
  },
  parameters: {
    positional: optionalSession('The session; the current one when absent'),
    flags: {
      format: {
        kind: 'enum',
        values: EXPORT_FORMATS,
        brief: 'What to give it out as',
        optional: true,
      },
      output: text('The file to write instead of standard output', 'FILE'),
      force: toggle('Overwrite a file that no export wrote; write a session.json below six tasks'),
      json,
    },
  },
  async func(flags, name) {
    await withProject(this, flags, async (project, output, pick) => {
      if (flags.format === undefined)
        throw new Misuse('export needs a format', `give --format ${EXPORT_FORMATS.join('|')}`)
      const exported = await project.export({
        format: flags.format,
        ...defined({ session: await pick(name), output: flags.output, force: flags.force }),
      })
      const { session, format, content, path } = exported
      const bytes = Buffer.byteLength(content)
      const value = { session, format, bytes, ...(path === undefined ? { content } : { path }) }
      output.result(flags.json, value, () =>
        path === undefined
          ? content
          : `📤 ${output.bold(`Session Exported: ${session.name}`)}\n   ${format}, ${bytes} bytes: ${relative(this.cwd, path)}`,
      )
    })
  },
})
