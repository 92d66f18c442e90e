// Whether the MCP server answers, found out by starting it as an agent program does.
import { spawn } from 'node:child_process'
import { MCP_SERVER } from '../../setup/mcp-command.ts'
import type { Surroundings } from './places.ts'
import { isObject } from './settings.ts'

export interface ServerAnswer {
  readonly isWell: boolean
  /** Its name and version, or what is wrong. */
  readonly said: string
}

const LIMIT_MS = 10_000

const GREETING = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'stint setup', version: '1' },
  },
}

/** Greets it, and lets it end. */
export function probeServer(
  { command, args }: { readonly command: string; readonly args: readonly string[] },
  { root, env }: Surroundings,
  limitMs = LIMIT_MS,
): Promise<ServerAnswer> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...env, CLAUDE_PROJECT_DIR: root },
      stdio: 'pipe',
    })
    let [output, errors] = ['', '']
    let answer: ServerAnswer | undefined
    const deadline = setTimeout(() => {
      answer ??= { isWell: false, said: `nothing within ${limitMs / 1000} seconds` }
      child.kill('SIGKILL')
      // What it started may hold its output open.
      child.stdout.destroy()
      child.stderr.destroy()
    }, limitMs)
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (answer !== undefined || !output.includes('\n')) return
      answer = answerIn(output.slice(0, output.indexOf('\n')))
      child.stdin.end()
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
    // One that is gone before it was greeted is known by its end.
    child.stdin.on('error', () => undefined)
    child.once('error', (error) => {
      answer ??= { isWell: false, said: error.message }
    })
    child.once('close', (code) => {
      clearTimeout(deadline)
      const last = `${output}${errors}`.trim().split('\n').at(-1)!.slice(0, 200)
      resolve(
        answer ?? {
          isWell: false,
          said: `it ended with ${code ?? 'a signal'}${last === '' ? '' : `, saying: ${last}`}`,
        },
      )
    })
    child.stdin.write(`${JSON.stringify(GREETING)}\n`)
  })
}

function answerIn(line: string): ServerAnswer {
  const { name, version } = serverInfo(line)
  if (name !== MCP_SERVER) return { isWell: false, said: `it said: ${line.slice(0, 200)}` }
  // What stands in for a Stint that is not there.
  return version === '0'
    ? { isWell: false, said: 'it finds no Stint' }
    : { isWell: true, said: `${name} ${String(version)}` }
}

function serverInfo(line: string): Readonly<Record<string, unknown>> {
  try {
    const message: unknown = JSON.parse(line)
    const result = isObject(message) ? message.result : undefined
    const info = isObject(result) ? result.serverInfo : undefined
    return isObject(info) ? info : {}
  } catch {
    // No protocol at all, which the caller shows.
    return {}
  }
}
