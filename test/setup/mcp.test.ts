import { execFileSync, spawn } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { MCP_COMMAND } from '../../src/harness/setup/launcher.ts'
import { program } from '../support/cli.ts'
import { setupWorld } from './world.ts'

/** Its own folders in the state home stay, but are empty. */
function beside(files: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    Object.entries(files).filter(
      ([path, text]) => !(path.startsWith('state') && text === 'folder'),
    ),
  )
}

const SERVERS = { mcpServers: { stint: MCP_COMMAND } }

/** A project with readable settings and servers. */
function world(options: { git?: boolean } = {}) {
  const base = setupWorld(options)
  const file = base.at('.mcp.json')
  return {
    ...base,
    file,
    hasServer: () => existsSync(file) && base.read(file).includes('"stint"'),
    approved: (path = base.local) =>
      (JSON.parse(base.read(path)) as { enabledMcpjsonServers?: readonly string[] })
        .enabledMcpjsonServers,
  }
}

describe('stint setup claude', () => {
  test('registers the server in .mcp.json, hidden from git, and removes exactly that', async () => {
    const { stint, at, read, status, everything } = setupWorld()
    const before = everything()
    const shown = await stint('setup', 'claude', '--dry-run')
    expect(shown.stdout).toContain('+++ .mcp.json')
    expect(everything()).toEqual(before)
    await stint('setup', 'claude')
    expect(JSON.parse(read(at('.mcp.json')))).toEqual(SERVERS)
    expect(status()).toBe('')
    const after = everything()
    for (const flags of [['--mcp'], []])
      expect((await stint('setup', 'claude', ...flags)).stdout).toContain('nothing changed')
    expect(everything()).toEqual(after)
    await stint('setup', 'claude', '--remove')
    expect(beside(everything())).toEqual(beside(before))
  })

  test.each([
    ['with servers', '{\n\t"mcpServers": {\n\t\t"other":   {"command": "x"}\n\t},\n\t"more": 1\n}'],
    ['without servers', '{ "more": [1,  2] }\r\n'],
    ['with an empty list', '\uFEFF{"mcpServers":{}}'],
    ['that is empty', ''],
  ])('for a team leaves every other byte of a file %s unchanged', async (_name, text) => {
    const { stint, at, read, write } = setupWorld()
    write(at('.mcp.json'), text)
    await stint('setup', 'claude', '--shared')
    const servers = JSON.parse(read(at('.mcp.json')).replace(/^\uFEFF/, '')) as typeof SERVERS
    expect(servers.mcpServers.stint).toEqual(MCP_COMMAND)
    await stint('setup', 'claude', '--shared', '--remove')
    expect(read(at('.mcp.json'))).toBe(text)
  })

  test('for one user does not touch a foreign file and prints the next step, unless --mcp is set', async () => {
    const { stint, file, read, write, status, approved } = world()
    const theirs = '{"mcpServers":{}}'
    write(file, theirs)
    const ran = await stint('setup', 'claude')
    expect(ran).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/no MCP server: .*--mcp .*--shared/),
    })
    expect(read(file)).toBe(theirs)
    expect(approved()).toBeUndefined()
    expect((await stint('setup', 'claude', '--mcp')).stdout).toContain('git may see')
    expect(read(file)).toContain('launcher')
    expect(approved()).toEqual(['stint'])
    expect((await stint('setup', 'claude')).stdout).toContain('nothing changed')
    await stint('setup', 'claude', '--remove')
    expect(read(file)).toBe(theirs)
    expect(status()).toBe('?? .mcp.json\n')
  })

  test('does not touch a foreign server of this name', async () => {
    const { stint, file, read, write, approved } = world()
    const theirs = '{"mcpServers":{"stint":{"command":"theirs"}}}'
    write(file, theirs)
    for (const flags of [[], ['--mcp'], ['--shared']]) {
      expect((await stint('setup', 'claude', ...flags)).stdout).toContain('that is not ours')
    }
    expect(approved()).toBeUndefined()
    for (const flags of [['--no-mcp'], ['--remove'], ['--shared', '--remove']])
      await stint('setup', 'claude', ...flags)
    expect(read(file)).toBe(theirs)
  })

  test.each(['{"mcpServers":', '{"mcpServers":[]}', Buffer.from([0x7b, 0xe9, 0x7d])])(
    'registers hooks despite an unreadable server file, which --mcp refuses: %s',
    async (text) => {
      const { stint, file, write, everything, local } = world()
      write(file, text)
      const before = everything()
      const refused = await stint('setup', 'claude', '--mcp')
      expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('.mcp.json') })
      expect(everything()).toEqual(before)
      const ran = await stint('setup', 'claude')
      expect(ran).toMatchObject({
        exitCode: 0,
        stdout: expect.stringContaining(`no MCP server: ${file} cannot be read`),
      })
      expect(existsSync(local)).toBe(true)
      expect((await stint('setup', 'claude', '--remove')).exitCode).toBe(0)
      expect(beside(everything())).toEqual(beside(before))
    },
  )

  test('leaves the shared server to the team', async () => {
    const { stint, file, read } = world()
    await stint('setup', 'claude', '--shared')
    const shared = read(file)
    await stint('setup', 'claude')
    await stint('setup', 'claude', '--remove')
    expect(read(file)).toBe(shared)
    await stint('setup', 'claude', '--shared', '--remove')
    expect(existsSync(file)).toBe(false)
    // And what was local before it was shared.
    for (const flags of [[], ['--shared']]) await stint('setup', 'claude', ...flags)
    await stint('setup', 'claude', '--remove')
    expect(read(file)).toBe(shared)
    await stint('setup', 'claude', '--shared', '--remove')
    expect(existsSync(file)).toBe(false)
    // And the other way round.
    for (const flags of [[], ['--shared'], ['--shared', '--remove']])
      await stint('setup', 'claude', ...flags)
    expect(read(file)).toBe(shared)
    await stint('setup', 'claude', '--remove')
    expect(existsSync(file)).toBe(false)
  })

  test('does not touch a file that it created and that git tracks now', async () => {
    const { stint, file, read, write, git, approved } = world()
    await stint('setup', 'claude')
    const teams = read(file).replace('"command": "sh"', '"command": "sh", "timeout": 5')
    write(file, teams)
    git('add', '--force', '.mcp.json')
    expect((await stint('setup', 'claude')).stdout).toContain('--shared brings it up to date')
    expect(approved()).toEqual(['stint'])
    expect((await stint('setup', 'claude', '--no-mcp')).stdout).toContain('the MCP server stays')
    await stint('setup', 'claude', '--remove')
    expect(read(file)).toBe(teams)
    write(file, '{"mcpServers":{"theirs":{}}}')
    expect((await stint('setup', 'claude')).stdout).toContain('no MCP server')
    expect(read(file)).toBe('{"mcpServers":{"theirs":{}}}')
  })

  test('for every project prints the command that adds the server, and refuses --mcp', async () => {
    const { stint, everything } = world()
    const added = `claude mcp add --scope user stint -- ${process.execPath} ${program} mcp`
    expect((await stint('setup', 'claude', '--user')).stdout).toContain(added)
    expect((await stint('setup', 'claude', '--user', '--no-mcp')).stdout).not.toContain(added)
    const before = everything()
    expect((await stint('setup', 'claude', '--user', '--mcp')).stderr).toContain(
      'stint setup claude --user prints the command',
    )
    expect((await stint('setup', 'claude', '--mcp', '--no-mcp')).exitCode).toBe(2)
    expect(everything()).toEqual(before)
  })

  test('adds it to a plugin, and removes it with or without the plugin', async () => {
    const { stint, at, read, everything } = setupWorld()
    const before = everything()
    await stint('setup', 'claude', '--plugin', 'market')
    expect(JSON.parse(read(at('market', 'stint', '.mcp.json')))).toEqual(SERVERS)
    expect((await stint('setup', 'claude', '--plugin', 'market')).stdout).toContain(
      'nothing changed',
    )
    await stint('setup', 'claude', '--plugin', 'market', '--no-mcp')
    expect(existsSync(at('market', 'stint', '.mcp.json'))).toBe(false)
    await stint('setup', 'claude', '--plugin', 'market', '--remove')
    expect(beside(everything())).toEqual(beside(before))
  })

  test('recognises its own server by content when the manifest is gone', async () => {
    const { stint, file, folder } = world()
    await stint('setup', 'claude')
    rmSync(join(folder, 'state'), { recursive: true })
    await stint('setup', 'claude', '--remove')
    expect(existsSync(file)).toBe(false)
    // What may belong to the team is not claimed by a local removal.
    await stint('setup', 'claude', '--shared')
    rmSync(join(folder, 'state'), { recursive: true })
    await stint('setup', 'claude', '--remove')
    expect(existsSync(file)).toBe(true)
  })
})

describe('stint setup claude --no-mcp', () => {
  test.each([[[]], [['--shared']]])(
    'with %j leaves the server out, and removes what a setup added',
    async (flags) => {
      const { stint, everything, hasServer } = world()
      const before = everything()
      await stint('setup', 'claude', '--no-mcp', ...flags)
      expect(hasServer()).toBe(false)
      const without = everything()
      await stint('setup', 'claude', ...flags)
      expect(hasServer()).toBe(true)
      await stint('setup', 'claude', '--no-mcp', ...flags)
      expect(everything()).toEqual(without)
      await stint('setup', 'claude', '--remove', ...flags)
      expect(beside(everything())).toEqual(beside(before))
    },
  )

  test('keeps what others added to the file since, visible to git', async () => {
    const { stint, file, read, write, status } = world()
    await stint('setup', 'claude')
    write(file, read(file).replace('"mcpServers": {', '"mcpServers": { "theirs": {},'))
    await stint('setup', 'claude', '--no-mcp')
    expect(JSON.parse(read(file))).toEqual({ mcpServers: { theirs: {} } })
    expect(status()).toBe('?? .mcp.json\n')
    await stint('setup', 'claude', '--remove')
    expect(existsSync(file)).toBe(true)
  })

  test('of one setup leaves the server to the other', async () => {
    const { stint, file, write, local } = world()
    // Only the manifest changes then.
    write(local, '{ "enableAllProjectMcpServers": true }')
    for (const flags of [[], ['--shared']])
      await stint('setup', 'claude', '--no-status-line', ...flags)
    const ran = await stint('setup', 'claude', '--no-status-line', '--no-mcp')
    expect(ran.stdout).toContain(`the MCP server stays: ${file}`)
    expect(existsSync(file)).toBe(true)
    await stint('setup', 'claude', '--shared', '--remove')
    expect(existsSync(file)).toBe(false)
  })
})

describe('the approval of the server', () => {
  test('is set for the user who sets it up locally, and for no one else', async () => {
    const { stint, approved, shared, user } = world()
    await stint('setup', 'claude')
    expect(approved()).toEqual(['stint'])
    for (const flags of [['--shared'], ['--user']]) await stint('setup', 'claude', ...flags)
    expect(approved(shared)).toBeUndefined()
    expect(approved(user)).toBeUndefined()
    await stint('setup', 'claude', '--no-mcp')
    expect(approved()).toBeUndefined()
  })

  test.each([
    ['a list', '{\n\t"enabledMcpjsonServers": [\n\t\t"other"\n\t]\n}', ['other', 'stint']],
    ['an empty list', '{ "enabledMcpjsonServers": [ ] }', ['stint']],
    ['no list', '{"model":"opus"}', ['stint']],
    ['the approval already', '{ "enabledMcpjsonServers": ["stint", "other"] }', ['stint', 'other']],
  ])(
    'keeps every byte of settings with %s, and a removal restores them',
    async (_, settings, list) => {
      const { stint, write, read, local, approved } = world()
      write(local, settings)
      await stint('setup', 'claude')
      expect(approved()).toEqual(list)
      await stint('setup', 'claude', '--remove')
      expect(read(local)).toBe(settings)
      // Even after the user edited them.
      await stint('setup', 'claude')
      write(local, read(local).replace('{', '{ "theirs": 1,'))
      await stint('setup', 'claude', '--remove')
      expect(JSON.parse(read(local))).toEqual({ theirs: 1, ...(JSON.parse(settings) as object) })
    },
  )

  test.each([
    ['local', '{ "disabledMcpjsonServers": ["stint"] }', true],
    ['user', '{ "disabledMcpjsonServers": ["stint"] }', true],
    ['user', '{ "enableAllProjectMcpServers": true }', false],
    ['shared', '{ "enableAllProjectMcpServers": false }', false],
    ['local', '{ "enabledMcpjsonServers": "odd" }', false],
  ] as const)(
    'is not set where the user has decided, in %s settings: %s',
    async (scope, settings, isRefused) => {
      const base = world()
      base.write(base[scope], settings)
      const ran = await base.stint('setup', 'claude')
      expect(ran.stdout.includes(`the MCP server stays off: ${base[scope]} refuses it`)).toBe(
        isRefused,
      )
      expect(base.approved() ?? []).not.toContain('stint')
      await base.stint('setup', 'claude', '--remove')
      expect(base.read(base[scope])).toBe(settings)
    },
  )

  test('that may not be ours stays, and setup reports it', async () => {
    const { stint, approved, folder, write, local } = world()
    write(local, '{ "model": "opus" }')
    await stint('setup', 'claude')
    rmSync(join(folder, 'state'), { recursive: true })
    expect((await stint('setup', 'claude', '--remove')).stdout).toContain(
      'left alone: the approval of the MCP server',
    )
    expect(approved()).toEqual(['stint'])
  })
})

describe('stint setup codex', () => {
  test('registers the server in .codex/config.toml, and removes exactly that beside a Claude Code setup', async () => {
    const { stint, at, read, status, everything } = setupWorld()
    await stint('setup', 'claude')
    const before = everything()
    expect((await stint('setup', 'codex', '--dry-run')).stdout).toContain('+[mcp_servers.stint]')
    expect(everything()).toEqual(before)
    await stint('setup', 'codex')
    expect(read(at('.codex', 'config.toml'))).toContain('[mcp_servers.stint]\ncommand = "sh"\n')
    expect(status()).toBe('')
    expect((await stint('setup', 'codex')).stdout).toContain('nothing changed')
    await stint('setup', 'codex', '--remove')
    expect(everything()).toEqual(before)
  })

  test('keeps other settings, and refuses a second table of this name', async () => {
    const { stint, at, read, write } = setupWorld()
    const path = at('.codex', 'config.toml')
    const text = 'model = "x"\r\n[mcp_servers.other]\r\ncommand = "y"'
    write(path, text)
    await stint('setup', 'codex', '--shared')
    expect(read(path)).toContain(text)
    await stint('setup', 'codex', '--remove')
    expect(read(path)).toBe(text)
    for (const theirs of [
      '[mcp_servers.stint]\ncommand = "x"\n',
      '[mcp_servers."stint".env]\n',
      'mcp_servers = { a = {} }\n',
    ]) {
      write(path, theirs)
      expect((await stint('setup', 'codex')).stderr).toContain('nothing was changed')
      expect(read(path)).toBe(theirs)
    }
    expect(await stint('setup', 'codex', '--user')).toMatchObject({ exitCode: 2 })
  })
})

describe('the command that starts the server', () => {
  test('finds Stint by the launcher, and Claude Code passes it on unchanged', async () => {
    // Claude Code substitutes its own environment for these.
    expect(MCP_COMMAND.args.join(' ')).not.toContain('${')
    const { stint, folder, env, cwd, write } = setupWorld()
    await stint('setup', 'codex')
    const fake = join(folder, 'elsewhere')
    write(join(fake, 'hook.cjs'), '')
    write(join(fake, 'stint.js'), 'console.log("started", process.argv.slice(2).join(" "))\n')
    write(
      join(env['STINT_STATE_HOME']!, 'launcher'),
      `${process.execPath}\t${join(fake, 'hook.cjs')}\n`,
    )
    const bare = { PATH: '/usr/bin:/bin', STINT_STATE_HOME: env['STINT_STATE_HOME'] }
    expect(
      execFileSync('sh', MCP_COMMAND.args, { cwd, env: bare, encoding: 'utf8', input: '' }),
    ).toBe('started mcp\n')
  })

  test('starts an empty server where there is no Stint, instead of failing', async () => {
    const { cwd, folder, env } = setupWorld()
    rmSync(env['STINT_STATE_HOME']!, { recursive: true, force: true })
    expect(existsSync(join(cwd, 'node_modules'))).toBe(false)
    const input = [
      '{"jsonrpc":"2.0","id":"server-discover-probe-1","method":"server/discover","params":{"_meta":{}}}',
      '{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}},"jsonrpc":"2.0","id":0}',
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '{"jsonrpc": "2.0", "id": 7, "method": "ping"}',
    ]
    const child = spawn('sh', MCP_COMMAND.args, {
      cwd,
      env: { PATH: '/usr/bin:/bin', HOME: folder },
    })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.stdin.end(`${input.join('\n')}\n`)
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0)
    const answers = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect(answers).toMatchObject([
      { id: 'server-discover-probe-1', error: { code: -32601 } },
      { id: 0, result: { capabilities: {}, serverInfo: { name: 'stint' } } },
      { id: 7, error: { code: -32601 } },
    ])
  })
})
