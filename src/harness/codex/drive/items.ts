import { type Json, listOf, objectOf, textOf } from '../../../text/json-fields.ts'
import { programOf } from '../../../command/unwrap-command.ts'
import { shellCommands } from '../../../command/shell-commands.ts'
import { defined } from '../../../text/defined.ts'

/** What an item of a turn says of the use of a tool. */
export interface ToolUse {
  readonly name: string
  readonly command?: string
  readonly path?: string
  /** Every file that is changed. */
  readonly paths: readonly string[]
}

/** The use of a tool that an item stands for; undefined for a message, a thought and whatever we do not know. */
export function toolUseOf(item: Json): ToolUse | undefined {
  const kind = textOf(item['type']) ?? ''
  return Object.hasOwn(KINDS, kind) ? KINDS[kind]!(item) : undefined
}

const KINDS: Readonly<Record<string, (item: Json) => ToolUse>> = {
  commandExecution: (item) => ({
    name: 'exec_command',
    ...defined({ command: commandOf(item['command']) }),
    paths: [],
  }),
  fileChange: (item) => {
    const paths = pathsOf(item)
    return { name: 'apply_patch', ...defined({ path: paths[0] }), paths }
  },
  mcpToolCall: (item) =>
    plainly(`${textOf(item['server']) ?? 'mcp'}.${textOf(item['tool']) ?? 'tool'}`),
  dynamicToolCall: (item) => plainly(textOf(item['tool']) ?? 'tool'),
  collabAgentToolCall: (item) => plainly(textOf(item['tool']) ?? 'agent'),
  webSearch: () => plainly('web_search'),
  imageView: (item) => ({ ...plainly('view_image'), ...defined({ path: textOf(item['path']) }) }),
}

function plainly(name: string): ToolUse {
  return { name, paths: [] }
}

function pathsOf(item: Json): readonly string[] {
  return listOf(item['changes']).flatMap((change) => {
    const fields = objectOf(change)
    const moved = objectOf(fields?.['kind'])?.['move_path']
    return [textOf(fields?.['path']), textOf(moved)].filter((path) => path !== undefined)
  })
}

/** What the model asked for: Codex tells it as the argument of a shell. */
export function commandOf(told: unknown): string | undefined {
  const text = textOf(told)
  // One that is cut off when it is split is better shown as it came.
  if (text === undefined || text.length > LONGEST) return text
  const [only, ...others] = shellCommands(text)
  const [, option, script] = only?.words ?? []
  const isShell =
    others.length === 0 && only?.words.length === 3 && SHELLS.has(programOf(only.words))
  return isShell && /^-l?c$/.test(option ?? '') ? script : text
}

const LONGEST = 32_768
const SHELLS = new Set(['bash', 'sh', 'zsh', 'dash', 'ksh'])
