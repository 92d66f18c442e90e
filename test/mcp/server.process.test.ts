import { spawnSync } from 'node:child_process'
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { estimateTokens } from '../../src/text/tokens.ts'
import { program } from '../support/cli.ts'
import { git, initRepository } from '../support/scratch.ts'
import { INITIALIZE, McpWorld } from './mcp-world.ts'

type Connected = Awaited<ReturnType<McpWorld['connect']>>

describe('stint mcp', () => {
  let world: McpWorld
  let session: string
  let at: Connected

  beforeAll(async () => {
    world = new McpWorld()
    session = await world.library(async (project) => {
      const { reading } = await project.init({ name: 'fix-auth', goal: 'Fix the login' })
      await project.tasks.add({
        title: 'Fix the sweep trigger',
        checklist: [{ item: 'unit', done: false }],
      })
      await project.tasks.add({ title: 'Write the docs', dependsOn: ['fix-the-sweep-trigger'] })
      return reading.state.id
    })
    at = await world.connect()
  })
  afterAll(async () => {
    await world.remove()
  })

  test('journals several entries in one call, as stint log does', async () => {
    const { value, isError } = await at.call('journal', {
      entries: [
        { kind: 'step', text: 'Write a test' },
        { kind: 'progress', text: 'Found the race' },
        {
          kind: 'decision',
          text: 'Use a mutex',
          context: 'Two sweepers',
          options: 'mutex or channel',
          choice: 'mutex',
          rationale: 'simpler',
        },
        { kind: 'discovery', text: 'The lock order is watcher first' },
        { kind: 'blocker', text: 'Waiting for the API docs' },
        { kind: 'resolved', text: 'API docs', resolution: 'They came' },
        { kind: 'next', text: 'Add a race test' },
        { kind: 'key', text: 'Never lock twice' },
        { kind: 'file', text: 'src/auth.ts', description: 'The login' },
        { kind: 'done', text: 'Write a test' },
      ],
    })
    expect(isError).toBeUndefined()
    expect(value).toMatchObject({ session: 'fix-auth', steps: '1/1' })
    expect(world.journalled(session, 'progress.made')).toEqual([
      { text: 'Found the race', by: 'mcp' },
    ])
    expect(world.journalled(session, 'decision.made')).toEqual([
      {
        title: 'Use a mutex',
        context: 'Two sweepers',
        options: 'mutex or channel',
        choice: 'mutex',
        rationale: 'simpler',
        by: 'mcp',
      },
    ])
    expect(world.journalled(session, 'blocker.resolved')).toMatchObject([
      { resolution: 'They came' },
    ])
    expect(world.journalled(session, 'file.noted')).toMatchObject([
      { path: 'src/auth.ts', description: 'The login' },
    ])
  })

  test('retracts entries, and redacts secrets from the journal with a note', async () => {
    const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'
    const { value, text } = await at.call('journal', {
      entries: [{ kind: 'note', text: `the token is ${secret}` }],
    })
    expect(text).toContain('redacted')
    expect(JSON.stringify(world.journalled(session, 'note.added'))).not.toContain(secret)
    const { recorded } = value as unknown as { recorded: { id: string }[] }
    await at.call('journal', { retract: [recorded[0]!.id] })
    expect(world.journalled(session, 'entry.retracted')).toHaveLength(1)
  })

  test('returns no secret, even one configured later', async () => {
    await at.call('journal', { entries: [{ kind: 'note', text: 'the word is swordfish42' }] })
    const configuration = join(world.cwd, '.sessions', 'config.yaml')
    writeFileSync(configuration, 'redact:\n  patterns: ["swordfish[0-9]+"]\n')
    const { value, text } = await at.call('view', { part: 'entries', tokens: 8000 })
    rmSync(configuration)
    expect(text).toContain('the word is')
    expect(text + JSON.stringify(value)).not.toContain('swordfish42')
  })

  test('shows a session, parts of it and the list of sessions', async () => {
    const overview = await at.call('view')
    expect(overview.value['text']).toContain('Use a mutex')
    const { value } = await at.call('view', { part: 'decisions', session: 'fix-auth' })
    expect(value).toMatchObject({
      session: { id: session, name: 'fix-auth' },
      decisions: [{ text: 'Use a mutex', rationale: 'simpler' }],
    })
    for (const part of ['progress', 'discoveries', 'blockers', 'next', 'entries', 'activity']) {
      expect((await at.call('view', { part })).value).toHaveProperty(part)
    }
    expect((await at.call('view', { part: 'sessions' })).value).toMatchObject({
      sessions: [{ id: session, name: 'fix-auth' }],
    })
  })

  test('searches recorded entries', async () => {
    const { value } = await at.call('search', {
      query: 'mutex',
      kind: 'decision',
      session: 'fix-auth',
    })
    expect(value).toMatchObject({ hits: [{ session: 'fix-auth', kind: 'decision.made' }] })
    expect((await at.call('search', { query: 'nothingofthesort' })).value).toEqual({ hits: [] })
  })

  test('saves a checkpoint with the code', async () => {
    writeFileSync(join(world.cwd, 'loose.txt'), 'not committed\n')
    const { value } = await at.call('checkpoint', { note: 'Before the refactor' })
    expect(value).toMatchObject({
      session: 'fix-auth',
      note: 'Before the refactor',
      code: expect.stringMatching(/^[0-9a-f]{7}$/),
    })
    expect(world.journalled(session, 'checkpoint.made')).toMatchObject([
      { note: 'Before the refactor', by: 'mcp' },
    ])
  })

  test('creates, shows and accepts a handoff, and refuses a stale one', async () => {
    const made = await at.call('handoff', {
      action: 'create',
      reason: 'The context is nearly full',
    })
    expect(made.value).toMatchObject({ handoff: 'fix-auth/1' })
    const shown = await at.call('handoff', { action: 'show' })
    expect(shown.value['document']).toContain('Fix the login')
    const taken = await at.call('handoff', { action: 'accept', handoff: 'fix-auth/1' })
    expect(taken.value).toMatchObject({
      outcome: 'loaded',
      isTakenUp: true,
      boundSession: 'fix-auth',
    })
    await at.call('journal', { entries: [{ kind: 'progress', text: 'Something happened since' }] })
    const stale = await at.call('handoff', { action: 'accept', handoff: 'fix-auth/1' })
    expect(stale.value).toMatchObject({ outcome: 'stale', isTakenUp: false })
    expect(stale.value).not.toHaveProperty('document')
  })

  test('lists tasks, picks the next, ticks an item and closes one', async () => {
    expect((await at.call('task', { action: 'list' })).value).toMatchObject({
      tasks: [{ name: 'fix-the-sweep-trigger' }, { name: 'write-the-docs' }],
    })
    expect((await at.call('task', { action: 'next' })).value).toMatchObject({
      task: { name: 'fix-the-sweep-trigger' },
    })
    const ticked = await at.call('task', {
      action: 'check',
      task: 'fix-the-sweep-trigger',
      item: '1',
    })
    expect(ticked.value).toMatchObject({ task: { checklist: [{ item: 'unit', done: true }] } })
    const done = await at.call('task', {
      action: 'done',
      task: 'fix-the-sweep-trigger',
      summary: 'A mutex',
    })
    expect(done.value).toMatchObject({ task: { status: 'completed', summary: 'A mutex' } })
    expect((await at.call('task', { action: 'next' })).value).toMatchObject({
      task: { name: 'write-the-docs' },
    })
  })

  test('returns errors with hints as results, without crashing', async () => {
    const missing = await at.call('view', { session: 'no-such-session' })
    expect(missing).toMatchObject({ isError: true, value: { error: { code: 'NO_SESSION' } } })
    expect(missing.text).toContain('stint list shows the sessions')
    const wrong = await at.call('journal', {
      entries: [{ kind: 'progress', text: 'x', rationale: 'y' }],
    })
    expect(wrong).toMatchObject({
      isError: true,
      value: { error: { code: 'BAD_ARGUMENTS', hint: 'rationale belongs to decision' } },
    })
    expect(await at.call('journal', {})).toMatchObject({
      isError: true,
      value: { error: { code: 'BAD_ARGUMENTS' } },
    })
    expect(await at.call('handoff', { action: 'show', force: true })).toMatchObject({
      isError: true,
    })
    expect(await at.call('task', { action: 'done' })).toMatchObject({ isError: true })
    expect(await at.call('delegate', { action: 'start' })).toMatchObject({ isError: true })
    await expect(at.call('nonsense')).rejects.toThrow(
      /there is no tool "nonsense"; there are journal, view/,
    )
    // The server still works.
    expect((await at.call('view')).isError).toBeUndefined()
  })

  test('serves documents, the session list and handoffs as resources', async () => {
    const { resources } = await at.client.listResources()
    expect(resources.map(({ uri }) => uri)).toEqual([
      'stint://sessions',
      `stint://session/${session}`,
      `stint://handoff/${session}/1`,
    ])
    const read = async (uri: string) =>
      ((await at.client.readResource({ uri })).contents[0] as { text: string }).text
    expect(await read(`stint://session/${session}`)).toContain('## Decisions')
    expect(await read(`stint://handoff/${session}/1`)).toContain('Fix the login')
    expect(JSON.parse(await read('stint://sessions'))).toMatchObject([{ id: session }])
    expect((await at.client.listResourceTemplates()).resourceTemplates).toHaveLength(2)
    for (const uri of [
      'stint://session/nobody',
      'stint://handoff/fix-auth/99',
      'stint://secrets/../x',
      'file:///etc/passwd',
    ]) {
      await expect(read(uri)).rejects.toThrow()
    }
  })

  test('serves the slash commands as prompts', async () => {
    const { prompts } = await at.client.listPrompts()
    const names = prompts.map(({ name }) => name)
    expect(names).toEqual(
      expect.arrayContaining([
        'session-init',
        'session-resume',
        'session-log',
        'session-checkpoint',
      ]),
    )
    expect(names).toEqual(expect.arrayContaining(['session-view', 'session-close', 'task-next']))
    const { messages } = await at.client.getPrompt({
      name: 'session-log',
      arguments: { arguments: '--progress "It works"' },
    })
    expect(JSON.stringify(messages)).toContain('stint log --progress')
    await expect(at.client.getPrompt({ name: 'nonsense' })).rejects.toThrow(
      /there are session-init/,
    )
  })

  test('serves a client of the newest protocol as well', async () => {
    const { call, client } = await world.connect({ mode: 'auto' })
    expect(client.getNegotiatedProtocolVersion()).toBe('2026-07-28')
    expect((await call('view', { part: 'decisions' })).value).toMatchObject({
      session: { name: 'fix-auth' },
    })
    await client.close()
  })

  test("works in the client's open folder, or in the configured one", async () => {
    const other = join(world.folder, 'other')
    initRepository(other)
    await world.library(
      (project) => project.init({ name: 'elsewhere', goal: 'Be elsewhere' }),
      other,
    )
    const withRoots = await world.connect({
      roots: ['file:///no/such/folder', pathToFileURL(other).href],
    })
    expect((await withRoots.call('view', { part: 'next' })).value).toMatchObject({
      session: { name: 'elsewhere' },
    })
    // Started inside an open folder: it works there and not at the top.
    const inside = await world.connect({ roots: [pathToFileURL(world.folder).href] })
    expect((await inside.call('view', { part: 'next' })).value).toMatchObject({
      session: { name: 'fix-auth' },
    })
    const withProject = await world.connect({
      args: ['--project', '../other'],
      roots: [pathToFileURL(world.cwd).href],
    })
    expect((await withProject.call('view', { part: 'next' })).value).toMatchObject({
      session: { name: 'elsewhere' },
    })
    for (const { client } of [withRoots, inside, withProject]) await client.close()
  })

  test('follows the conversation that starts it', async () => {
    // Two sessions are active on one branch: only the conversation tells which is meant.
    const bound = await world.library(async (project) => {
      git(world.cwd, 'switch', '-qc', 'other')
      const { reading } = await project.init({ name: 'bound', goal: 'Be bound' })
      git(world.cwd, 'switch', '-q', 'main')
      return reading.state.id
    })
    const notes = join(world.cwd, '.git', 'stint', 'conversations')
    mkdirSync(notes, { recursive: true })
    const conversation = '11111111-2222-4333-8444-555555555555'
    writeFileSync(
      join(notes, `${conversation}.json`),
      JSON.stringify({ harness: 'claude', conversation, session: bound }),
    )
    const { call, client } = await world.connect({ env: { CLAUDE_CODE_SESSION_ID: conversation } })
    await call('journal', { entries: [{ kind: 'progress', text: 'From the conversation' }] })
    expect(world.journalled(bound, 'progress.made')).toEqual([
      { text: 'From the conversation', by: 'mcp' },
    ])
    await client.close()
  })

  test('limits the size of long results', async () => {
    const entries = Array.from({ length: 60 }, (_, index) => ({
      kind: 'discovery',
      text: `${index} ${'very long text '.repeat(200)}`,
    }))
    await at.call('journal', { entries, session: 'fix-auth' })
    const { value } = await at.call('view', { part: 'discoveries', session: 'fix-auth' })
    expect(estimateTokens(JSON.stringify(value))).toBeLessThan(2400)
    expect(value['earlier']).toBeGreaterThan(50)
    const overview = await at.call('view', { tokens: 1_000_000, session: 'fix-auth' })
    expect(estimateTokens(overview.text)).toBeLessThan(8100)
    const { contents } = await at.client.readResource({ uri: `stint://session/${session}` })
    expect((contents[0] as { text: string }).text.length).toBeLessThan(101_000)
  })
})

describe('its standard output', () => {
  let world: McpWorld
  beforeAll(() => {
    world = new McpWorld()
  })
  afterAll(() => world.remove())

  test('carries only the protocol for any input, even if a module prints', async () => {
    const noisy = join(world.folder, 'noisy.mjs')
    writeFileSync(
      noisy,
      `process.on('SIGUSR2', () => { console.log('a library prints'); process.stdout.write('and writes\\n') })\n`,
    )
    const bare = world.startProgram({ NODE_OPTIONS: `--import ${noisy}` })
    bare.send(INITIALIZE)
    await bare.until(() => bare.lines.length === 1)
    bare.child.kill('SIGUSR2')
    await bare.until(() => (bare.errors() + bare.lines.join('\n')).includes('and writes'))
    bare.send('this is no JSON\n{"half": \n[]\n"text"\n\u0000\u0001\n{"jsonrpc":"2.0","id":7}\n')
    bare.send({ jsonrpc: '2.0', id: 2, method: 'no/such/method' })
    bare.send({
      jsonrpc: '2.0',
      id: 3,
      method: 'tools/call',
      params: { name: 'view', arguments: {} },
    })
    bare.send({ jsonrpc: '2.0', id: 4, method: 'tools/list' })
    await bare.until(
      () =>
        bare.lines.some((line) => line.includes('"id":3')) &&
        bare.lines.some((line) => line.includes('"id":4')),
    )
    const messages = bare.lines.map(
      (line) => JSON.parse(line) as { jsonrpc: string; id: number; result?: { isError?: boolean } },
    )
    expect(messages.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true)
    expect(messages.find(({ id }) => id === 3)?.result?.isError).toBe(true)
    expect(bare.errors()).toContain('a library prints')
    bare.child.stdin.end()
    expect(await bare.ended).toBe(0)
  })

  test('ends with its input, and reports a missing folder', async () => {
    const bare = world.startProgram()
    bare.child.stdin.end()
    expect(await bare.ended).toBe(0)
    expect(bare.lines).toEqual([])
    expect(() => world.stint('mcp', '--project', 'no-such-folder')).toThrow(/is not a folder/)
  })

  /** Root can read everything, so this runs as another user. */
  const somebody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const startedIn = (spoil: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'stint-mcp-'))
    if (somebody.uid !== undefined) chownSync(folder, somebody.uid, somebody.gid)
    const script = `cd "$1" && ${spoil} "$1" && exec "$2" "$3" mcp`
    try {
      return spawnSync('sh', ['-c', script, 'sh', folder, process.execPath, program], {
        encoding: 'utf8',
        ...somebody,
      })
    } finally {
      if (existsSync(folder)) rmdirSync(folder)
    }
  }
  const canTry =
    spawnSync(process.execPath, [program, '--version'], { cwd: '/', ...somebody }).status === 0

  test.runIf(canTry).each([
    ['no longer exists', 'rmdir'],
    ['cannot be read', 'chmod 0'],
  ])('is empty when its folder %s, which stderr reports in one line', (reason, spoil) => {
    const ran = startedIn(spoil)
    expect(ran).toMatchObject({ status: 1, stdout: '' })
    expect(ran.stderr).toMatch(
      new RegExp(`^stint: the folder that this was started in ${reason}; .*\n$`),
    )
  })
})
