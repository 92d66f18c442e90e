import { execFileSync, spawn } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { MCP_COMMAND } from '../../src/harness/mcp-command.ts'
import { setupWorld } from './world.ts'

/** Its own folders in the state home stay, and are empty. */
function beside(files: Readonly<Record<string, string>>) {
  return Object.fromEntries(Object.entries(files).filter(([path, text]) => !(path.startsWith('state') && text === 'folder')))
}

const SERVERS = { mcpServers: { stint: MCP_COMMAND } }

describe('stint setup claude --mcp', () => {
  test('registers the server in .mcp.json, where git does not see it, and undoes exactly that', async () => {
    const { stint, at, read, status, everything } = setupWorld()
    const before = everything()
    const shown = await stint('setup', 'claude', '--mcp', '--dry-run')
    expect(shown.stdout).toContain('+++ .mcp.json')
    expect(everything()).toEqual(before)
    await stint('setup', 'claude', '--mcp')
    expect(JSON.parse(read(at('.mcp.json')))).toEqual(SERVERS)
    expect(status()).toBe('')
    const after = everything()
    // Nor does it go when it is not asked for again.
    for (const flags of [['--mcp'], []]) expect((await stint('setup', 'claude', ...flags)).stdout).toContain('nothing changed')
    expect(everything()).toEqual(after)
    await stint('setup', 'claude', '--remove')
    expect(beside(everything())).toEqual(beside(before))
  })

  test.each([
    ['with servers', '{\n\t"mcpServers": {\n\t\t"other":   {"command": "x"}\n\t},\n\t"more": 1\n}'],
    ['without servers', '{ "more": [1,  2] }\r\n'],
    ['with an empty list', '\uFEFF{"mcpServers":{}}'],
    ['that is empty', ''],
  ])('leaves every other byte of a file %s as it is', async (_name, text) => {
    const { stint, at, read, write } = setupWorld()
    write(at('.mcp.json'), text)
    await stint('setup', 'claude', '--shared', '--mcp')
    const servers = JSON.parse(read(at('.mcp.json')).replace(/^\uFEFF/, '')) as typeof SERVERS
    expect(servers.mcpServers.stint).toEqual(MCP_COMMAND)
    await stint('setup', 'claude', '--shared', '--remove')
    expect(read(at('.mcp.json'))).toBe(text)
  })

  test('says that git sees a file that was there, and leaves a server of this name alone that is not ours', async () => {
    const { stint, at, read, write } = setupWorld()
    write(at('.mcp.json'), '{"mcpServers":{}}')
    expect((await stint('setup', 'claude', '--mcp')).stdout).toContain('git may see')
    const theirs = '{"mcpServers":{"stint":{"command":"theirs"}}}'
    write(at('.mcp.json'), theirs)
    expect((await stint('setup', 'claude', '--mcp')).stdout).toContain('that is not ours')
    await stint('setup', 'claude', '--remove')
    expect(read(at('.mcp.json'))).toBe(theirs)
  })

  test('leaves what the team shares to the team, and refuses what it cannot read', async () => {
    const { stint, at, read, write } = setupWorld()
    await stint('setup', 'claude', '--shared', '--mcp')
    const shared = read(at('.mcp.json'))
    await stint('setup', 'claude', '--mcp')
    await stint('setup', 'claude', '--remove')
    expect(read(at('.mcp.json'))).toBe(shared)
    await stint('setup', 'claude', '--shared', '--remove')
    expect(existsSync(at('.mcp.json'))).toBe(false)
    // And what was one person's before it was the team's.
    for (const flags of [[], ['--shared']]) await stint('setup', 'claude', '--mcp', ...flags)
    await stint('setup', 'claude', '--remove')
    expect(read(at('.mcp.json'))).toBe(shared)
    await stint('setup', 'claude', '--shared', '--remove')
    expect(existsSync(at('.mcp.json'))).toBe(false)
    write(at('.mcp.json'), '{"mcpServers":')
    const refused = await stint('setup', 'claude', '--mcp')
    expect(refused).toMatchObject({ exitCode: 1 })
    expect(refused.stderr).toContain('.mcp.json')
    expect((await stint('setup', 'claude', '--user', '--mcp')).stderr).toContain('claude mcp add --scope user')
  })

  test('puts it into a plugin, and takes it away with that', async () => {
    const { stint, at, read, everything } = setupWorld()
    const before = everything()
    await stint('setup', 'claude', '--plugin', 'market', '--mcp')
    expect(JSON.parse(read(at('market', 'stint', '.mcp.json')))).toEqual(SERVERS)
    expect((await stint('setup', 'claude', '--plugin', 'market')).stdout).toContain('nothing changed')
    await stint('setup', 'claude', '--plugin', 'market', '--remove')
    expect(beside(everything())).toEqual(beside(before))
  })
})

describe('stint setup codex', () => {
  test('registers the server in .codex/config.toml, and undoes exactly that beside a setup of Claude Code', async () => {
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

  test('leaves other settings as they are, and refuses a second table of this name', async () => {
    const { stint, at, read, write } = setupWorld()
    const path = at('.codex', 'config.toml')
    const text = 'model = "x"\r\n[mcp_servers.other]\r\ncommand = "y"'
    write(path, text)
    await stint('setup', 'codex', '--shared')
    expect(read(path)).toContain(text)
    await stint('setup', 'codex', '--remove')
    expect(read(path)).toBe(text)
    for (const theirs of ['[mcp_servers.stint]\ncommand = "x"\n', '[mcp_servers."stint".env]\n', 'mcp_servers = { a = {} }\n']) {
      write(path, theirs)
      expect((await stint('setup', 'codex')).stderr).toContain('nothing was changed')
      expect(read(path)).toBe(theirs)
    }
    expect(await stint('setup', 'codex', '--user')).toMatchObject({ exitCode: 2 })
  })
})

describe('the command that starts the server', () => {
  test('finds Stint by the launcher, and is read by Claude Code as it stands', async () => {
    // Claude Code puts its own environment in the place of these.
    expect(MCP_COMMAND.args.join(' ')).not.toContain('${')
    const { stint, folder, env, cwd, write } = setupWorld()
    await stint('setup', 'codex')
    const fake = join(folder, 'elsewhere')
    write(join(fake, 'hook.cjs'), '')
    write(join(fake, 'stint.js'), 'console.log("started", process.argv.slice(2).join(" "))\n')
    write(join(env['STINT_STATE_HOME']!, 'launcher'), `${process.execPath}\t${join(fake, 'hook.cjs')}\n`)
    const bare = { PATH: '/usr/bin:/bin', STINT_STATE_HOME: env['STINT_STATE_HOME'] }
    expect(execFileSync('sh', MCP_COMMAND.args, { cwd, env: bare, encoding: 'utf8', input: '' })).toBe('started mcp\n')
  })

  test('is a server that can do nothing where there is no Stint, and no broken one', async () => {
    const { cwd, folder, env } = setupWorld()
    rmSync(env['STINT_STATE_HOME']!, { recursive: true, force: true })
    expect(existsSync(join(cwd, 'node_modules'))).toBe(false)
    const input = [
      '{"jsonrpc":"2.0","id":"server-discover-probe-1","method":"server/discover","params":{"_meta":{}}}',
      '{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}},"jsonrpc":"2.0","id":0}',
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '{"jsonrpc": "2.0", "id": 7, "method": "ping"}',
    ]
    const child = spawn('sh', MCP_COMMAND.args, { cwd, env: { PATH: '/usr/bin:/bin', HOME: folder } })
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
