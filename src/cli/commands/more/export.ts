import { relative } from 'node:path'
import { EXPORT_FORMATS } from '../../../core.ts'
import { UsageError } from '../../context/context.ts'
import { enumFlag, optionalSessionArgument, textFlag, toggle } from '../../context/flags.ts'
import { defineProjectCommand } from '../../context/command.ts'

export const exportCommand = defineProjectCommand({
  brief: 'Give a session out: as JSON, TOON, Markdown, session.json or a workflow log',
  about: [
    'json          the whole state, for programs',
    "toon          a summary in few tokens, for a model's context",
    'markdown      the document, for people',
    'session-json  tasks, delegates and parallel groups in one file, for tools that look for a session.json',
    'workflow-log  YAML and Markdown, to be kept with the code',
    'To standard output, or with --output into a file, written in one step. A session.json goes when its session is closed.',
  ].join('\n'),
  usage: [
    ['--format toon', 'the current session, in few tokens'],
    ['fix-auth --format markdown --output fix-auth.md', 'the document of one, into a file'],
    ['--format session-json --output session.json', 'for a session of six tasks or more'],
  ],
  args: [optionalSessionArgument('The session; the current one when absent')],
  flags: {
    format: enumFlag(EXPORT_FORMATS, 'What to give it out as'),
    output: textFlag('The file to write instead of standard output', 'FILE'),
    force: toggle('Overwrite a file that no export wrote; write a session.json below six tasks'),
  },
  async run({ project, output, pick, print, json, context }, flags, name) {
    if (flags.format === undefined)
      throw new UsageError('export needs a format', `give --format ${EXPORT_FORMATS.join('|')}`)
    const exported = await project.export({
      ...flags,
      format: flags.format,
      ...(await pick(name)),
    })
    const { session, format, content, path } = exported
    const bytes = Buffer.byteLength(content)
    if (path === undefined && !json) return output.raw(content)
    print(
      { session, format, bytes, ...(path === undefined ? { content } : { path }) },
      () =>
        `📤 ${output.bold(`Session Exported: ${session.name}`)}\n   ${format}, ${bytes} bytes: ${relative(context.cwd, path!)}`,
    )
  },
})
