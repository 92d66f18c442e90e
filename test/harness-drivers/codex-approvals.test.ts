import { describe, expect, test } from 'vitest'
import {
  unwrapShellCommand,
  parseApprovalRequest,
} from '../../src/harness/codex/drive/translator.ts'

const at = { threadId: 't', turnId: 'u', itemId: 'call_1_0', startedAtMs: 1 }

describe('an approval request of Codex', () => {
  test('is for the command that the model asked for, and is accepted or declined', () => {
    const params = {
      kind: 'command',
      ...at,
      environmentId: 'local',
      command: "/bin/bash -lc 'git status'",
      cwd: '/project',
    }
    const question = parseApprovalRequest('item/commandExecution/requestApproval', params, [])
    expect(question?.requests).toEqual([
      { tool: 'exec_command', title: 'run git status', command: 'git status', cwd: '/project' },
    ])
    expect(question?.respond(true)).toEqual({ decision: 'accept' })
    // The turn continues: the model gets the refusal and may do without.
    expect(question?.respond(false)).toEqual({ decision: 'decline' })
  })

  test('is not allowed for input to a running command that was allowed before', () => {
    const params = { kind: 'writeStdin', ...at, command: "/bin/bash -lc 'git status'" }
    const [request] = parseApprovalRequest(
      'item/commandExecution/requestApproval',
      params,
      [],
    )!.requests
    expect(request).toEqual({ tool: 'exec_command', title: 'write to the input of git status' })
  })

  test('is for each file of a patch', () => {
    const question = parseApprovalRequest(
      'item/fileChange/requestApproval',
      { ...at, reason: null, grantRoot: null },
      ['/p/a', '/p/b'],
    )
    expect(question?.requests.map(({ path }) => path)).toEqual(['/p/a', '/p/b'])
    expect(question?.respond(true)).toEqual({ decision: 'accept' })
  })

  test('can be declined even when the files are unknown', () => {
    const question = parseApprovalRequest('item/fileChange/requestApproval', at, [])
    expect(question?.requests).toEqual([{ tool: 'apply_patch', title: 'edit a file' }])
  })

  test('grants exactly the requested permissions, or none', () => {
    const permissions = { network: { enabled: true }, fileSystem: null }
    const question = parseApprovalRequest(
      'item/permissions/requestApproval',
      { ...at, cwd: '/p', reason: 'fetch', permissions },
      [],
    )
    expect(question?.respond(true)).toEqual({
      permissions: { network: { enabled: true } },
      scope: 'turn',
    })
    expect(question?.respond(false)).toEqual({ permissions: {}, scope: 'turn' })
  })

  test('of an MCP server is accepted or declined too', () => {
    const params = {
      threadId: 't',
      turnId: null,
      serverName: 'github',
      mode: 'form',
      message: 'Allow search?',
      requestedSchema: {},
    }
    const question = parseApprovalRequest('mcpServer/elicitation/request', params, [])
    expect(question?.requests).toEqual([{ tool: 'github', title: 'answer github: Allow search?' }])
    expect(question?.respond(false)).toMatchObject({ action: 'decline' })
  })

  test('has a title of one line', () => {
    const params = { kind: 'command', ...at, command: "/bin/bash -lc 'echo a\n\u001B[31mecho b'" }
    const [request] = parseApprovalRequest(
      'item/commandExecution/requestApproval',
      params,
      [],
    )!.requests
    expect(request!.title).toBe('run echo a echo b')
  })

  test.each(['item/tool/call', 'account/chatgptAuthTokens/refresh', 'constructor'])(
    'is not %s',
    (method) => {
      expect(parseApprovalRequest(method, {}, [])).toBeUndefined()
    },
  )
})

describe('a command reported by Codex', () => {
  // Quoted as Codex does it.
  test.each([
    ['/bin/bash -lc ls', 'ls'],
    ["/bin/bash -lc 'echo hi; exit 3'", 'echo hi; exit 3'],
    [
      '/bin/bash -c \'echo $PATH; env | grep "STINT\'"\\\\|STUB\\"; shopt login_shell"',
      'echo $PATH; env | grep "STINT\\|STUB"; shopt login_shell',
    ],
    ['/bin/bash -lc "node -e \'require(\\"net\\")\'"', 'node -e \'require("net")\''],
    ['/usr/bin/zsh -lc true', 'true'],
    ['git status', 'git status'],
    ['bash -lc a b', 'bash -lc a b'],
    ['bash -lc a; rm x', 'bash -lc a; rm x'],
    ['python -c 1', 'python -c 1'],
  ])('%j is %j', (reported, command) => {
    expect(unwrapShellCommand(reported)).toBe(command)
  })

  test('that is too long to split is kept as it is', () => {
    const reported = `/bin/bash -lc '${'x'.repeat(40_000)}; rm -rf .'`
    expect(unwrapShellCommand(reported)).toBe(reported)
  })
})
