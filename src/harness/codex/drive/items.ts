import { shellCommands } from '../../../command/shell-commands.ts'
import { programOf } from '../../../command/unwrap-command.ts'
import { oneLine, shorten } from '../../../text/clean.ts'
import { defined } from '../../../text/defined.ts'
import { type Json, listOf, objectOf, textOf } from '../../../text/json-fields.ts'
import type { PermissionRequest } from '../../contract/drive.ts'

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

// What Codex wants to be allowed, and how it is told.

/** All of these have to be allowed; `answer` is what Codex is then told. */
export interface Question {
  readonly requests: readonly PermissionRequest[]
  readonly answer: (isAllowed: boolean) => Json
}

/** What a request of the server asks; undefined when it asks for something else, or we do not know it. */
export function questionOf(
  method: string,
  params: Json,
  changedPaths: readonly string[],
): Question | undefined {
  const read = Object.hasOwn(QUESTIONS, method) ? QUESTIONS[method]! : undefined
  return read?.(params, changedPaths)
}

const QUESTIONS: Readonly<
  Record<string, (params: Json, changedPaths: readonly string[]) => Question>
> = {
  'item/commandExecution/requestApproval': (params) => {
    const command = commandOf(params['command'])
    const isInput = params['kind'] === 'writeStdin'
    const reason = textOf(params['reason'])
    const title = titled(
      isInput ? 'write to the input of' : 'run',
      command ?? reason ?? 'a command',
    )
    // What is typed into a command that runs is another matter than the command, which was allowed before.
    return {
      requests: [
        {
          tool: 'exec_command',
          title,
          ...(isInput ? {} : defined({ command, cwd: textOf(params['cwd']) })),
        },
      ],
      answer: decision,
    }
  },
  'item/fileChange/requestApproval': (params, changedPaths) => {
    const paths = changedPaths.length > 0 ? changedPaths : [undefined]
    const requests = paths.map((path) => ({
      tool: 'apply_patch',
      title: titled('edit', path ?? textOf(params['reason']) ?? 'a file'),
      ...defined({ path }),
    }))
    return { requests, answer: decision }
  },
  'item/permissions/requestApproval': (params) => ({
    requests: [
      {
        tool: 'request_permissions',
        title: titled('get more permissions:', textOf(params['reason']) ?? 'no reason given'),
      },
    ],
    answer: (isAllowed) => ({
      permissions: isAllowed ? granted(params['permissions']) : {},
      scope: 'turn',
    }),
  }),
  'mcpServer/elicitation/request': (params) => {
    const server = textOf(params['serverName']) ?? 'a server'
    const request = {
      tool: server,
      title: titled(`answer ${server}:`, textOf(params['message']) ?? 'a question'),
    }
    const answer = (isAllowed: boolean) => ({
      action: isAllowed ? 'accept' : 'decline',
      content: isAllowed ? {} : null,
      _meta: null,
    })
    return { requests: [request], answer }
  },
}

function decision(isAllowed: boolean): Json {
  return { decision: isAllowed ? 'accept' : 'decline' }
}

function granted(wanted: unknown): Json {
  return Object.fromEntries(
    Object.entries(objectOf(wanted) ?? {}).filter(([, value]) => value !== null),
  )
}

function titled(verb: string, what: string): string {
  return shorten(oneLine(`${verb} ${what}`), 200)
}
