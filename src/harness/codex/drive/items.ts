import { shellCommands } from '../../../command/shell-commands.ts'
import { programOf } from '../../../command/unwrap-command.ts'
import { oneLine, shorten } from '../../../text/clean.ts'
import { defined } from '../../../text/defined.ts'
import { type Json, listOf, objectOf, textOf } from '../../../text/json-fields.ts'
import type { PermissionRequest } from '../../contract/drive.ts'

export interface ToolUse {
  readonly name: string
  readonly command?: string
  readonly path?: string
  readonly paths: readonly string[]
}

export function toolUseOf(item: Json): ToolUse | undefined {
  const kind = textOf(item.type) ?? ''
  return Object.hasOwn(KINDS, kind) ? KINDS[kind]!(item) : undefined
}

const KINDS: Readonly<Record<string, (item: Json) => ToolUse>> = {
  commandExecution: (item) => ({
    name: 'exec_command',
    ...defined({ command: commandOf(item.command) }),
    paths: [],
  }),
  fileChange: (item) => {
    const paths = pathsOf(item)
    return { name: 'apply_patch', ...defined({ path: paths[0] }), paths }
  },
  mcpToolCall: (item) => plainly(`${textOf(item.server) ?? 'mcp'}.${textOf(item.tool) ?? 'tool'}`),
  dynamicToolCall: (item) => plainly(textOf(item.tool) ?? 'tool'),
  collabAgentToolCall: (item) => plainly(textOf(item.tool) ?? 'agent'),
  webSearch: () => plainly('web_search'),
  imageView: (item) => ({ ...plainly('view_image'), ...defined({ path: textOf(item.path) }) }),
}

function plainly(name: string) {
  return { name, paths: [] }
}

function pathsOf(item: Json) {
  return listOf(item.changes).flatMap((change) => {
    const fields = objectOf(change)
    const moved = objectOf(fields?.kind)?.move_path
    return [textOf(fields?.path), textOf(moved)].filter((path) => path !== undefined)
  })
}

/** Codex reports it as the argument of a shell. */
export function commandOf(told: unknown): string | undefined {
  const text = textOf(told)
  // A text too long to split is shown as it came.
  if (text === undefined || text.length > LONGEST) return text
  const [only, ...others] = shellCommands(text)
  const [, option, script] = only?.words ?? []
  const isShell =
    others.length === 0 && only?.words.length === 3 && SHELLS.has(programOf(only.words))
  return isShell && /^-l?c$/.test(option ?? '') ? script : text
}

const LONGEST = 32_768
const SHELLS = new Set(['bash', 'sh', 'zsh', 'dash', 'ksh'])

export interface Question {
  readonly requests: readonly PermissionRequest[]
  readonly answer: (isAllowed: boolean) => Json
}

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
    const command = commandOf(params.command)
    const isInput = params.kind === 'writeStdin'
    const reason = textOf(params.reason)
    const title = titled(
      isInput ? 'write to the input of' : 'run',
      command ?? reason ?? 'a command',
    )
    // Input to a running command is not the command that was allowed before.
    return {
      requests: [
        {
          tool: 'exec_command',
          title,
          ...(isInput ? {} : defined({ command, cwd: textOf(params.cwd) })),
        },
      ],
      answer: decision,
    }
  },
  'item/fileChange/requestApproval': (params, changedPaths) => {
    const paths = changedPaths.length > 0 ? changedPaths : [undefined]
    const requests = paths.map((path) => ({
      tool: 'apply_patch',
      title: titled('edit', path ?? textOf(params.reason) ?? 'a file'),
      ...defined({ path }),
    }))
    return { requests, answer: decision }
  },
  'item/permissions/requestApproval': (params) => ({
    requests: [
      {
        tool: 'request_permissions',
        title: titled('get more permissions:', textOf(params.reason) ?? 'no reason given'),
      },
    ],
    answer: (isAllowed) => ({
      permissions: isAllowed ? granted(params.permissions) : {},
      scope: 'turn',
    }),
  }),
  'mcpServer/elicitation/request': (params) => {
    const server = textOf(params.serverName) ?? 'a server'
    const request = {
      tool: server,
      title: titled(`answer ${server}:`, textOf(params.message) ?? 'a question'),
    }
    const answer = (isAllowed: boolean) => ({
      action: isAllowed ? 'accept' : 'decline',
      content: isAllowed ? {} : null,
      _meta: null,
    })
    return { requests: [request], answer }
  },
}

function decision(isAllowed: boolean) {
  return { decision: isAllowed ? 'accept' : 'decline' }
}

function granted(wanted: unknown) {
  return Object.fromEntries(
    Object.entries(objectOf(wanted) ?? {}).filter(([, value]) => value !== null),
  )
}

function titled(verb: string, what: string) {
  return shorten(oneLine(`${verb} ${what}`), 200)
}
