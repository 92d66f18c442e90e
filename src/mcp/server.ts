// The MCP server: each request of a client becomes a call of the library.
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server'
import type { Project } from '../core.ts'
import { publicError } from '../public/projection.ts'
import { type ClientRoot, chooseFolder } from './choose-folder.ts'
import { RESOURCE_TEMPLATES, listResources, readResource } from './resources.ts'
import { clipText, clipDeep } from './tools/clip-output.ts'
import { type McpToolResult, checkArguments } from './tools/tool.ts'
import { SERVER_INSTRUCTIONS, MCP_TOOLS, listTools } from './tools.ts'

export interface ServerSettings {
  readonly version: string
  readonly env: NodeJS.ProcessEnv
  /** The folder to work in, whatever folders the client has open. */
  readonly project?: string
  readonly startedIn: string
  readonly reportDefect: (error: unknown) => void
}

/** Clients of the older protocol can be asked for their roots; newer ones start the server in their folder. */
export function makeServer(settings: ServerSettings, hasRoots: boolean): Server {
  const { version, env, project, startedIn, reportDefect } = settings
  const server = new Server(
    { name: 'stint', version },
    { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions: SERVER_INSTRUCTIONS },
  )
  const findFolder = async () =>
    project ?? chooseFolder(startedIn, hasRoots ? await clientRoots(server) : [])
  let folder: Promise<string> | undefined
  server.setNotificationHandler('notifications/roots/list_changed', () => {
    folder = undefined
  })

  /** Opens the project for one request only, as the command line does, because other processes write to the same journals. */
  const withProject = async <T>(
    work: (project: Project) => Promise<T>,
    onMessage: (line: string) => void = () => {},
  ): Promise<T> => {
    // Loaded with the first request: clients wait for the initialize response, and many send nothing else.
    const { workInProject } = await import('./work-in-project.ts')
    return workInProject(await (folder ??= findFolder()), { env, say: onMessage }, work)
  }

  server.setRequestHandler('tools/list', () => ({ tools: listTools() }))
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq: { signal } }) => {
    const tool = MCP_TOOLS.find(({ name }) => name === params.name)
    if (tool === undefined) {
      const names = MCP_TOOLS.map(({ name }) => name).join(', ')
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `there is no tool ${JSON.stringify(params.name)}; there are ${names}`,
      )
    }
    const notes: string[] = []
    try {
      const args = checkArguments(tool.name, tool.inputSchema, params.arguments)
      const result = await withProject(
        (project) => tool.run({ project, signal }, args as never),
        (line) => notes.push(line),
      )
      return toCallResult(result, notes)
    } catch (error) {
      return toErrorResult(error, reportDefect)
    }
  })
  server.setRequestHandler('resources/list', ({ params }) =>
    withProtocolErrors(() => withProject((project) => listResources(project, params?.cursor))),
  )
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: RESOURCE_TEMPLATES,
  }))
  server.setRequestHandler('resources/read', ({ params }) =>
    withProtocolErrors(() => withProject((project) => readResource(project, params.uri))),
  )
  // Loaded on demand: few clients list prompts.
  const prompts = () => import('./prompts.ts')
  server.setRequestHandler('prompts/list', async () => ({
    prompts: (await prompts()).listPrompts(),
  }))
  server.setRequestHandler('prompts/get', async ({ params }) =>
    (await prompts()).getPrompt(params.name, params.arguments),
  )

  /** Resource requests have no error result, so they fail with a protocol error. */
  async function withProtocolErrors<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof ProtocolError) throw error
      const { code, message, hint } = publicError(error)
      if (code === 'DEFECT') reportDefect(error)
      throw new ProtocolError(
        ProtocolErrorCode.InternalError,
        hint === undefined ? message : `${message}: ${hint}`,
        { code },
      )
    }
  }
  return server
}

const ROOTS_MS = 5000

async function clientRoots(server: Server): Promise<readonly ClientRoot[]> {
  if (server.getClientCapabilities()?.roots === undefined) return []
  try {
    return (await server.listRoots(undefined, { timeout: ROOTS_MS })).roots
  } catch {
    // The client announced roots but does not answer: the folder it started us in is used.
    return []
  }
}

/** More than the longest handoff, and less than any harness rejects. */
const LONGEST_TEXT = 50_000

function toCallResult({ value, text }: McpToolResult, notes: readonly string[]): CallToolResult {
  const structured = notes.length === 0 ? value : { ...value, notes }
  return {
    content: [
      {
        type: 'text',
        text: clipText([text, ...notes.map((note) => `Note: ${note}`)].join('\n'), LONGEST_TEXT),
      },
    ],
    structuredContent: clipDeep(withoutUndefined(structured), LONGEST_TEXT),
  }
}

/** An error as a result that the model can act on. A defect is reported and does not end the server. */
function toErrorResult(error: unknown, reportDefect: (error: unknown) => void): CallToolResult {
  const problem = publicError(error)
  if (problem.code === 'DEFECT') reportDefect(error)
  const text = problem.hint === undefined ? problem.message : `${problem.message}\n${problem.hint}`
  return { isError: true, content: [{ type: 'text', text }], structuredContent: { error: problem } }
}

/** The SDK's validation of results rejects undefined. */
function withoutUndefined(value: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown>
}
