import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { readLog } from '../../src/journal/read-log.ts'
import { program } from '../support/cli.ts'
import { ClaudeWorld } from './claude-world.ts'
import { CodexWorld } from './codex-world.ts'
import { CLAUDE_VERSIONS, codexProgram } from './install.ts'
import { Terminal, hasTmux } from './terminal.ts'

const ENTRIES = [
  { kind: 'decision', text: 'Use a mutex', rationale: 'simpler than channels' },
  { kind: 'progress', text: 'The race is gone' },
]

test('Claude Code 2.1.325 finds the registered server, whose tool writes to the right session', async () => {
  const world = await ClaudeWorld.create('2.1.325', { mcp: true })
  world.stint('init', '--name', 'fix-auth', '--goal', 'Fix the login')
  const talk = world.talk()
  world.stub.script(
    { tools: [{ name: 'mcp__stint__journal', input: { entries: ENTRIES } }] },
    { text: 'recorded' },
  )
  await talk.say('record it')
  const lastText = world.stub.turns.at(-1)!.text
  expect(lastText).toContain('"session":"fix-auth"')
  expect(lastText).toContain('decision.made')
  expect(talk.messages.findLast(({ subtype }) => subtype === 'init')).toMatchObject({
    mcp_servers: [{ name: 'stint', status: 'connected' }],
  })
  expect(world.ofKind('decision.made')).toEqual([
    { title: 'Use a mutex', rationale: 'simpler than channels' },
  ])
  expect(world.ofKind('progress.made')).toEqual([{ text: 'The race is gone' }])
  world.stub.script(
    { tools: [{ name: 'mcp__stint__view', input: { part: 'decisions', session: 'nobody' } }] },
    { text: 'no' },
  )
  await talk.say('look')
  expect(world.stub.turns.at(-1)!.text).toContain('there is no session "nobody"')
  await talk.end()
})

test('Claude Code shows no failing server to a teammate without Stint', async () => {
  const world = await ClaudeWorld.create('2.1.325', { setup: false })
  world.stint('setup', 'claude', '--shared')
  rmSync(join(world.root, 'bin', 'stint'))
  rmSync(join(world.root, 'home', '.local'), { recursive: true, force: true })
  const talk = world.talk()
  await talk.say('hello')
  const init = talk.messages.find(({ subtype }) => subtype === 'init') as unknown as {
    mcp_servers: readonly { status: string }[]
  }
  expect(init.mcp_servers).toMatchObject([{ name: 'stint', status: 'connected' }])
  await talk.end()
})

test.skipIf(!hasTmux).each(CLAUDE_VERSIONS)(
  'Claude Code %s asks a person about a server that was set up for everybody',
  async (version) => {
    const world = await ClaudeWorld.create(version, { setup: false })
    world.stint('setup', 'claude', '--shared')
    await new Terminal(world).shows(/New MCP server found in .*: stint/)
  },
)

test('Codex 0.166.0 finds the registered server, and its tool writes without asking', async () => {
  const world = await CodexWorld.create()
  world.configure(`[projects."${world.project}"]\ntrust_level = "trusted"\n`)
  const bin = join(world.root, 'bin', 'stint')
  mkdirSync(dirname(bin))
  writeFileSync(bin, `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`)
  chmodSync(bin, 0o755)
  const run = async (command: string, ...args: readonly string[]) => {
    // The model answers from this process, so nothing here may block.
    const child = spawn(command, args, {
      cwd: world.project,
      env: world.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    await new Promise((resolve) => child.once('close', resolve))
    return output
  }
  await run(bin, 'setup', 'codex')
  await run(bin, 'init', '--name', 'fix-auth', '--goal', 'Fix the login')
  world.stub.script(
    { tools: [{ name: 'journal', namespace: 'mcp__stint', input: { entries: ENTRIES } }] },
    { tools: [{ name: 'view', namespace: 'mcp__stint', input: { part: 'decisions' } }] },
    { text: 'recorded' },
  )
  const output = await run(codexProgram(), 'exec', '--json', 'record it')
  const lastTurn = world.stub.turns.at(-1)!
  expect(`${output}\n${lastTurn.text}`).toContain('decision.made')
  expect(lastTurn.text).toContain('simpler than channels')
  const journal = join(world.project, '.sessions', 'journal')
  expect(existsSync(journal)).toBe(true)
  const entries = readLog(join(journal, readdirSync(journal)[0]!, 'log.jsonl')).records
  expect(entries.filter(({ kind }) => kind === 'progress.made').map(({ data }) => data)).toEqual([
    { text: 'The race is gone' },
  ])
  expect(readFileSync(join(world.project, '.codex', 'config.toml'), 'utf8')).toContain(
    '[mcp_servers.stint]',
  )
})
