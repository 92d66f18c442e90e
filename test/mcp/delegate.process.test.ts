import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { mintId } from '../../src/journal/ids.ts'
import { BackgroundWorld } from '../delegate/background-world.ts'
import { program } from '../support/cli.ts'
import { INITIALIZE } from './mcp-world.ts'

const HANGS = [{ write: { path: 'begun.txt', text: 'begun\n' } }, { hang: true }]

async function connected(world: BackgroundWorld, env: Readonly<Record<string, string>> = {}) {
  const all = { ...(world.env as Record<string, string>), ...env }
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, 'mcp'],
    cwd: world.cwd,
    env: all,
  })
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return {
    client,
    call: async (args: Record<string, unknown>, signal?: AbortSignal, name = 'delegate') => {
      const result = await client.callTool(
        { name, arguments: args },
        signal === undefined ? {} : { signal },
      )
      return result.structuredContent as Record<string, unknown>
    },
  }
}

/** The exit code of a server whose only client cancels its wait and leaves: a server that still waited would never end. */
async function endsAfterCancelling(world: BackgroundWorld, name: string): Promise<number | null> {
  const child = spawn(process.execPath, [program, 'mcp'], {
    cwd: world.cwd,
    env: world.env,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const send = (message: object) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const calling = (id: number, args: object) =>
    send({ id, method: 'tools/call', params: { name: 'delegate', arguments: args } })
  send(INITIALIZE)
  await lines.next()
  calling(2, { action: 'wait', names: [name], seconds: 3600 })
  calling(3, { action: 'list' })
  expect(JSON.parse((await lines.next()).value as string)).toMatchObject({ id: 3 })
  send({ method: 'notifications/cancelled', params: { requestId: 2, reason: 'enough' } })
  child.stdin.end()
  return ended
}

test('a client shows and waits for a delegate; a cancelled wait returns at once and the delegate continues', async () => {
  const world = new BackgroundWorld()
  await world.inProcess('init', '--name', 'parent', '--goal', 'Delegate')
  const row = await world.begin(
    world.script({}, [HANGS]),
    'Write the tests for the parser',
    '--as',
    'tests',
  )
  await world.untilWritten(row, 'begun.txt')
  const { call, client } = await connected(world)
  expect(await call({ action: 'list' })).toMatchObject({
    delegates: [{ name: row.name, status: 'running' }],
  })
  expect(await call({ action: 'show', names: [row.name] })).toMatchObject({
    delegate: { name: row.name, status: 'running' },
  })
  expect(await call({ action: 'wait', names: [row.name], seconds: 1 })).toMatchObject({
    atWork: [row.name],
  })
  const stop = new AbortController()
  const waiting = call({ action: 'wait', names: [row.name], seconds: 3600 }, stop.signal)
  const refused = expect(waiting).rejects.toThrow()
  // Another call is answered during the wait, and only then the wait is cancelled.
  await call({ action: 'list' })
  stop.abort('enough')
  await refused
  await client.close()
  expect(await endsAfterCancelling(world, row.name)).toBe(0)
  expect((await world.rows())[row.name]).toMatchObject({ status: 'running' })
})

test('a client starts a delegate and waits until it is done', async () => {
  const world = new BackgroundWorld()
  await world.inProcess('init', '--name', 'parent', '--goal', 'Delegate')
  world.write('.sessions/config.yaml', 'run:\n  harness: rehearsal\n')
  const { call } = await connected(world)
  const started = await call({
    action: 'start',
    what: 'Write the tests for the parser',
    as: 'tests',
  })
  const { name } = started['delegate'] as { name: string }
  expect(started).toMatchObject({
    delegate: { what: 'Write the tests for the parser', as: 'tests' },
  })
  const waited = await call({ action: 'wait', names: [name], seconds: 60 })
  expect(waited).toMatchObject({ atWork: [], delegates: [{ name }] })
  expect(world.journalled('delegate.begun')).toHaveLength(1)
})

test('in a run a task is reported but not closed, and delegating is refused', async () => {
  const world = new BackgroundWorld()
  await world.inProcess('init', '--name', 'parent', '--goal', 'Be in a run')
  const { id } = (await world.inProcess('task', 'add', 'Fix the login', '--json')).json<{
    id: string
  }>()
  const run = mintId(undefined)
  mkdirSync(join(world.cwd, '.sessions', 'runs', run), { recursive: true })
  const tasks = [{ id, name: 'fix-the-login', title: 'Fix the login' }]
  writeFileSync(
    join(world.cwd, '.sessions', 'runs', run, 'tasks.json'),
    JSON.stringify({ current: id, tasks }),
  )
  const { call } = await connected(world, { STINT_RUN: run, STINT_SESSION: 'parent' })
  expect(await call({ action: 'start', what: 'Write the tests' })).toMatchObject({
    error: { code: 'IN_RUN' },
  })
  const reported = await call(
    { action: 'done', task: 'fix-the-login', summary: 'A mutex' },
    undefined,
    'task',
  )
  expect(reported).toMatchObject({ reported: 'fix-the-login', status: 'completed' })
  expect(world.journalled('task.reported')).toMatchObject([
    { task: id, status: 'completed', run, summary: 'A mutex' },
  ])
  expect((await world.inProcess('task', 'show', 'fix-the-login', '--json')).json()).toMatchObject({
    status: 'ready',
  })
})
