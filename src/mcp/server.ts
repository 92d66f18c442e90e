// Stint as an MCP server: what a client asks becomes a call of the library.
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server'
import type { Project } from '../library.ts'
import { publicError } from '../public.ts'
import { type ListRoots, chooseFolder } from './choose-folder.ts'
import { RESOURCE_TEMPLATES, listResources, readResource } from './resources.ts'
import { clipText, clipDeep } from './tools/clip-output.ts'
import { type McpToolResult, checkArguments } from './tools/tool.ts'
import { SERVER_INSTRUCTIONS, MCP_TOOLS, listTools } from './tools.ts'

export interface ServerSettings {
  readonly version: string
  readonly env: NodeJS.ProcessEnv
  /** The folder to work in whatever the client says. */
  readonly project?: string
  readonly startedIn: string
  /** Takes what is wrong with us. */
  readonly reportDefect: (error: unknown) => void
}

/** Clients of the older protocol can be asked for their roots; newer ones start a server where they work. */
export function makeServer(settings: ServerSettings, canAskRoots: boolean): Server {
  const { version, env, reportDefect } = settings
  const server = new Server(
    { name: 'stint', version },
    { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions: SERVER_INSTRUCTIONS },
  )
  let folder: Promise<string> | undefined
  const folderNow = () =>
    (folder ??= chosen(settings, canAskRoots ? rootsOf(server) : async () => undefined))
  server.setNotificationHandler('notifications/roots/list_changed', () => {
    folder = undefined
  })

  /** Opened for one request and let go of afterwards, as the command line does: others write to the same journals. */
  const withProject = async <T>(
    work: (project: Project) => Promise<T>,
    say: (line: string) => void = () => {},
  ): Promise<T> => {
    // Loaded with the first request: a client waits for the answer to its greeting, and often asks for nothing else.
    const { workInProject } = await import('./work-in-project.ts')
    return workInProject(await folderNow(), { env, say }, work)
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
      const answer = await withProject(
        (project) => tool.run({ project, signal }, args as never),
        (line) => notes.push(line),
      )
      return answered(answer, notes)
    } catch (error) {
      return failed(error, reportDefect)
    }
  })
  server.setRequestHandler('resources/list', ({ params }) =>
    saying(() => withProject((project) => listResources(project, params?.cursor))),
  )
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: RESOURCE_TEMPLATES,
  }))
  server.setRequestHandler('resources/read', ({ params }) =>
    saying(() => withProject((project) => readResource(project, params.uri))),
  )
  // Loaded when asked for, as with all that few clients ask for.
  const prompts = () => import('./prompts.ts')
  server.setRequestHandler('prompts/list', async () => ({
    prompts: (await prompts()).listPrompts(),
  }))
  server.setRequestHandler('prompts/get', async ({ params }) =>
    (await prompts()).getPrompt(params.name, params.arguments),
  )

  /** Where there is no result that could say that it is an error, the protocol's own errors have to. */
  async function saying<T>(work: () => Promise<T>): Promise<T> {
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

async function chosen(
  { project, startedIn }: ServerSettings,
  askRoots: ListRoots,
): Promise<string> {
  return project ?? chooseFolder(startedIn, askRoots)
}

/** How long somebody is waited for who said that they can be asked. */
const ROOTS_MS = 5000

function rootsOf(server: Server): ListRoots {
  return async () => {
    if (server.getClientCapabilities()?.roots === undefined) return undefined
    try {
      return (await server.listRoots(undefined, { timeout: ROOTS_MS })).roots
    } catch {
      // A client that does not answer what it said it would: the folder that it started us in has to do.
      return undefined
    }
  }
}

/** More than the longest handoff, and less than any harness refuses. */
const LONGEST_TEXT = 50_000

function answered({ value, text }: McpToolResult, notes: readonly string[]): CallToolResult {
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

/** What went wrong, in words that a model can act on. A defect is told and kept from ending the server. */
function failed(error: unknown, reportDefect: (error: unknown) => void): CallToolResult {
  const told = publicError(error)
  if (told.code === 'DEFECT') reportDefect(error)
  const text = told.hint === undefined ? told.message : `${told.message}\n${told.hint}`
  return { isError: true, content: [{ type: 'text', text }], structuredContent: { error: told } }
}

/** JSON knows no undefined, and the protocol's own check of what is sent takes it for a mistake. */
function withoutUndefined(value: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value)) as Record<string, unknown>
}
