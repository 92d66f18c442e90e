// What Codex wants to be allowed, and how it is told.
import { oneLine, shorten } from '../../../text/clean.ts'
import type { PermissionRequest } from '../../contract/drive.ts'
import { type Json, objectOf, textOf } from '../../../text/json-fields.ts'
import { commandOf } from './items.ts'
import { defined } from '../../../text/defined.ts'

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
