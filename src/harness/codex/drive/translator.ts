import type { Usage } from '../../../session/entries.ts'
import { cleanText, oneLine, shorten } from '../../../text/clean.ts'
import { defined } from '../../../text/defined.ts'
import {
  type Json,
  asCount,
  asArray,
  asName,
  asObject,
  parseJson,
  asText,
} from '../../../text/json-fields.ts'
import type { HarnessEvent, PermissionRequest, TurnEnded } from '../../contract/drive.ts'
import { isoFromSeconds, subtractUsage, usageTotal, usageFrom } from '../../contract/usage.ts'
import { shellCommands } from '../../../command/shell-commands.ts'
import { programOf } from '../../../command/unwrap-command.ts'

/** Translates the messages of Codex about one thread into events. */
export class ThreadTranslator {
  readonly thread: string
  isRunning = false
  /**
   * `isEndIgnored`: the end of the tool use is not reported, after an interruption or in a sub-agent's
   * thread.
   */
  readonly tools = new Map<string, CodexToolUse & { isEndIgnored?: boolean }>()
  /** Tokens in the context. */
  context: number | undefined
  #model: string | undefined
  readonly #compactsAt: number | undefined
  #window: number | undefined
  /** Codex's id of the turn that it began last. */
  #turn: string | undefined
  /** The usage already counted, by thread. */
  readonly #counted = new Map<string, Usage>()
  #compacting: { readonly tokensBefore: number | undefined } | undefined
  #lastMessage: string | undefined
  /** When each exhausted limit of the account resets. */
  readonly #resets = new Map<string, string | undefined>()
  #isLimitReported = false

  constructor(thread: string, model?: string, compactsAt?: number) {
    this.thread = thread
    this.#model = model
    this.#compactsAt = compactsAt
  }

  beginTurn(): void {
    this.isRunning = true
    this.#isLimitReported = false
    this.#lastMessage = undefined
  }

  endTurn(how: TurnEnded['how'], failure?: string): readonly HarnessEvent[] {
    this.isRunning = false
    this.#compacting = undefined
    const ended = {
      type: 'turn ended',
      how,
      ...defined({ said: this.#lastMessage, failure }),
    } as const
    // A command may outlive a completed turn and report its end in a later one.
    if (how === 'completed') return [ended]
    const open = [...this.tools].filter(([, { isEndIgnored }]) => isEndIgnored !== true)
    for (const use of this.tools.values()) use.isEndIgnored = true
    return [...open.map(([id, use]) => toolEvent(id, use, 'failed')), ended]
  }

  translate(method: string, params: Json): readonly HarnessEvent[] {
    // Threads of sub-agents use the same connection.
    const isOwnThread = params.threadId === this.thread
    switch (method) {
      case 'item/started':
        return this.#startItem(asObject(params.item) ?? {}, isOwnThread)
      case 'item/completed':
        return this.#completeItem(asObject(params.item) ?? {}, isOwnThread)
      case 'thread/tokenUsage/updated':
        return this.#countTokens(params, isOwnThread)
      case 'account/rateLimits/updated':
        return this.#updateLimits(asObject(params.rateLimits))
    }
    if (!isOwnThread) return []
    switch (method) {
      case 'item/agentMessage/delta': {
        const { delta: text } = params
        return typeof text === 'string' && text !== '' ? [{ type: 'delta', text }] : []
      }
      case 'model/rerouted':
        this.#model = asName(params.toModel) ?? this.#model
        return []
      case 'error':
        return params.willRetry === true ? [] : this.#reportLimit(asObject(params.error))
      case 'turn/started':
        this.#turn = asName(asObject(params.turn)?.id) ?? this.#turn
        return []
      case 'turn/completed':
        return this.isRunning ? this.#completeTurn(asObject(params.turn)) : []
      default:
        return []
    }
  }

  #startItem(item: Json, isOwnThread: boolean): readonly HarnessEvent[] {
    if (isOwnThread && item.type === 'contextCompaction') {
      this.#compacting = { tokensBefore: this.context }
      return []
    }
    const id = asName(item.id)
    const use = parseToolUse(item)
    if (id === undefined || use === undefined) return []
    // An approval request for a patch only names its item, even that of a sub-agent.
    this.tools.set(id, isOwnThread ? use : { ...use, isEndIgnored: true })
    return isOwnThread ? [toolEvent(id, use, 'started')] : []
  }

  #completeItem(item: Json, isOwnThread: boolean): readonly HarnessEvent[] {
    const id = asName(item.id)
    if (isOwnThread && item.type === 'agentMessage') {
      const text = asText(item.text)
      this.#lastMessage = text ?? this.#lastMessage
      return text === undefined ? [] : [{ type: 'text', text }]
    }
    if (isOwnThread && item.type === 'contextCompaction') {
      const more = defined({ tokensBefore: this.#compacting?.tokensBefore, boundary: id })
      this.#compacting = undefined
      return [{ type: 'compaction', ...more }, this.#usageEvent(true)]
    }
    const use = parseToolUse(item)
    if (id === undefined || use === undefined) return []
    const started = this.tools.get(id)
    this.tools.delete(id)
    if (!isOwnThread || started?.isEndIgnored === true) return []
    // Some kinds have no status and cannot fail.
    const isDone = item.status === 'completed' || item.status === undefined
    const end = toolEvent(id, use, isDone ? 'completed' : 'failed', itemOutput(item))
    return started === undefined ? [toolEvent(id, use, 'started'), end] : [end]
  }

  /**
   * The same figures arrive several times, so usage is the difference of totals. During a
   * compaction the last request is the one that summarises.
   */
  #countTokens(params: Json, isOwnThread: boolean): readonly HarnessEvent[] {
    const reported = asObject(params.tokenUsage)
    const [totals, lasts] = [asObject(reported?.total), asObject(reported?.last)]
    const thread = asName(params.threadId)
    if (totals === undefined || lasts === undefined || thread === undefined) return []
    const total = usageFrom(totals, USAGE_FIELDS, true)
    // The total of a resumed or forked thread starts with earlier usage; a resumed thread first
    // reports a past turn.
    const isPast = isOwnThread && params.turnId !== this.#turn
    const earlier = isPast ? total : subtractUsage(total, usageFrom(lasts, USAGE_FIELDS, true))
    const spent = subtractUsage(total, this.#counted.get(thread) ?? earlier)
    this.#counted.set(thread, total)
    const before = `${this.context} ${this.#window}`
    if (isOwnThread) {
      this.context = asCount(lasts.totalTokens) ?? this.context
      this.#window = asCount(reported?.modelContextWindow) ?? this.#window
    }
    const isContext = isOwnThread && this.#compacting === undefined
    const isNew = isContext && `${this.context} ${this.#window}` !== before
    const isSpent = usageTotal(spent) > 0
    return isSpent || isNew ? [this.#usageEvent(isContext, isSpent ? spent : undefined)] : []
  }

  #usageEvent(isContext: boolean, spent?: Usage): HarnessEvent {
    const { context } = this
    const window = this.#window
    const point = compactionPoint(window, this.#compactsAt)
    const figures = isContext ? defined({ context, window, point }) : {}
    return { type: 'usage', ...defined({ spent, model: this.#model }), ...figures }
  }

  /** An update omits what did not change. */
  #updateLimits(reported: Json | undefined): readonly HarnessEvent[] {
    for (const name of ['primary', 'secondary']) {
      const window = asObject(reported?.[name])
      const usedPercent = asCount(window?.usedPercent)
      if (usedPercent !== undefined)
        this.#resets.set(name, usedPercent >= 100 ? isoFromSeconds(window?.resetsAt) : undefined)
    }
    return []
  }

  #reportLimit(error: Json | undefined): readonly HarnessEvent[] {
    if (this.#isLimitReported || !isLimit(error)) return []
    this.#isLimitReported = true
    const [resetsAt] = [...this.#resets.values()]
      .flatMap((at) => at ?? [])
      .toSorted()
      .slice(-1)
    return [{ type: 'limit', message: failureText(error), ...defined({ resetsAt }) }]
  }

  #completeTurn(turn: Json | undefined): readonly HarnessEvent[] {
    const error = asObject(turn?.error)
    const how = turn?.status
    return [
      ...this.#reportLimit(error),
      ...(how === 'completed' || how === 'interrupted'
        ? this.endTurn(how)
        : this.endTurn('failed', failureText(error))),
    ]
  }
}

function toolEvent(
  id: string,
  { name, command, path }: CodexToolUse,
  status: 'started' | 'completed' | 'failed',
  output?: string,
): HarnessEvent {
  return { type: 'tool', id, name, status, ...defined({ command, path, output }) }
}

const MAX_OUTPUT_LENGTH = 4000

function itemOutput(item: Json) {
  const output = asText(item.aggregatedOutput) ?? asText(asObject(item.error)?.message)
  return output?.slice(-MAX_OUTPUT_LENGTH).toWellFormed()
}

const USAGE_FIELDS = {
  input: 'inputTokens',
  cacheWritten: 'cacheWriteInputTokens',
  cacheRead: 'cachedInputTokens',
  output: 'outputTokens',
}

/** Codex reports 95 % of the model's window, and compacts at 90 % at the latest. */
function compactionPoint(
  window: number | undefined,
  configured: number | undefined,
): number | undefined {
  const builtIn = window === undefined ? 0 : Math.floor((window / 0.95) * 0.9)
  const points = [builtIn, configured ?? 0].filter((point) => point > 0)
  return points.length === 0 ? undefined : Math.min(...points)
}

function failureText(error: Json | undefined) {
  const message = asText(error?.message) ?? 'the turn failed'
  // The server's response is usually an object around one sentence.
  const body = asObject(parseJson(message))
  const reason =
    asText(asObject(body?.error)?.message) ??
    asText(body?.message) ??
    asText(body?.detail) ??
    message
  const details = asText(error?.additionalDetails)
  return shorten(cleanText([reason, details].filter(Boolean).join('\n')), 2000)
}

function isLimit(error: Json | undefined) {
  const info = error?.codexErrorInfo
  if (info === 'usageLimitExceeded' || info === 'rateLimitExceeded') return true
  return asObject(asObject(info)?.responseTooManyFailedAttempts)?.httpStatusCode === 429
}

interface CodexToolUse {
  readonly name: string
  readonly command?: string
  readonly path?: string
  readonly paths: readonly string[]
}

function parseToolUse(item: Json): CodexToolUse | undefined {
  const kind = asText(item.type) ?? ''
  return Object.hasOwn(TOOL_KINDS, kind) ? TOOL_KINDS[kind]!(item) : undefined
}

const TOOL_KINDS: Readonly<Record<string, (item: Json) => CodexToolUse>> = {
  commandExecution: (item) => ({
    name: 'exec_command',
    ...defined({ command: unwrapShellCommand(item.command) }),
    paths: [],
  }),
  fileChange: (item) => {
    const paths = changedFiles(item)
    return { name: 'apply_patch', ...defined({ path: paths[0] }), paths }
  },
  mcpToolCall: (item) =>
    namedTool(`${asText(item.server) ?? 'mcp'}.${asText(item.tool) ?? 'tool'}`),
  dynamicToolCall: (item) => namedTool(asText(item.tool) ?? 'tool'),
  collabAgentToolCall: (item) => namedTool(asText(item.tool) ?? 'agent'),
  webSearch: () => namedTool('web_search'),
  imageView: (item) => ({ ...namedTool('view_image'), ...defined({ path: asText(item.path) }) }),
}

function namedTool(name: string) {
  return { name, paths: [] }
}

function changedFiles(item: Json) {
  return asArray(item.changes).flatMap((change) => {
    const fields = asObject(change)
    const moved = asObject(fields?.kind)?.move_path
    return [asText(fields?.path), asText(moved)].filter((path) => path !== undefined)
  })
}

/** Codex reports a command as the argument of a shell. */
export function unwrapShellCommand(reported: unknown): string | undefined {
  const text = asText(reported)
  // Text too long to split is returned unchanged.
  if (text === undefined || text.length > MAX_COMMAND_LENGTH) return text
  const [only, ...others] = shellCommands(text)
  const [, option, script] = only?.words ?? []
  const isShell =
    others.length === 0 && only?.words.length === 3 && SHELLS.has(programOf(only.words))
  return isShell && /^-l?c$/.test(option ?? '') ? script : text
}

const MAX_COMMAND_LENGTH = 32_768
const SHELLS = new Set(['bash', 'sh', 'zsh', 'dash', 'ksh'])

interface ApprovalRequest {
  readonly requests: readonly PermissionRequest[]
  readonly respond: (isAllowed: boolean) => Json
}

export function parseApprovalRequest(
  method: string,
  params: Json,
  changedPaths: readonly string[],
): ApprovalRequest | undefined {
  const read = Object.hasOwn(APPROVAL_READERS, method) ? APPROVAL_READERS[method]! : undefined
  return read?.(params, changedPaths)
}

const APPROVAL_READERS: Readonly<
  Record<string, (params: Json, changedPaths: readonly string[]) => ApprovalRequest>
> = {
  'item/commandExecution/requestApproval': (params) => {
    const command = unwrapShellCommand(params.command)
    const isInput = params.kind === 'writeStdin'
    const reason = asText(params.reason)
    const title = approvalTitle(
      isInput ? 'write to the input of' : 'run',
      command ?? reason ?? 'a command',
    )
    // Input to a running command is not covered by the command's approval.
    return {
      requests: [
        {
          tool: 'exec_command',
          title,
          ...(isInput ? {} : defined({ command, cwd: asText(params.cwd) })),
        },
      ],
      respond: decision,
    }
  },
  'item/fileChange/requestApproval': (params, changedPaths) => {
    const paths = changedPaths.length > 0 ? changedPaths : [undefined]
    const requests = paths.map((path) => ({
      tool: 'apply_patch',
      title: approvalTitle('edit', path ?? asText(params.reason) ?? 'a file'),
      ...defined({ path }),
    }))
    return { requests, respond: decision }
  },
  'item/permissions/requestApproval': (params) => ({
    requests: [
      {
        tool: 'request_permissions',
        title: approvalTitle('get more permissions:', asText(params.reason) ?? 'no reason given'),
      },
    ],
    respond: (isAllowed) => ({
      permissions: isAllowed ? granted(params.permissions) : {},
      scope: 'turn',
    }),
  }),
  'mcpServer/elicitation/request': (params) => {
    const server = asText(params.serverName) ?? 'a server'
    const request = {
      tool: server,
      title: approvalTitle(`answer ${server}:`, asText(params.message) ?? 'a question'),
    }
    const respond = (isAllowed: boolean) => ({
      action: isAllowed ? 'accept' : 'decline',
      content: isAllowed ? {} : null,
      _meta: null,
    })
    return { requests: [request], respond }
  },
}

function decision(isAllowed: boolean) {
  return { decision: isAllowed ? 'accept' : 'decline' }
}

function granted(wanted: unknown) {
  return Object.fromEntries(
    Object.entries(asObject(wanted) ?? {}).filter(([, value]) => value !== null),
  )
}

function approvalTitle(verb: string, subject: string) {
  return shorten(oneLine(`${verb} ${subject}`), 200)
}
