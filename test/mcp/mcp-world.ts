// A project, the built program serving it, and the official client.
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { readLog } from '../../src/journal/read-log.ts'
import { type Project, openProject } from '../../src/core.ts'
import { program } from '../support/cli.ts'
import { initRepository, git, temporaryFolder } from '../support/scratch.ts'

export interface ToolResponse {
  readonly isError?: boolean
  readonly value: Record<string, never>
  readonly text: string
}

export class McpWorld {
  readonly folder = temporaryFolder()
  readonly cwd = join(this.folder, 'project')
  readonly env: Record<string, string> = {
    PATH: process.env['PATH']!,
    HOME: this.folder,
    STINT_STATE_HOME: join(this.folder, 'state'),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
  }
  readonly #clients: Client[] = []

  constructor() {
    mkdirSync(this.cwd)
    initRepository(this.cwd)
    writeFileSync(join(this.cwd, 'readme.txt'), 'a project\n')
    git(this.cwd, 'add', '.')
    git(this.cwd, 'commit', '-qm', 'start')
  }

  /** The library in the same project, for what the tools cannot do. */
  async library<T>(work: (project: Project) => Promise<T>, cwd = this.cwd): Promise<T> {
    const project = openProject(cwd, { env: {} })
    try {
      return await work(project)
    } finally {
      project.dispose()
    }
  }

  stint(...args: readonly string[]): string {
    return execFileSync(process.execPath, [program, ...args], {
      cwd: this.cwd,
      env: this.env,
      encoding: 'utf8',
    })
  }

  async connect(
    options: ConnectOptions = {},
  ): Promise<{ client: Client; transport: StdioClientTransport; call: CallTool }> {
    const { env = {}, cwd = this.cwd, args = [], roots, mode = 'legacy' } = options
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program, 'mcp', ...args],
      cwd,
      env: { ...this.env, ...env },
      stderr: 'ignore',
    })
    const client = new Client(
      { name: 'test', version: '1.0.0' },
      {
        versionNegotiation: { mode },
        ...(roots === undefined ? {} : { capabilities: { roots: {} } }),
      },
    )
    if (roots !== undefined)
      client.setRequestHandler('roots/list', () => ({ roots: roots.map((uri) => ({ uri })) }))
    await client.connect(transport)
    this.#clients.push(client)
    const call: CallTool = async (name, args = {}, options = {}) => {
      const result = await client.callTool({ name, arguments: args }, options)
      const [first] = result.content as readonly { type: string; text: string }[]
      return {
        ...(result.isError === true ? { isError: true } : {}),
        value: result.structuredContent as Record<string, never>,
        text: first!.text,
      }
    }
    return { client, transport, call }
  }

  /** The journalled entries of one kind. */
  journalled(session: string, kind: string): readonly Readonly<Record<string, unknown>>[] {
    const log = readLog(join(this.cwd, '.sessions', 'journal', session, 'log.jsonl'))
    return log.records
      .filter((entry) => entry.kind === kind)
      .map(({ data, by }) => ({ ...data, by }))
  }

  async remove(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()))
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  }

  /** The program driven directly by the test. */
  startProgram(env: Readonly<Record<string, string>> = {}) {
    const child = spawn(process.execPath, [program, 'mcp'], {
      cwd: this.cwd,
      env: { ...this.env, ...env },
    })
    const lines: string[] = []
    let errors = ''
    const waiting: (() => void)[] = []
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line)
      for (const wake of waiting.splice(0)) wake()
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text
      for (const wake of waiting.splice(0)) wake()
    })
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    return {
      child,
      lines,
      ended,
      errors: () => errors,
      send: (message: unknown) =>
        child.stdin.write(typeof message === 'string' ? message : `${JSON.stringify(message)}\n`),
      until: async (isDone: () => boolean) => {
        while (!isDone())
          await Promise.race([new Promise<void>((resolve) => waiting.push(resolve)), ended])
      },
    }
  }
}

interface ConnectOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly args?: readonly string[]
  readonly roots?: readonly string[]
  readonly mode?: 'legacy' | 'auto'
}

type CallTool = (
  name: string,
  args?: Record<string, unknown>,
  options?: { signal?: AbortSignal },
) => Promise<ToolResponse>

export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'bare', version: '1' },
  },
}
