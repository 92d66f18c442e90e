import { stateHome } from '../../../journal/state-home.ts'
import type { HookProbe, ServerProbe, ProjectEnvironment } from '../../contract/setup.ts'
import { type SpawnSyncOptions, spawn, spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { asObject, parseJson } from '../../../text/json-fields.ts'
import { createFolder, removeTree, replaceUnsynced } from '../../../journal/write-files.ts'
import { readOrUndefined, statOrUndefined } from '../../../journal/read-files.ts'
import { randomHex } from '../../../journal/ids.ts'
import { AFTER_COMMAND, HOOK_COMMAND, PROBE_ANSWER, PROBE_EVENT } from '../../setup/hook-command.ts'
import { type HookProgram, MCP_SERVER, launcherPath, parseLauncher } from '../../setup/launcher.ts'

const HOOK_TIMEOUT_MS = 5000

export function probeHookCommand(project: ProjectEnvironment): HookProbe {
  const event = { hook_event_name: PROBE_EVENT, session_id: '', cwd: project.root }
  // Reports the command that fails, if one does.
  const results = [HOOK_COMMAND, AFTER_COMMAND].map((command) =>
    shell(command, project, JSON.stringify(event)),
  )
  const result = results.find(({ stdout }) => stdout.trim() !== PROBE_ANSWER) ?? results[0]!
  const launched = parseLauncher(
    readOrUndefined(launcherPath(stateHome(project.env)))?.toString('utf8') ?? '',
  )
  const outcome = { exitCode: result.status, output: `${result.stdout}${result.stderr}`.trim() }
  const isFound = launched !== undefined && isFile(launched.node) && isFile(launched.hook)
  return { program: isFound ? launched.hook : null, ...outcome }
}

function shell(command: string, { root, env }: ProjectEnvironment, input: string) {
  return spawnSync('sh', ['-c', command], {
    cwd: root,
    env: { ...env, CLAUDE_PROJECT_DIR: root },
    input,
    encoding: 'utf8',
    timeout: HOOK_TIMEOUT_MS,
  })
}

function isFile(path: string) {
  return statOrUndefined(path)?.isFile() === true
}

const SERVER_TIMEOUT_MS = 10_000

const INITIALIZE_REQUEST = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'stint setup', version: '1' },
  },
}

export function probeServer(
  { command, args }: { readonly command: string; readonly args: readonly string[] },
  { root, env }: ProjectEnvironment,
  limitMs = SERVER_TIMEOUT_MS,
): Promise<ServerProbe> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...env, CLAUDE_PROJECT_DIR: root },
      stdio: 'pipe',
    })
    let [output, errors] = ['', '']
    let probe: ServerProbe | undefined
    const deadline = setTimeout(() => {
      probe ??= { isWell: false, said: `nothing within ${limitMs / 1000} seconds` }
      child.kill('SIGKILL')
      // Its child processes may hold its output open.
      child.stdout.destroy()
      child.stderr.destroy()
    }, limitMs)
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (probe !== undefined || !output.includes('\n')) return
      probe = parseServerInfo(output.slice(0, output.indexOf('\n')))
      child.stdin.end()
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
    // An early exit is reported by `close`.
    child.stdin.on('error', () => undefined)
    child.once('error', (error) => {
      probe ??= { isWell: false, said: error.message }
    })
    child.once('close', (code) => {
      clearTimeout(deadline)
      const last = `${output}${errors}`.trim().split('\n').at(-1)!.slice(0, 200)
      resolve(
        probe ?? {
          isWell: false,
          said: `it ended with ${code ?? 'a signal'}${last === '' ? '' : `, saying: ${last}`}`,
        },
      )
    })
    child.stdin.write(`${JSON.stringify(INITIALIZE_REQUEST)}\n`)
  })
}

function parseServerInfo(line: string) {
  const { result } = asObject(parseJson(line)) ?? {}
  const { name, version } = asObject(asObject(result)?.serverInfo) ?? {}
  if (name !== MCP_SERVER) return { isWell: false, said: `it said: ${line.slice(0, 200)}` }
  // The empty server, when there is no Stint.
  return version === '0'
    ? { isWell: false, said: 'it finds no Stint' }
    : { isWell: true, said: `${name} ${String(version)}` }
}

export function compiledFolder(stateHome: string): string {
  return join(stateHome, 'compiled')
}

/**
 * Runs every hook once in a scratch project, so that V8's compiled code is ready; failures do not
 * matter.
 */
export function warmUpHooks({ node, hook }: HookProgram, stateHome: string): void {
  // Compiled code of other versions would pile up.
  removeTree(compiledFolder(stateHome))
  const folder = join(tmpdir(), `stint-warm-up-${randomHex(6)}`)
  const cwd = join(folder, 'project')
  try {
    for (const part of ['.git/objects', '.git/refs/heads', 'src']) createFolder(join(cwd, part))
    replaceUnsynced(join(cwd, '.git', 'HEAD'), 'ref: refs/heads/warm-up\n')
    const transcript = join(folder, 'transcript.jsonl')
    replaceUnsynced(
      transcript,
      TRANSCRIPT_LINES.map((line) => `${JSON.stringify(line)}\n`).join(''),
    )
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      STINT_STATE_HOME: join(folder, 'state'),
      STINT_KEEP_COMPILED: compiledFolder(stateHome),
    }
    const options: SpawnSyncOptions = {
      cwd,
      env,
      stdio: ['pipe', 'ignore', 'ignore'],
      timeout: HOOK_TIMEOUT_MS,
    }
    for (const event of eventsIn(cwd)) {
      const common = { session_id: 'warm-up', transcript_path: transcript, cwd }
      const input = JSON.stringify({ ...common, ...event })
      for (const args of [[hook], [hook, 'hook', 'after']]) {
        spawnSync(node, args, { ...options, input })
      }
    }
  } finally {
    removeTree(folder)
  }
}

const tool = (tool_name: string, tool_input: object, tool_response: object = {}) => ({
  hook_event_name: 'PostToolUse',
  tool_name,
  tool_input,
  tool_response,
  tool_use_id: `toolu_${tool_name}`,
})

const prompt = (text: string) => ({ hook_event_name: 'UserPromptSubmit', prompt: text })
const start = (source: string) => ({ hook_event_name: 'SessionStart', source })
const stop = { hook_event_name: 'Stop', last_assistant_message: 'Done.' }

/** The first events need the full handler, the later ones do not. */
const eventsIn = (cwd: string): readonly object[] => [
  tool('Edit', { file_path: join(cwd, 'src', 'a.ts') }),
  start('startup'),
  tool('Write', { file_path: join(cwd, 'src', 'b.ts') }),
  stop,
  start('startup'),
  prompt(
    'Move the handlers of the old server behind the new interface, and keep their tests as they are',
  ),
  prompt('continue'),
  tool('Bash', { command: 'ls -la' }, { stdout: 'a\n' }),
  {
    hook_event_name: 'SubagentStop',
    agent_id: 'a',
    agent_type: 'reviewer',
    last_assistant_message: 'Fine.',
  },
  stop,
  { hook_event_name: 'SessionEnd', reason: 'other' },
  { hook_event_name: 'PreCompact', trigger: 'auto' },
  start('compact'),
]

const TRANSCRIPT_LINES = [
  {
    type: 'user',
    uuid: '1',
    timestamp: '2026-01-01T00:00:00.000Z',
    message: { role: 'user', content: 'Move them' },
  },
  {
    type: 'assistant',
    uuid: '2',
    timestamp: '2026-01-01T00:00:01.000Z',
    message: {
      id: 'm1',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'Moved.' }],
      usage: {
        input_tokens: 10,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 10,
        output_tokens: 5,
      },
    },
  },
]
