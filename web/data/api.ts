// Every request the page sends to its server.
import type {
  BacklogTasks,
  ConversationList,
  ConversationPage,
  DelegateActionResult,
  DelegatePage,
  DelegateRow,
  EntryList,
  HandoffPage,
  LedgerReport,
  Problem,
  PromptEvent,
  PromptRequest,
  PublicHandoff,
  PublicTask,
  PublicWorkflow,
  RunPage,
  RunRow,
  RunningPrompt,
  SearchResults,
  ServerOverview,
  SessionList,
  SessionPage,
  StartedPrompt,
  TokenCurveData,
  UsageReport,
  WorkflowRow,
} from '../../src/serve/contract.ts'
import { currentProject } from './router.ts'
import { ApiFailure } from './failure.ts'
import { defined } from '../../src/text/defined.ts'

type Values = Readonly<Record<string, string | number | undefined>>

const UNREACHABLE: Problem = {
  code: 'unreachable',
  message: 'The server does not answer.',
  hint: 'Start it again with `stint serve`. This page goes on by itself when it is back.',
}

async function request<T>(path: string, values: Values, init: RequestInit): Promise<T> {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...values, project: currentProject() }))
    if (value !== undefined && value !== '') query.set(name, String(value))
  const text = query.size === 0 ? '' : `?${query}`
  let response: Response
  try {
    response = await fetch(`/api/${path}${text}`, { ...init, credentials: 'same-origin' })
  } catch (error) {
    if (init.signal?.aborted === true) throw error
    throw new ApiFailure(UNREACHABLE, 0)
  }
  if (!response.ok) throw new ApiFailure(await problemOf(response), response.status)
  return (await response.json()) as T
}

async function problemOf(response: Response): Promise<Problem> {
  const body: unknown = await response.json().catch(() => undefined)
  if (typeof body === 'object' && body !== null && 'code' in body && 'message' in body)
    return body as Problem
  return { code: 'unknown', message: `The server answered ${response.status} and did not say why.` }
}

const get = <T>(path: string, values: Values = {}, signal?: AbortSignal) =>
  request<T>(path, values, signal === undefined ? {} : { signal })

const post = <T>(path: string, body: unknown = {}) =>
  request<T>(
    path,
    {},
    { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
  )

const segment = encodeURIComponent

export interface SessionQuery {
  readonly status?: string
  readonly text?: string
  readonly name?: string
  readonly branch?: string
  readonly sort?: string
  readonly offset?: number
  readonly limit?: number
}

export const api = {
  overview: (signal?: AbortSignal) => get<ServerOverview>('overview', {}, signal),
  sessions: (query: SessionQuery, signal?: AbortSignal) =>
    get<SessionList>('sessions', { ...query }, signal),
  session: (id: string, signal?: AbortSignal) =>
    get<SessionPage>(`sessions/${segment(id)}`, {}, signal),
  entries: (
    id: string,
    at: { from?: number; before?: number; limit?: number },
    signal?: AbortSignal,
  ) => get<EntryList>(`sessions/${segment(id)}/entries`, at, signal),
  conversations: (at: { offset: number; limit: number }, signal?: AbortSignal) =>
    get<ConversationList>('conversations', at, signal),
  conversation: (
    id: string,
    at: { from: number; limit: number; known?: number },
    signal?: AbortSignal,
  ) => get<ConversationPage>(`conversations/${segment(id)}`, at, signal),
  curve: (id: string, signal?: AbortSignal) =>
    get<TokenCurveData>(`conversations/${segment(id)}/curve`, {}, signal),
  search: (text: string, limit: number, signal?: AbortSignal) =>
    get<SearchResults>('search', { text, limit }, signal),
  runs: (signal?: AbortSignal) => get<readonly RunRow[]>('runs', {}, signal),
  run: (id: string, signal?: AbortSignal) => get<RunPage>(`runs/${segment(id)}`, {}, signal),
  delegates: (signal?: AbortSignal) => get<readonly DelegateRow[]>('delegates', {}, signal),
  delegate: (id: string, signal?: AbortSignal) =>
    get<DelegatePage>(`delegates/${segment(id)}`, {}, signal),
  moveDelegate: (id: string, how: 'merge' | 'stop' | 'retry' | 'discard') =>
    post<DelegateActionResult>(`delegates/${segment(id)}/${how}`),
  workflows: (signal?: AbortSignal) => get<readonly WorkflowRow[]>('workflows', {}, signal),
  decideWorkflow: (session: string, how: 'approve' | 'reject', note?: string) =>
    post<PublicWorkflow>(
      `workflows/${segment(session)}/${how}`,
      note === undefined ? {} : { note },
    ),
  tasks: (signal?: AbortSignal) => get<BacklogTasks>('tasks', {}, signal),
  addTask: (task: { title: string } & Partial<PublicTask>) => post<PublicTask>('tasks', task),
  moveTask: (id: string, status: PublicTask['status'], note?: string) =>
    post<PublicTask>(`tasks/${segment(id)}/status`, { status, ...defined({ note }) }),
  handoffs: (signal?: AbortSignal) => get<readonly PublicHandoff[]>('handoffs', {}, signal),
  handoff: (id: string, signal?: AbortSignal) =>
    get<HandoffPage>(`handoffs/${segment(id)}`, {}, signal),
  usage: (days: number, signal?: AbortSignal) => get<UsageReport>('usage', { days }, signal),
  ledger: (of: { session?: string; days?: number }, signal?: AbortSignal) =>
    get<LedgerReport>('ledger', of, signal),
  runningPrompts: (session: string, signal?: AbortSignal) =>
    get<readonly RunningPrompt[]>('prompts', { session }, signal),
  startPrompt: (request: PromptRequest) => post<StartedPrompt>('prompts', request),
  answerPermission: (prompt: string, request: string, isAllowed: boolean) =>
    post<unknown>(`prompts/${segment(prompt)}/permission`, { request, isAllowed }),
  interruptPrompt: (prompt: string) => post<unknown>(`prompts/${segment(prompt)}/interrupt`),
  promptEvents: (prompt: string, after: number, signal?: AbortSignal) =>
    get<readonly PromptEvent[]>(`prompts/${segment(prompt)}/events`, { after }, signal),
} as const
