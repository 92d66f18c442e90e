// What an ACP agent tells of its tools. Only the id is certain; the rest comes in pieces, and differs between agents.
import type { HarnessEvent } from '../../contract/drive.ts'
import { type Json, listOf, objectOf, saidIn, textOf } from '../../../text/json-fields.ts'
import { quoteWord } from '../../../command/quote-word.ts'
import { defined } from '../../../text/defined.ts'

export type ToolEvent = Extract<HarnessEvent, { readonly type: 'tool' }>

export interface ToolUse {
  readonly id: string
  readonly name: string
  readonly title?: string
  readonly kind?: string
  readonly command?: string
  readonly cwd?: string
  readonly paths: readonly string[]
  readonly output?: string
  readonly status?: string
}

const LONGEST_OUTPUT = 4000

/** What is known of a use of a tool, with what a message adds to it. */
export function toolUse(id: string, told: Json, before?: ToolUse): ToolUse {
  const title = textOf(told['title']) ?? before?.title
  const kind = textOf(told['kind']) ?? before?.kind
  const paths = pathsIn(told)
  return {
    id,
    name:
      textOf(told['name']) ??
      (before?.name === before?.kind ? undefined : before?.name) ??
      kind ??
      title ??
      'tool',
    paths: paths.length > 0 ? paths : (before?.paths ?? []),
    ...defined({
      title,
      kind,
      command:
        commandIn(told) ??
        before?.command ??
        (kind === 'execute' ? commandInTitle(title) : undefined),
      cwd: folderIn(told) ?? before?.cwd,
      // What it says while it works describes it.
      output: isOver(told) ? outputIn(told) : undefined,
      status: textOf(told['status']) ?? before?.status,
    }),
  }
}

export function toolEvent(use: ToolUse, status: ToolEvent['status']): ToolEvent {
  const { id, name, command, paths } = use
  const output = status === 'started' ? undefined : use.output
  return { type: 'tool', id, name, status, ...defined({ command, path: paths[0], output }) }
}

function isOver({ status }: Json): boolean {
  return status === 'completed' || status === 'failed'
}

function commandIn(told: Json): string | undefined {
  const input = objectOf(told['rawInput'])
  const command = input?.['command'] ?? input?.['cmd']
  if (!Array.isArray(command)) return textOf(command)
  const words = command.filter((word) => typeof word === 'string')
  // A shell and its script come to the script.
  const isScript = words.length === 3 && SHELL.test(words[0]!) && /^-\w*c$/.test(words[1]!)
  return isScript ? words[2] : words.map(quoteWord).join(' ')
}

/** Where a command is to run, by the names that agents have for it. */
function folderIn(told: Json): string | undefined {
  const input = objectOf(told['rawInput'])
  return [input?.['cwd'], input?.['workdir'], input?.['directory'], input?.['dir_path']]
    .map(textOf)
    .find((path) => path !== undefined)
}

const SHELL = /(?:^|\/)(?:ba|z|da|k)?sh$/

/** Some write the command into the title, as code. */
function commandInTitle(title: string | undefined): string | undefined {
  return title === undefined ? undefined : (/^`+([^`]+)`+$/.exec(title.trim())?.[1] ?? undefined)
}

function pathsIn(told: Json): readonly string[] {
  const input = objectOf(told['rawInput'])
  const places = [...listOf(told['locations']), ...listOf(told['content'])].map((place) =>
    textOf(objectOf(place)?.['path']),
  )
  const named = [input?.['file_path'], input?.['abs_path'], input?.['path']].map(textOf)
  return [...new Set([...places, ...named].filter((path) => path !== undefined))]
}

function outputIn(told: Json): string | undefined {
  const blocks = listOf(told['content']).map((block) => objectOf(block)?.['content'])
  const raw = told['rawOutput']
  const fields = objectOf(raw)
  const texts = [
    raw,
    fields?.['formatted_output'],
    fields?.['output'],
    fields?.['stdout'],
    saidIn(blocks),
  ]
  return texts
    .map(textOf)
    .find((text) => text !== undefined)
    ?.slice(-LONGEST_OUTPUT)
}
